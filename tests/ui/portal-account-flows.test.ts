import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { type MailServer, startMailServer } from '../support/mail.ts';
import { addApi, addPlan, addProduct, requestPortal, toFileForm } from '../support/portal.ts';
import { testPortalAdmin } from '../support/portal-admin.ts';
import { addSiteDeveloper, type Developer, signInBySite, sitePassword } from '../support/portal-site.ts';
import { waitUntilApplied } from '../support/traffic.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const reference = {
  openapi: '3.0.3',
  info: { title: 'Items', version: '1' },
  paths: { '/items': { get: { operationId: 'readItems', responses: {} } } },
};

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
    return { url: `/portal/catalogue-products/${product.Path}`, productId: product.ID as number, APIID };
  }
  async function choosePlan(page: Page, name: string) {
    const plan = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name, exact: true }) });
    await plan.getByRole('link', { name: 'Access with this plan' }).click();
  }
  const startAccess = async (page: Page, plan: string, appName: string) => {
    await choosePlan(page, plan);
    await page.getByLabel('Name of the app').fill(appName);
    await page.getByRole('button', { name: 'Get access' }).click();
    return page.locator('.secret > code').innerText();
  };
  /** Changes the plan of the only credential on the page of an app. */
  async function choosePlanChange(page: Page, name: string) {
    const option = page.getByRole('option', { name: new RegExp(`^${name}:`) });
    await page.getByRole('combobox', { name: 'to', exact: true }).selectOption((await option.getAttribute('value'))!);
    await page.getByRole('button', { name: 'Change plan' }).click();
  }
  /** Status of a call; an empty key is not sent. */
  const call = async (name: string, key: string) => {
    await waitUntilApplied(portal.app());
    const headers = key === '' ? {} : { authorization: key };
    return (await fetch(`${portal.app().url.gateway}/${name}/`, { headers })).status;
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
    await choosePlan(page, 'welcome plan');
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
    await choosePlan(page, 'manual plan');
    await page.getByLabel('Name of the app').fill('Shop');
    await page.getByRole('button', { name: 'Request access' }).click();
    await page.getByText('Waits for approval').waitFor();
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
    await page.getByRole('link', { name: 'Ask again' }).click();
    await page.getByRole('button', { name: 'Request access' }).click();
    await page.getByText('Waits for approval').waitFor();
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
    const old = await startAccess(page, 'rotated plan', 'Till');
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
    const key = await startAccess(page, 'kept plan', 'Kiosk');
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

  test('a request that its developer cancels while it is pending is gone for both sides', async () => {
    const { url } = await offer('cancelled');
    const page = await portal.openAs(await addSiteDeveloper(portal.app()), url);
    await choosePlan(page, 'cancelled plan');
    await page.getByLabel('Name of the app').fill('Desk');
    await page.getByRole('button', { name: 'Request access' }).click();
    const console = await portal.openAs(admin, '/admin/access_requests');
    await console.getByRole('link', { name: /^Desk/ }).waitFor();
    await page.getByRole('button', { name: 'Cancel request' }).click();
    await page.getByText('No access yet. Choose a product').waitFor();
    assert.equal(await page.getByText('Waits for approval').count(), 0);
    await console.reload();
    const nothing = console.getByRole('heading', { name: 'No request waits for a decision' });
    await nothing.or(console.getByRole('table')).first().waitFor();
    assert.equal(await console.getByRole('link', { name: /^Desk/ }).count(), 0);
    await page.goto(`${portal.app().url.portal}${url}/my-access`);
    await page.getByText('Your apps have no access to this product').waitFor();
  });

  test('calls get 401 without a key, 403 with a wrong one, 429 over the rate, 403 over the quota, as Try explains', async () => {
    const { url, productId, APIID } = await offer('limited', {
      ...{ AutoApproveAccessRequests: true, RateLimit: 2, Per: 3600 },
    });
    const capped = { Quota: 2, QuotaRenewalRate: 86_400, AutoApproveAccessRequests: true };
    await addPlan(portal.app(), { DisplayName: 'limited by quota', Catalogues: [1], ...capped });
    const body = toFileForm(JSON.stringify(reference));
    await portal.app().ask('POST', `/portal-api/products/${productId}/api-details/${APIID}/oas`, { body });
    const page = await portal.openAs(await addSiteDeveloper(portal.app()), url);
    const key = await startAccess(page, 'limited plan', 'Meter');
    const app = await page.getByRole('link', { name: 'Edit app' }).getAttribute('href');
    const explain = async (text: RegExp) => {
      await page.goto(`${portal.app().url.portal}${url}/${APIID}/docs/readitems`);
      await page.getByRole('button', { name: 'Send request' }).click();
      await page.getByText(text).waitFor();
    };
    assert.deepEqual([await call('limited', ''), await call('limited', 'wrong')], [401, 403]);
    assert.deepEqual([await call('limited', key), await call('limited', key)], [200, 200]);
    assert.equal(await call('limited', key), 429);
    await explain(/The rate limit is reached: 2 calls an hour/);
    await page.goto(portal.app().url.portal + app!.replace('/edit', ''));
    await choosePlanChange(page, 'limited by quota');
    await page.getByText('limited by quota: No rate limit, 2 calls a day').waitFor();
    assert.deepEqual(
      [await call('limited', key), await call('limited', key), await call('limited', key)],
      [200, 200, 403],
    );
    await explain(/The quota of 2 calls is used up\. It renews .* UTC/);
    await page.goto(portal.app().url.portal + app!.replace('/edit', ''));
    await page.getByText(/0 of 2 calls left, renews/).waitFor();
  });

  test('a plan change waits: the old plan is in force, a rejection keeps it, an approval keeps the key', async () => {
    const { url } = await offer('waiting', { AutoApproveAccessRequests: true });
    await addPlan(portal.app(), { Name: 'waiting slow', Catalogues: [1], RateLimit: 1, Per: 3600 });
    const developer = await addSiteDeveloper(portal.app());
    const page = await portal.openAs(developer, url);
    const key = await startAccess(page, 'waiting plan', 'Clock');
    const console = await portal.openAs(admin, '/admin/access_requests');
    const openRequest = async () => {
      await console.goto(`${portal.app().url.portal}/admin/access_requests`);
      await console.getByRole('link', { name: /^Clock/ }).click();
    };
    const pending = page.getByText('Change to waiting slow pending');
    await choosePlanChange(page, 'waiting slow');
    await pending.waitFor();
    assert.equal(await page.getByRole('button', { name: 'Change plan' }).count(), 0, 'one at a time');
    assert.deepEqual([await call('waiting', key), await call('waiting', key)], [200, 200]);
    await takeMail('admins@example.org', /Clock/);
    await openRequest();
    await console.getByRole('button', { name: 'Reject request' }).click();
    await console.getByLabel('Reason').fill('Slow is for partners');
    await console.getByRole('button', { name: 'Reject 1 request' }).click();
    await console.getByText('1 request was rejected').waitFor();
    assert.match(await takeMail(developer.Email, /not granted/), /Slow is for partners/);
    await page.reload();
    await page.getByText('Slow is for partners').waitFor();
    assert.equal(await pending.count(), 0);
    await page.getByText('waiting plan: No rate limit, no quota').waitFor();
    assert.equal(await call('waiting', key), 200);

    await choosePlanChange(page, 'waiting slow');
    await pending.waitFor();
    await openRequest();
    await console.getByRole('button', { name: 'Approve request' }).click();
    await console.getByText('1 request was approved').waitFor();
    await console.getByRole('link', { name: 'waiting slow', exact: true }).waitFor();
    assert.match(await takeMail(developer.Email, /Plan of Clock is now waiting slow/), /instead of waiting plan/);
    await page.reload();
    await page.getByRole('article').getByText('waiting slow: 1 call an hour, no quota').waitFor();
    assert.equal(await pending.count(), 0);
    assert.deepEqual([await call('waiting', key), await call('waiting', key)], [200, 429]);
  });

  test('a withdrawn product takes no requests and its key works, also of a deactivated user; a deleted one ends', async () => {
    const { url, productId, APIID } = await offer('withdrawn', { AutoApproveAccessRequests: true });
    const body = toFileForm(JSON.stringify(reference));
    await portal.app().ask('POST', `/portal-api/products/${productId}/api-details/${APIID}/oas`, { body });
    const developer = await addSiteDeveloper(portal.app());
    const page = await portal.openAs(developer, url);
    const key = await startAccess(page, 'withdrawn plan', 'Museum');
    const app = (await page.getByRole('link', { name: 'Edit app' }).getAttribute('href'))!.replace('/edit', '');
    await page.goto(portal.app().url.portal + url);
    const checkout = await page.getByRole('link', { name: 'Access with this plan' }).first().getAttribute('href');
    const console = await portal.openAs(admin, `/admin/api_products/${productId}`);
    await console.getByRole('button', { name: 'Remove Public Catalogue' }).click();
    await console.getByRole('button', { name: 'Save product' }).click();
    await console.getByText('withdrawn was saved').waitFor();
    await page.reload();
    await page.getByText('This product is no longer offered. Your credentials go on working.').waitFor();
    assert.equal(await page.getByRole('link', { name: 'Access with this plan' }).count(), 0);
    assert.equal((await page.goto(portal.app().url.portal + checkout))!.status(), 404);
    assert.equal((await fetch(portal.app().url.portal + url)).status, 404, 'for visitors');
    assert.equal(await call('withdrawn', key), 200);

    const setActive = async (active: boolean) => {
      const { api_definition } = (await portal.app().ask('GET', `/api/apis/${APIID}`)).body;
      const changed = { api_definition: { ...api_definition, active } };
      await requestPortal(portal.app(), 'PUT', `/api/apis/${APIID}`, changed);
      await waitUntilApplied(portal.app());
    };
    await setActive(false);
    await page.goto(`${portal.app().url.portal}${url}/${APIID}/docs/readitems`);
    await page.getByRole('button', { name: 'Send request' }).click();
    await page.getByText('or it is not active at the moment').waitFor();
    await setActive(true);

    await console.goto(`${portal.app().url.portal}/admin/users/${developer.ID}`);
    await console.getByRole('switch', { name: 'Active' }).uncheck();
    await console.getByRole('button', { name: 'Save user' }).click();
    await console.getByText(`${developer.Email} was saved`).waitFor();
    await page.goto(portal.app().url.portal + app);
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
    assert.equal(await call('withdrawn', key), 200);
    await requestPortal(portal.app(), 'PUT', `/portal-api/users/${developer.ID}`, { Active: true });
    await requestPortal(portal.app(), 'DELETE', `/portal-api/products/${productId}`);
    assert.equal(await call('withdrawn', key), 403);
    await signInBySite(page, developer);
    await page.getByText('Product ended').waitFor();
  });
});
