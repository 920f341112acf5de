import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type MailServer, startMailServer } from '../support/mail.ts';
import { addApi, addPlan, addProduct, requestPortal } from '../support/portal.ts';
import { testPortalAdmin } from '../support/portal-admin.ts';
import { addSiteDeveloper, type Developer, signInBySite, sitePassword } from '../support/portal-site.ts';
import { waitUntilApplied } from '../support/traffic.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

describe('Flows of accounts and access, with mails', () => {
  const settings: Record<string, string> = { 'portal.registration': 'approval', 'portal.indexing': 'true' };
  let mails: MailServer;
  let upstream: Upstream;
  let admin: Developer;
  // Before the hook that starts the product with these settings.
  before(async () => {
    [mails, upstream] = await Promise.all([
      startMailServer({ user: 'portal', password: 'mail-secret-1' }),
      startUpstream(),
    ]);
    Object.assign(settings, {
      'mail.smtp_url': mails.url,
      'mail.from': 'portal@example.org',
      'mail.require_tls': 'false',
      'portal.admin_mail': 'admins@example.org',
    });
  });
  const portal = testPortalAdmin({ settings });
  before(async () => {
    admin = await portal.anAdmin();
  });
  after(async () => {
    await mails?.close();
    await upstream?.close();
  });

  const takeMail = async (address: string, subject: RegExp) => {
    for (;;) {
      const mail = await mails.take();
      if (mail.to.includes(address) && subject.test(mail.text)) return mail.text.replaceAll('=\r\n', '');
    }
  };
  /** Path and query of a link in a mail: its origin is that of `portal.url`. */
  const linkOf = (text: string, path: string) => {
    const [link] = new RegExp(`https?://[^\\s"<>]*${path}[^\\s"<>]*`).exec(text) ?? [];
    const { pathname, search } = new URL(link!.replaceAll('=3D', '=').replaceAll('&amp;', '&'));
    return pathname + search;
  };

  async function offer(name: string, plan: Record<string, unknown> = {}) {
    const app = portal.app();
    const proxy = { listen_path: `/${name}/`, target_url: upstream.url };
    const APIID = await addApi(app, name, { proxy });
    const product = await addProduct(app, { DisplayName: name, APIDetails: [{ APIID }], Catalogues: [1] });
    await addPlan(app, { DisplayName: `${name} plan`, Catalogues: [1], ...plan });
    return { url: `/portal/catalogue-products/${product.Path}` };
  }
  const call = async (name: string, key: string) => {
    await waitUntilApplied(portal.app());
    return (await fetch(`${portal.app().url.gateway}/${name}/`, { headers: { authorization: key } })).status;
  };

  test('an anonymous visitor sees public products only, by page, search and sitemap', async () => {
    const open = await offer('open');
    const hidden = await addProduct(portal.app(), { DisplayName: 'Hidden thing', Catalogues: [2] });
    const page = await portal.open('/search?q=hidden');
    assert.doesNotMatch(await page.locator('main').innerText(), /Hidden thing/);
    const status = async (path: string) => (await fetch(portal.app().url.portal + path)).status;
    assert.equal(await status(open.url), 200);
    assert.equal(await status(`/portal/catalogue-products/${hidden.Path}`), 404);
    const sitemap = await (await fetch(`${portal.app().url.portal}/sitemap.xml`)).text();
    assert.ok(sitemap.includes(open.url));
    assert.ok(!sitemap.includes(hidden.Path));
  });

  test('sign-up with verification and approval: the user is back at the plan chosen before', async () => {
    const { url } = await offer('welcome');
    const address = 'dana@example.org';
    const page = await portal.open(url);
    const plan = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'welcome plan' }) });
    await plan.getByRole('link', { name: 'Access with this plan' }).click();
    await page.locator('form').getByRole('link', { name: 'Sign up' }).click();
    await page.getByLabel('E-mail address').fill(address);
    await page.getByLabel('First name').fill('Dana');
    await page.getByLabel('Last name').fill('Scully');
    await page.getByLabel('Password', { exact: true }).fill(sitePassword);
    await page.getByLabel('Password again').fill(sitePassword);
    await page.getByRole('button', { name: 'Sign up' }).click();
    await page.getByRole('heading', { name: 'Check your mail' }).waitFor();
    const verification = linkOf(await takeMail(address, /Confirm/), '/auth/verify');
    await page.goto(portal.app().url.portal + verification);
    await page.getByLabel('Password', { exact: true }).fill(sitePassword);
    await page.getByRole('button', { name: 'Confirm address' }).click();
    await page.getByRole('heading', { name: 'Your account waits for approval' }).waitFor();
    await takeMail('admins@example.org', /dana@example\.org/);
    const users = await requestPortal(portal.app(), 'GET', '/portal-api/users?per_page=1000');
    const { ID } = users.find((it: { Email: string }) => it.Email === address);
    const console = await portal.openAs(admin, `/admin/users/${ID}`);
    await console.getByRole('switch', { name: 'Active' }).check();
    await console.getByRole('button', { name: 'Save user' }).click();
    await console.getByText(`${address} was saved`).waitFor();
    await takeMail(address, /active/);
    await page.locator('.notice').getByRole('link', { name: 'Sign in' }).click();
    await signInBySite(page, { Email: address, Password: sitePassword });
    await page.getByRole('heading', { level: 1, name: 'Request access' }).waitFor();
    await page.getByText('welcome plan').first().waitFor();
  });

  test('manual access: a rejection shows its reason in page and mail; asked again and approved, the key works', async () => {
    const { url } = await offer('manual');
    const developer = await addSiteDeveloper(portal.app());
    const page = await portal.openAs(developer, url);
    const request = async (appName?: string) => {
      await page.goto(portal.app().url.portal + url);
      const plan = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'manual plan' }) });
      await plan.getByRole('link', { name: 'Access with this plan' }).click();
      if (appName) await page.getByLabel('Name of the app').fill(appName);
      await page
        .getByRole('button', { name: /access/i })
        .last()
        .click();
      await page.getByText('Waits for approval').waitFor();
    };
    await request('Shop');
    await page.getByRole('status').getByText('The request was sent').waitFor();
    const app = page.url();
    const console = await portal.openAs(admin, '/admin/access_requests');
    await console.getByRole('link', { name: /^Shop/ }).click();
    await console.getByRole('button', { name: 'Reject request' }).click();
    await console.getByLabel('Reason').fill('Tell us what you build');
    await console.getByRole('button', { name: 'Reject 1 request' }).click();
    await console.getByText('1 request was rejected').waitFor();
    assert.match(await takeMail(developer.Email, /not granted/), /Tell us what you build/);
    await page.goto(app);
    await page.getByText('Tell us what you build').waitFor();
    await request();
    await console.goto(`${portal.app().url.portal}/admin/access_requests`);
    await console.getByRole('link', { name: /^Shop/ }).click();
    await console.getByRole('button', { name: 'Approve request' }).click();
    await console.getByText('1 request was approved').waitFor();
    await takeMail(developer.Email, /Access granted/);
    await page.reload();
    await page.getByRole('button', { name: 'Show key once' }).click();
    const key = await page.locator('.secret > code').innerText();
    assert.equal(await call('manual', key), 200);
    assert.equal(await call('manual', 'wrong'), 403);
  });

  test('rotation with overlap: both keys work until the developer ends the old one on the page', async () => {
    const { url } = await offer('rotated', { AutoApproveAccessRequests: true });
    const page = await portal.openAs(await addSiteDeveloper(portal.app()), url);
    const plan = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'rotated plan' }) });
    await plan.getByRole('link', { name: 'Access with this plan' }).click();
    await page.getByLabel('Name of the app').fill('Till');
    await page.getByRole('button', { name: 'Get access' }).click();
    const old = await page.locator('.secret > code').innerText();
    await page.locator('summary', { hasText: 'Rotate key' }).click();
    await page.getByLabel('Old key ends').selectOption('in an hour');
    await page.getByRole('button', { name: 'Rotate key' }).click();
    await page.getByText(/The key was rotated: the old one is accepted until/).waitFor();
    const fresh = await page.locator('.secret > code').innerText();
    await page.reload();
    assert.equal(await page.locator('.secret').count(), 0);
    assert.deepEqual([await call('rotated', old), await call('rotated', fresh)], [200, 200]);
    await page.getByRole('button', { name: 'End old key now' }).click();
    await page.getByText(/Old key valid until/).waitFor({ state: 'hidden' });
    assert.deepEqual([await call('rotated', old), await call('rotated', fresh)], [403, 200]);
  });

  test('on the page of an app a developer changes the plan, renews the key, revokes it and deletes the app', async () => {
    const { url } = await offer('kept', { AutoApproveAccessRequests: true, KeyExpiresIn: 3600 });
    await addPlan(portal.app(), { DisplayName: 'kept gold', Catalogues: [1], AutoApproveAccessRequests: true });
    const page = await portal.openAs(await addSiteDeveloper(portal.app()), url);
    const plan = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'kept plan' }) });
    await plan.getByRole('link', { name: 'Access with this plan' }).click();
    await page.getByLabel('Name of the app').fill('Kiosk');
    await page.getByRole('button', { name: 'Get access' }).click();
    const key = await page.locator('.secret > code').innerText();
    assert.equal(await call('kept', key), 200);
    await page.goto(portal.app().url.portal + url);
    await page.getByRole('link', { name: 'My access' }).click();
    await page.getByText('Expires in 1 day').waitFor();
    await page.getByRole('link', { name: 'Kiosk' }).click();
    await page.getByRole('link', { name: 'Renew' }).click();
    await page.getByRole('heading', { level: 1, name: 'Request access' }).waitFor();
    await page.getByRole('button', { name: 'Get access' }).click();
    const renewed = await page.locator('.secret > code').innerText();
    assert.deepEqual([await call('kept', key), await call('kept', renewed)], [200, 200]);
    const card = page.getByRole('article').filter({ hasText: renewed });
    const option = card.getByRole('option', { name: /^kept gold:/ });
    await card.getByRole('combobox', { name: 'to', exact: true }).selectOption((await option.getAttribute('value'))!);
    await card.getByRole('button', { name: 'Change plan' }).click();
    const changed = page.getByRole('article').filter({ hasText: 'kept gold: No rate limit, no quota' });
    await changed.getByText('Revoke', { exact: true }).click();
    assert.equal(await call('kept', renewed), 200, 'the key stays');
    await changed.getByRole('button', { name: 'Revoke key' }).click();
    await page.getByText('The credential was revoked').waitFor();
    assert.deepEqual([await call('kept', key), await call('kept', renewed)], [200, 403]);
    await page.getByRole('link', { name: 'Delete app' }).click();
    await page.getByLabel('Type “Kiosk” to confirm').fill('Kiosk');
    await page.getByRole('button', { name: 'Delete app' }).click();
    await page.getByRole('heading', { level: 1, name: 'My apps' }).waitFor();
    assert.equal(await page.getByText('Kiosk').count(), 0);
    assert.equal(await call('kept', key), 403);
  });
});
