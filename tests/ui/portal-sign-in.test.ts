import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { assertAccessible } from '../support/dashboard-app.ts';
import { addProduct, requestPortal } from '../support/portal.ts';
import {
  addSiteDeveloper,
  type Developer,
  signInBySite,
  sitePassword,
  testPortalSite,
} from '../support/portal-site.ts';

describe('Sign-in of the portal', () => {
  const site = testPortalSite({ settings: { 'sign_in.max_account_failures': '3' } });
  let developer: Developer;
  let secretPath: string;
  before(async () => {
    const app = site.app();
    developer = await addSiteDeveloper(app);
    const product = await addProduct(app, { Name: 'for members', DisplayName: 'For members' });
    await requestPortal(app, 'PUT', '/portal-api/catalogues/2', { Products: [product.ID] });
    secretPath = `/portal/catalogue-products/${product.Path}`;
  });

  test('a developer signs in without script, sees private products, and is signed out on the server', async () => {
    const page = await site.open(`/auth/password/login?next=${encodeURIComponent(secretPath)}`, {
      withoutScript: true,
    });
    await signInBySite(page, developer);
    await page.getByRole('heading', { level: 1, name: 'For members' }).waitFor();
    const cookies = await page.context().cookies();
    const session = cookies.find(it => it.name === 'portal-session')!;
    assert.deepEqual([session.httpOnly, session.sameSite], [true, 'Strict']);
    await page.locator('.account summary').click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('link', { name: 'Sign in' }).waitFor();
    const replay = { headers: { cookie: `portal-session=${session.value}` } };
    assert.equal((await fetch(site.app().url.portal + secretPath, replay)).status, 404);
  });

  test('the form is accessible; a target of another site leads home', async () => {
    const page = await site.open('/auth/password/login?next=//evil.example/');
    await assertAccessible(page, 'sign-in');
    await signInBySite(page, developer);
    await page.waitForURL(`${site.app().url.portal}/`);
  });

  test('a wrong password, an unknown address and an inactive account read the same, and are limited', async () => {
    const inactive = await addSiteDeveloper(site.app(), { Active: false });
    const attempts = [
      { Email: developer.Email, Password: 'wrong' },
      { Email: 'unknown@example.org', Password: sitePassword },
      { Email: inactive.Email, Password: sitePassword },
    ];
    for (const attempt of attempts) {
      const page = await site.open('/auth/password/login');
      await signInBySite(page, attempt);
      assert.match(await page.getByRole('alert').innerText(), /^The address or the password is wrong, or/);
    }
    const page = await site.open('/auth/password/login');
    for (let failure = 0; failure < 4; failure++) {
      await signInBySite(page, { Email: 'guess@example.org', Password: 'wrong' });
      await page.getByRole('alert').waitFor();
    }
    assert.match(await page.getByRole('alert').innerText(), /again in \d+ seconds/);
  });

  test('an account whose password has to be replaced is not signed in, and sets a new one', async () => {
    const user = await addSiteDeveloper(site.app(), { ResetPassword: true });
    const page = await site.open('/auth/password/login');
    await signInBySite(page, user);
    await page.getByRole('heading', { name: 'Set a new password' }).waitFor();
    await assertAccessible(page, 'new password');
    assert.equal((await page.goto(site.app().url.portal + secretPath))!.status(), 404);
  });

  test('a form without the token of its visitor is refused', async () => {
    const body = new URLSearchParams({ login: developer.Email, password: sitePassword, csrf_token: 'x' });
    const response = await fetch(`${site.app().url.portal}/auth/password/login`, { method: 'POST', body });
    assert.equal(response.status, 403);
    assert.doesNotMatch(response.headers.get('set-cookie') ?? '', /portal-session/);
  });

  test('a new password, and a deactivation, end the sessions of a user', async () => {
    for (const change of [{ Password: 'another long password' }, { Active: false }]) {
      const user = await addSiteDeveloper(site.app());
      const page = await site.openAs(user, secretPath);
      await requestPortal(site.app(), 'PUT', `/portal-api/users/${user.ID}`, change);
      assert.equal((await page.goto(site.app().url.portal + secretPath))!.status(), 404);
    }
  });
});
