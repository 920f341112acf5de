import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { addPerson, openBrowser, type Person } from '../../../tests/support/browser.ts';

let nowMs = Date.now();
const clock = { now: () => nowMs };

onEveryEngine(
  'Browser sessions',
  app => {
    async function signedIn(more: Record<string, unknown> = {}) {
      const person = await addPerson(app(), more);
      const browser = openBrowser(app());
      const answer = await browser.signIn(toCredentials(person));
      assert.equal(answer.status, 200, answer.text);
      return { person, browser, answer };
    }
    const toCredentials = ({ username, password }: Person) => ({ username, password });
    const isSignedIn = async ({ ask }: ReturnType<typeof openBrowser>) => (await ask('GET', '/api/session')).status;

    test('a sign-in sets an HttpOnly cookie for /api that reads and, with the CSRF token, writes', async () => {
      const { browser, person, answer } = await signedIn();
      assert.match(
        answer.headers.getSetCookie()[0]!,
        /^authorisation=[\w-]{43}; Max-Age=43200; Path=\/api; HttpOnly; SameSite=Lax$/,
      );
      assert.equal(answer.body.user.email_address, person.username);
      assert.equal(answer.body.user.access_key, '');
      assert.deepEqual(answer.body.permissions, { IsAdmin: 'admin', ResetPassword: 'admin' });
      const me = await browser.ask('GET', '/api/session');
      assert.deepEqual(
        [me.body.csrf_token, me.body.session.id, me.body.organisation.id],
        [answer.body.csrf_token, answer.body.session.id, app().credentials.organisation_id],
      );
      assert.notEqual(me.body.user.last_login_date, '0001-01-01T00:00:00Z');
      assert.equal((await browser.ask('GET', '/api/users/me')).body.id, person.id);
      const written = await browser.ask('PUT', `/api/users/${person.id}/actions/key/reset`);
      assert.equal(written.status, 200, written.text);
    });

    test('the user name is accepted in any case and with blanks around', async () => {
      const { username, password } = await addPerson(app());
      const answer = await openBrowser(app()).signIn({ username: ` ${username.toUpperCase()} `, password });
      assert.equal(answer.status, 200);
    });

    test('a write without, with an empty, or with the CSRF token of another session changes nothing', async () => {
      const { browser, person } = await signedIn();
      const other = await signedIn();
      const body = { owner_name: 'x' };
      const path = `/api/users/${person.id}`;
      for (const token of ['', 'wrong', other.browser.csrfToken]) {
        const headers = { 'x-csrf-token': token };
        const answer = await browser.ask('DELETE', path, { headers });
        assert.equal(answer.status, 403, token);
        assert.match(answer.body.Message, /X-CSRF-Token is missing or wrong/);
      }
      browser.csrfToken = '';
      assert.equal((await browser.ask('DELETE', path)).status, 403);
      assert.equal((await browser.ask('POST', '/api/hooks', { body })).status, 403);
      assert.equal((await app().ask('GET', path)).status, 200);
    });

    test('a sign-in is refused in media types that a form of another site can send', async () => {
      const person = await addPerson(app());
      for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
        const answer = await app().ask('POST', '/api/session', {
          credential: null,
          body: JSON.stringify(toCredentials(person)),
          headers: { 'content-type': type },
        });
        assert.equal(answer.status, 415, type);
        assert.deepEqual(answer.headers.getSetCookie(), []);
      }
    });

    test('a sign-in never takes over the token of the request: session fixation', async () => {
      const person = await addPerson(app());
      const browser = openBrowser(app());
      browser.cookie = `authorisation=${'A'.repeat(43)}`;
      await browser.signIn(toCredentials(person));
      assert.notEqual(browser.cookie, `authorisation=${'A'.repeat(43)}`);
      const first = browser.cookie;
      await browser.signIn(toCredentials(person));
      assert.notEqual(browser.cookie, first);
    });

    test('an unknown cookie, two cookies and a changed one get 401', async () => {
      const { browser } = await signedIn();
      const { cookie } = browser;
      for (const wrong of [
        'authorisation=wrong',
        `${cookie}x`,
        `${cookie}; authorisation=other`,
        `authorisation=${'x'.repeat(5000)}`,
        'authorisation=',
        cookie.replace('authorisation', 'Authorisation'),
      ])
        assert.equal((await browser.ask('GET', '/api/session', { headers: { cookie: wrong } })).status, 401, wrong);
      assert.equal((await browser.ask('GET', '/api/session', { headers: { cookie: `a=b; ${cookie}` } })).status, 200);
    });

    test('a cookie is no credential of the other surfaces', async () => {
      const { browser } = await signedIn();
      assert.equal((await browser.ask('GET', '/admin/organisations')).status, 401);
      assert.equal((await browser.ask('GET', '/gw/apis')).status, 403);
      assert.equal((await browser.ask('GET', '/portal-api/apps')).status, 401);
    });

    test('a session acts for the organisation of its user only', async () => {
      const { orgId } = await app().stranger();
      const { browser } = await signedIn({ org_id: orgId });
      const { person: colleague } = await signedIn();
      assert.equal((await browser.ask('GET', `/api/users/${colleague.id}`)).status, 404);
      assert.equal((await browser.ask('GET', `/api/users/${colleague.id}/sessions`)).status, 404);
      assert.equal((await browser.ask('DELETE', `/api/users/${colleague.id}/sessions`)).status, 404);
      assert.equal((await browser.ask('GET', '/api/session')).body.organisation.id, orgId);
    });

    test('a sign-out ends the session and removes the cookie', async () => {
      const { browser } = await signedIn();
      const { cookie } = browser;
      const answer = await browser.ask('DELETE', '/api/session');
      assert.equal(answer.status, 200);
      assert.match(answer.headers.getSetCookie()[0]!, /^authorisation=; Max-Age=0; Path=\/api;/);
      browser.cookie = cookie;
      assert.equal(await isSignedIn(browser), 401);
      assert.equal((await app().ask('DELETE', '/api/session')).status, 400);
    });

    test('sessions are listed, ended one by one and all but the current one', async () => {
      const { browser, person } = await signedIn();
      const others = [openBrowser(app()), openBrowser(app())];
      for (const other of others) await other.signIn(toCredentials(person));
      const path = `/api/users/${person.id}/sessions`;
      const { sessions } = (await browser.ask('GET', path)).body;
      assert.equal(sessions.length, 3);
      assert.deepEqual(sessions.map((it: { current: boolean }) => it.current).sort(), [false, false, true]);
      assert.equal(sessions[0].user_agent, 'browser of a test');
      assert.equal(sessions[0].address, '127.0.0.1');
      const first = sessions.find((it: { current: boolean }) => !it.current);
      assert.equal((await browser.ask('DELETE', `${path}/${first.id}`)).status, 200);
      assert.equal((await browser.ask('DELETE', `${path}/${first.id}`)).status, 404);
      assert.equal((await browser.ask('DELETE', path)).body.Meta, 1);
      assert.deepEqual(await Promise.all([browser, ...others].map(isSignedIn)), [200, 401, 401]);
    });

    test('another user’s session is ended by its own id only, with the permission', async () => {
      const { person, answer } = await signedIn();
      const { browser: weak, person: self } = await signedIn({ user_permissions: { apis: 'read' } });
      const sessionId = answer.body.session.id;
      assert.equal((await weak.ask('DELETE', `/api/users/${person.id}/sessions/${sessionId}`)).status, 403);
      assert.equal((await weak.ask('GET', `/api/users/${person.id}/sessions`)).status, 403);
      assert.equal((await weak.ask('DELETE', `/api/users/${self.id}/sessions/${sessionId}`)).status, 404);
      assert.equal((await app().ask('DELETE', `/api/users/${person.id}/sessions/${sessionId}`)).status, 200);
    });

    test('sessions of a user who holds more are not ended by a user with users:write', async () => {
      const { person, browser: administrator, answer } = await signedIn();
      const { browser: manager } = await signedIn({ user_permissions: { users: 'write' } });
      const path = `/api/users/${person.id}/sessions`;
      assert.equal((await manager.ask('DELETE', path)).status, 403);
      assert.equal((await manager.ask('DELETE', `${path}/${answer.body.session.id}`)).status, 403);
      assert.equal(await isSignedIn(administrator), 200);
    });

    test('the number of sessions of a user is bounded; the oldest end first', async () => {
      const { browser: oldest, person } = await signedIn();
      const browsers = Array.from({ length: 10 }, () => openBrowser(app()));
      for (const browser of browsers) {
        nowMs += 10;
        await browser.signIn(toCredentials(person));
      }
      assert.equal(await isSignedIn(oldest), 401);
      assert.equal(await isSignedIn(browsers[0]!), 200);
      const { sessions } = (await browsers[0]!.ask('GET', `/api/users/${person.id}/sessions`)).body;
      assert.equal(sessions.length, 10);
    });

    test('a session ends when it is idle, and at its maximum age however much it is used', async () => {
      const { browser: idle, person } = await signedIn();
      const busy = openBrowser(app());
      await busy.signIn(toCredentials(person));
      const startMs = nowMs;
      nowMs += 3_599_000;
      assert.equal(await isSignedIn(busy), 200);
      nowMs += 1000;
      assert.deepEqual([await isSignedIn(idle), await isSignedIn(busy)], [401, 200]);
      while (nowMs + 3_000_000 < startMs + 43_200_000) {
        nowMs += 3_000_000;
        assert.equal(await isSignedIn(busy), 200);
      }
      nowMs = startMs + 43_200_000;
      assert.equal(await isSignedIn(busy), 401);
      const { records } = app().application.installation;
      await signedIn();
      const rows = await records.db.selectFrom('sessions').selectAll().where('user_id', '=', person.id).execute();
      assert.deepEqual(rows, [], 'expired sessions are deleted');
    });

    const changes: Record<string, (person: Person) => Promise<unknown>> = {
      'a password change of the operator': ({ id }) =>
        app().ask('PUT', `/admin/users/${id}`, { body: { password: 'a new password' } }),
      'an own password change': ({ id, password, accessKey }) =>
        app().ask('POST', `/api/users/${id}/actions/reset`, {
          credential: accessKey,
          body: { current_password: password, new_password: 'a new password' },
        }),
      'a new access key': ({ id, accessKey }) =>
        app().ask('PUT', `/api/users/${id}/actions/key/reset`, { credential: accessKey }),
      'a revocation': ({ id }) => app().ask('PUT', `/api/users/${id}/actions/revoke`),
      'a deletion': ({ id }) => app().ask('DELETE', `/api/users/${id}`),
      'a new organisation': async ({ id }) =>
        app().ask('PUT', `/admin/users/${id}`, { body: { org_id: (await app().stranger()).orgId } }),
    };
    for (const [title, change] of Object.entries(changes))
      test(`${title} ends the sessions of the user`, async () => {
        const { browser, person } = await signedIn();
        await change(person);
        assert.equal(await isSignedIn(browser), 401);
        const { records } = app().application.installation;
        const rows = await records.db.selectFrom('sessions').selectAll().where('user_id', '=', person.id).execute();
        assert.deepEqual(rows, []);
      });

    test('a deactivation ends the sessions of the user, also after a later activation', async () => {
      const { browser, person } = await signedIn();
      for (const active of [false, true]) await app().ask('PUT', `/admin/users/${person.id}`, { body: { active } });
      assert.equal(await isSignedIn(browser), 401);
    });

    test('a changed permission applies to the next request of a session', async () => {
      const { browser, person } = await signedIn();
      assert.equal((await browser.ask('GET', '/api/users')).status, 200);
      await app().ask('PUT', `/admin/users/${person.id}`, { body: { user_permissions: { apis: 'read' } } });
      assert.equal((await browser.ask('GET', '/api/users')).status, 403);
      assert.deepEqual((await browser.ask('GET', '/api/session')).body.permissions, { apis: 'read' });
    });

    test('tokens are stored hashed: neither cookie nor CSRF token is in the database', async () => {
      const { browser, person } = await signedIn();
      const { records } = app().application.installation;
      const rows = await records.db.selectFrom('sessions').selectAll().where('user_id', '=', person.id).execute();
      const text = JSON.stringify(rows);
      assert.equal(rows.length, 1);
      assert.ok(!text.includes(browser.cookie.split('=')[1]!) && !text.includes(browser.csrfToken));
    });

    test('an access key has precedence over a cookie and needs no CSRF token', async () => {
      const { browser } = await signedIn();
      const { accessKey, id } = await addPerson(app());
      const headers = { authorization: accessKey, 'x-csrf-token': '' };
      assert.equal((await browser.ask('GET', '/api/users/me', { headers })).body.id, id);
      assert.equal((await browser.ask('PUT', `/api/users/${id}/actions/key/reset`, { headers })).status, 200);
      assert.equal((await browser.ask('GET', '/api/users/me', { headers: { authorization: 'wrong' } })).status, 401);
    });
  },
  { clock },
);

onEveryEngine(
  'Browser sessions behind TLS',
  app => {
    test('the cookie is Secure where a trusted proxy sends X-Forwarded-Proto: https', async () => {
      const { username, password } = await addPerson(app());
      const headers = { 'x-forwarded-proto': 'https', 'x-forwarded-for': '10.1.2.3' };
      const answer = await openBrowser(app()).ask('POST', '/api/session', { body: { username, password }, headers });
      assert.match(answer.headers.getSetCookie()[0]!, /; Secure$/);
      assert.equal(answer.body.session.address, '10.1.2.3');
    });

    test('sessions.max_per_user: 1 ends the earlier session at the next sign-in', async () => {
      const { username, password } = await addPerson(app());
      const browsers = [openBrowser(app()), openBrowser(app())];
      for (const browser of browsers) await browser.signIn({ username, password });
      const statuses = await Promise.all(browsers.map(async it => (await it.ask('GET', '/api/session')).status));
      assert.deepEqual(statuses, [401, 200]);
    });

    test('sign_in.hide_retry_after: a limited sign-in has no time to wait in its response', async () => {
      const { username, password } = await addPerson(app());
      await openBrowser(app()).signIn({ username, password: 'wrong' });
      const limited = await openBrowser(app()).signIn({ username, password });
      assert.deepEqual(
        [limited.status, limited.body.Message, limited.headers.get('retry-after')],
        [429, 'Too many failed sign-ins; try again later', null],
      );
    });
  },
  {
    settings: {
      'management.trusted_proxies': '127.0.0.1',
      'sessions.max_per_user': '1',
      'sign_in.max_account_failures': '1',
      'sign_in.hide_retry_after': 'true',
    },
  },
);
