import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { assertAccessible } from '../support/dashboard-app.ts';
import { addBrowserClientType, addOauthOffer } from '../support/oauth-offer.ts';
import { addSiteDeveloper, type Developer, signInBySite, testPortalSite } from '../support/portal-site.ts';
import { type RegisteringProvider, startRegisteringProvider } from '../support/registering-provider.ts';
import { freePort } from '../support/services/server.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const port = await freePort();
/** Another site than that of the identity provider, whose host is 127.0.0.1: cookies are those of real installations. */
const siteUrl = `http://localhost:${port}`;

describe('Try-it in the browser', () => {
  let idp: RegisteringProvider;
  let upstream: Upstream;
  before(async () => {
    idp = await startRegisteringProvider(['orders', 'gold']);
    upstream = await startUpstream();
  });
  after(async () => {
    await idp?.close();
    await upstream?.close();
  });
  const settings = { 'portal.port': String(port), 'portal.url': siteUrl };
  const site = testPortalSite({ settings }, () => [siteUrl, idp.issuer]);

  async function offer() {
    const developer = await addSiteDeveloper(site.app());
    const typeId = await addBrowserClientType(site.app(), idp);
    const { page } = await addOauthOffer(site.app(), upstream, typeId, developer);
    return { developer, path: page };
  }
  async function openAs(developer: Developer, path: string, options: { withoutScript?: boolean } = {}) {
    const page = await site.open('/', options);
    await page.goto(`${siteUrl}/auth/password/login?next=${encodeURIComponent(path)}`);
    await signInBySite(page, developer);
    return page;
  }

  test('a developer signs in at the identity provider in a pop-up, and calls with a token that no page has', async () => {
    const { developer, path } = await offer();
    const page = await openAs(developer, path);
    const send = page.getByRole('button', { name: 'Send request' });
    await send.click();
    await page.getByText('Get a token first').waitFor();
    await assertAccessible(page, 'operation with sign-in');
    const [popup] = await Promise.all([
      page.waitForEvent('popup'),
      page.getByRole('button', { name: 'Sign in for a token' }).click(),
    ]);
    await page.getByText('The portal has a token: send the request.').waitFor();
    if (!popup.isClosed()) await popup.close();
    await send.click();
    await page.getByText('200 OK').waitFor();
    const [, token] = /^Bearer (.+)$/.exec(upstream.requests.at(-1)!.headers.authorization!)!;
    assert.ok(!(await page.content()).includes(token!));
    const stored = 'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])';
    assert.ok(!String(await page.evaluate(stored)).includes(token!));
  });

  test('without script a developer signs in in another tab, and goes back to the operation', async () => {
    const { developer, path } = await offer();
    const page = await openAs(developer, path, { withoutScript: true });
    const [tab] = await Promise.all([
      page.context().waitForEvent('page'),
      page.getByRole('button', { name: 'Sign in for a token' }).click(),
    ]);
    await tab.getByRole('heading', { level: 1, name: 'Signed in' }).waitFor();
    await tab.getByRole('link', { name: 'go back' }).click();
    await tab.getByRole('button', { name: 'Send request' }).click();
    await tab.getByText('200 OK').waitFor();
  });

  test('a key that is inserted is in the samples and their copies, and leaves them with the tick', async () => {
    const { developer, path } = await offer();
    const page = await openAs(developer, path);
    const sample = page.locator('.samples details').first().locator('code');
    await sample.getByText('Bearer $API_KEY').waitFor();
    await page.getByLabel('Insert my key').check();
    await page.getByLabel('Key', { exact: true }).fill('eyJ0.abc-1_2');
    await sample.getByText('Bearer eyJ0.abc-1_2').waitFor();
    await page.locator('.samples').getByRole('button', { name: 'Copy', exact: true }).first().click();
    assert.match(String(await page.evaluate('navigator.clipboard.readText()')), /Bearer eyJ0\.abc-1_2/);
    await assertAccessible(page, 'samples with a key');
    await page.getByLabel('Key', { exact: true }).fill('"; rm -rf "');
    await sample.getByText('Bearer $API_KEY').waitFor();
    await page.getByLabel('Insert my key').uncheck();
    assert.equal(await page.getByLabel('Key', { exact: true }).isVisible(), false);
  });
});
