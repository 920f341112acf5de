import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { addPerson, openBrowser } from '../../../tests/support/browser.ts';
import { addDeveloper, requestPortal } from '../../../tests/support/portal.ts';
import { signInToSite } from '../../../tests/support/site-session.ts';

const Password = 'correct horse battery staple';

onEveryEngine('Sessions of portal administrators', app => {
  async function aSession(Role: string) {
    const user = await addDeveloper(app(), { Role, Password });
    const cookie = await signInToSite(app(), { Email: user.Email, Password });
    const ask = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
      app().ask(method, `/portal-api${path}`, { credential: null, body, headers: { cookie, ...headers } });
    return { user, cookie, ask };
  }

  for (const role of ['super-admin', 'provider-admin'])
    test(`the session of a ${role} reads, and writes with its CSRF token, in its own name`, async () => {
      const { user, ask } = await aSession(role);
      const { status, body } = await ask('GET', '/session');
      assert.equal(status, 200);
      assert.deepEqual([body.user.Email, body.user.Role], [user.Email, role]);
      assert.equal((await ask('GET', '/products')).status, 200);
      for (const wrong of [undefined, '', 'x']) {
        const headers: Record<string, string> = wrong === undefined ? {} : { 'x-csrf-token': wrong };
        const refused = await ask('POST', '/tags', { Name: 'forged' }, headers);
        assert.equal(refused.status, 403);
        assert.match(refused.text, /csrf_token of GET \/portal-api\/session/);
      }
      const name = `tag of ${role}`;
      const written = await ask('POST', '/tags', { Name: name }, { 'x-csrf-token': body.csrf_token });
      assert.equal(written.body.Name, name, written.text);
      const { audit } = app().application.installation.services;
      const { items } = await audit.page({ orgId: '' }, { page: 1, size: 5 });
      assert.deepEqual([items[0]?.action, items[0]?.actor], ['createTag', user.Email]);
    });

  test('the session of a developer is refused, as are ended, demoted and dashboard ones', async () => {
    for (const role of ['consumer-admin', 'consumer-team-member']) {
      const { ask } = await aSession(role);
      assert.equal((await ask('GET', '/session')).status, 401);
      assert.equal((await ask('GET', '/users')).status, 401);
    }
    for (const change of [{ Role: 'consumer-admin' }, { Active: false }, { Password: 'another long password' }]) {
      const { user, ask } = await aSession('provider-admin');
      assert.equal((await ask('GET', '/session')).status, 200);
      await requestPortal(app(), 'PUT', `/portal-api/users/${user.ID}`, change);
      assert.equal((await ask('GET', '/session')).status, 401, JSON.stringify(change));
    }
    const browser = openBrowser(app());
    await browser.signIn(await addPerson(app(), { user_permissions: { IsAdmin: 'admin' } }));
    const [, token] = browser.cookie.split('=');
    for (const cookie of [`portal-session=${token}`, browser.cookie]) {
      const headers = { cookie };
      assert.equal((await app().ask('GET', '/portal-api/session', { credential: null, headers })).status, 401);
    }
  });

  test('a session of the site is none of the dashboard, and the token of the portal has no user', async () => {
    const { cookie } = await aSession('super-admin');
    const headers = { cookie: `${cookie}; ${cookie.replace('portal-session', 'authorisation')}` };
    assert.equal((await app().ask('GET', '/api/session', { credential: null, headers })).status, 401);
    assert.deepEqual(await requestPortal(app(), 'GET', '/portal-api/session'), { user: null, csrf_token: '' });
  });
});
