import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { testEachPage } from '../support/page-walk.ts';
import { addAccessRequest, addProduct, requestPortal } from '../support/portal.ts';
import { testPortalAdmin } from '../support/portal-admin.ts';
import { adminPages } from '../support/portal-admin-pages.ts';
import { addSiteDeveloper, type Developer } from '../support/portal-site.ts';
import { signInToSite } from '../support/site-session.ts';

const html = { accept: 'text/html' };
const maxFirstLoadBytes = 200_000;

describe('Admin app of the portal', () => {
  const portal = testPortalAdmin();
  let admin: Developer;
  const ids: Record<string, number> = {};
  before(async () => {
    admin = await portal.anAdmin();
    const product = await addProduct(portal.app(), { Name: 'orders', DisplayName: 'Orders', Feature: true });
    const { plan, app, requestId } = await addAccessRequest(portal.app());
    await addAccessRequest(portal.app(), { pending: true });
    const ask = (path: string, body: object) => requestPortal(portal.app(), 'POST', `/portal-api${path}`, body, 201);
    const request = await ask('/organisation-requests', { Name: 'Acme', AdminID: app.UserID });
    const code = await ask('/invite-codes', { TeamID: 1 });
    await ask('/invitations', { Email: 'dana@example.org' });
    const terms = await ask('/terms', { Version: '2030-01', Content: '## Terms' });
    Object.assign(ids, { organisation: request.ID, code: code.ID, terms: terms.ID });
    Object.assign(ids, { product: product.ID, plan: plan.ID, app: app.ID, request: requestId, user: app.UserID });
  });

  testEachPage({
    pages: adminPages.people,
    depth: 'buttons',
    open: () => portal.openAs(admin, '/admin'),
    origin: () => portal.app().url.portal,
    resolve: path => path.replace(/:(\w+)/, (_whole, name: string) => String(ids[name])),
  });

  test('a signed-out visitor signs in first and comes back; a developer is refused', async () => {
    const url = `${portal.app().url.portal}/admin/api_products?p=2`;
    const anonymous = await fetch(url, { headers: html, redirect: 'manual' });
    assert.equal(anonymous.status, 303);
    assert.equal(anonymous.headers.get('location'), '/auth/password/login?next=%2Fadmin%2Fapi_products%3Fp%3D2');
    const cookie = await signInToSite(portal.app(), await addSiteDeveloper(portal.app()));
    const refused = await fetch(url, { headers: { ...html, cookie } });
    assert.equal(refused.status, 403);
    assert.match(await refused.text(), /administrator of the portal/);
  });

  test('the document has a strict policy with a nonce for each view, and loads less than 200 kB', async () => {
    const { url } = portal.app();
    const cookie = await signInToSite(portal.app(), admin);
    const read = () => fetch(`${url.portal}/admin`, { headers: { ...html, cookie } });
    const [first, second] = [await read(), await read()];
    const policy = first.headers.get('content-security-policy')!;
    assert.match(policy, /^default-src 'none'; script-src 'self'; /);
    assert.doesNotMatch(policy, /unsafe|\*|https?:/);
    assert.notEqual(second.headers.get('content-security-policy'), policy);
    const document = await first.text();
    assert.doesNotMatch(document, /<style|<script>| style=| on[a-z]+=/);
    let bytes = gzipSync(document).length;
    for (const [, path = ''] of document.matchAll(/(?:src|href)="(\/ui\/[^"]+)"/g)) {
      const file = await fetch(url.portal + path);
      assert.equal(file.headers.get('cache-control'), 'public, max-age=31536000, immutable', path);
      bytes += gzipSync(await file.text()).length;
    }
    assert.ok(bytes < maxFirstLoadBytes, `the first load has ${bytes} bytes`);
  });

  test('an ended session asks for a sign-in in another tab, then repeats the call', async () => {
    const page = await portal.openAs(admin, '/admin/api_products');
    await page.getByRole('heading', { level: 1, name: 'Products' }).waitFor();
    const { portal: stores } = portal.app().application.installation.services;
    await stores.sessions.removeOthers(`portal:${admin.ID}`);
    await page.evaluate('history.pushState({}, "", "?p=2"); dispatchEvent(new PopStateEvent("popstate"))');
    const dialog = page.getByRole('dialog', { name: 'The session has ended' });
    await dialog.waitFor();
    await dialog.getByRole('button', { name: 'Continue' }).click();
    await dialog.getByText('Sign in first').waitFor();
    const popup = page.waitForEvent('popup');
    await dialog.getByRole('link', { name: 'Sign in in another tab' }).click();
    const tab = await popup;
    await tab.getByLabel('E-mail address').fill(admin.Email);
    await tab.getByLabel('Password', { exact: true }).fill(admin.Password);
    await tab.getByRole('button', { name: 'Sign in' }).click();
    await tab.waitForURL(/\/admin/);
    await dialog.getByRole('button', { name: 'Continue' }).click();
    await dialog.waitFor({ state: 'hidden' });
  });

  test('signing out in the app ends the session', async () => {
    const page = await portal.openAs(admin, '/admin/api_products');
    await page.getByRole('button', { name: 'Account' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.waitForURL(`${portal.app().url.portal}/`);
    await page.goto(`${portal.app().url.portal}/admin`);
    await page.waitForURL(/\/auth\/password\/login/);
  });
});
