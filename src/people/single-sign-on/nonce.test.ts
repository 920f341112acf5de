import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine, type TestApp } from '../../../tests/support/app.ts';
import { addPerson, openBrowser } from '../../../tests/support/browser.ts';

let nowMs = Date.now();
const clock = { now: () => nowMs };

const createEmail = () => `s${createPublicId()}@example.org`;
const orgOf = (app: TestApp) => app.credentials.organisation_id;

async function createAdminNonce(app: TestApp, more: Record<string, unknown> = {}): Promise<string> {
  const body = { ForSection: 'dashboard', OrgID: orgOf(app), EmailAddress: createEmail(), ...more };
  const answer = await app.ask('POST', '/admin/sso', { body });
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.body.Message, 'SSO Nonce created');
  return answer.body.Meta;
}

const tap = (app: TestApp, query: string, init: RequestInit = {}) =>
  fetch(`${app.url.dashboard}/tap?${query}`, { redirect: 'manual', ...init });

/** Redeems a nonce in a browser of its own. */
async function signOn(app: TestApp, nonce: string) {
  const response = await tap(app, `nonce=${nonce}`);
  assert.equal(response.status, 303, await response.text());
  const browser = openBrowser(app);
  browser.cookie = response.headers.getSetCookie()[0]!.split(';')[0]!;
  const { body } = await browser.ask('GET', '/api/session');
  browser.csrfToken = body.csrf_token;
  return { response, browser, session: body };
}

async function createGroup(app: TestApp, user_permissions: Record<string, string>, more = {}): Promise<string> {
  const body = { name: `g ${createPublicId()}`, user_permissions, ...more };
  const answer = await app.ask('POST', '/api/usergroups', { body });
  assert.equal(answer.status, 200, answer.text);
  return answer.body.Meta;
}

onEveryEngine(
  'Single sign-on by nonce',
  app => {
    test('a nonce opens a session once, with a redirect to the dashboard', async () => {
      const email = createEmail();
      const nonce = await createAdminNonce(app(), { EmailAddress: email.toUpperCase(), DisplayName: 'Ann' });
      const { response, session } = await signOn(app(), nonce);
      assert.equal(response.headers.get('location'), '/');
      assert.equal(response.headers.get('referrer-policy'), 'no-referrer');
      assert.match(
        response.headers.getSetCookie()[0]!,
        /^authorisation=[\w-]{43}; .*Path=\/api; HttpOnly; SameSite=Lax$/,
      );
      assert.deepEqual([session.user.email_address, session.user.first_name], [email, 'Ann']);
      assert.equal(session.organisation.id, orgOf(app()));
      const again = await tap(app(), `nonce=${nonce}`);
      assert.equal(again.status, 403);
      assert.deepEqual(again.headers.getSetCookie(), []);
    });

    test('a nonce that is redeemed concurrently opens one session', async () => {
      const nonce = await createAdminNonce(app());
      const replies = await Promise.all(Array.from({ length: 5 }, () => tap(app(), `nonce=${nonce}`)));
      assert.deepEqual(replies.map(it => it.status).sort(), [303, 403, 403, 403, 403]);
    });

    test('an unknown, expired, empty, repeated or oversized nonce opens no session', async () => {
      const expired = await createAdminNonce(app());
      nowMs += 61_000;
      const valid = await createAdminNonce(app());
      for (const query of [
        `nonce=${expired}`,
        'nonce=',
        '',
        'nonce=unknown',
        `nonce=${valid}&nonce=${valid}`,
        `nonce=${'x'.repeat(10_000)}`,
      ]) {
        const response = await tap(app(), query, { headers: { accept: 'text/html' } });
        assert.equal(response.status, 403, query);
        assert.deepEqual(response.headers.getSetCookie(), []);
        assert.match(await response.text(), /invalid, expired or was used already/);
      }
      await signOn(app(), valid);
    });

    test('a page of another site cannot redeem a nonce in a frame, image or script', async () => {
      const nonce = await createAdminNonce(app());
      for (const destination of ['iframe', 'image', 'script', 'empty']) {
        const response = await tap(app(), `nonce=${nonce}`, { headers: { 'sec-fetch-dest': destination } });
        assert.equal(response.status, 403, destination);
        assert.deepEqual(response.headers.getSetCookie(), []);
      }
      const response = await tap(app(), `nonce=${nonce}`, { headers: { 'sec-fetch-dest': 'document' } });
      assert.equal(response.status, 303);
    });

    test('a user of the organisation cannot name another account, also where none is looked up', async () => {
      const body = { owner_name: 'Signs on', sso_enabled: true };
      assert.equal((await app().ask('PUT', `/admin/organisations/${orgOf(app())}`, { body })).status, 200);
      const [reader, other] = await Promise.all(
        [1, 2].map(() => addPerson(app(), { user_permissions: { apis: 'read' } })),
      );
      const answer = await app().ask('POST', '/api/sso', {
        credential: reader!.accessKey,
        body: { EmailAddress: other!.username },
      });
      assert.deepEqual([answer.status, /only an administrator/.test(answer.text)], [403, true]);
    });

    test('a HEAD request does not use a nonce up', async () => {
      const nonce = await createAdminNonce(app());
      assert.equal((await tap(app(), `nonce=${nonce}`, { method: 'HEAD' })).status, 404);
      await signOn(app(), nonce);
    });

    test('a nonce is stored as a keyed hash', async () => {
      const nonce = await createAdminNonce(app());
      const { db } = app().application.installation.records;
      const rows = await db.selectFrom('sign_in_tokens').selectAll().where('purpose', '=', 'sso').execute();
      assert.ok(rows.length > 0);
      assert.ok(!JSON.stringify(rows).includes(nonce));
    });

    test('a user without a group has no permission', async () => {
      const { browser, session } = await signOn(app(), await createAdminNonce(app()));
      assert.deepEqual(session.permissions, {});
      for (const path of ['/api/apis', '/api/users', '/api/keys/detailed', '/api/hooks', '/api/org/opa'])
        assert.equal((await browser.ask('GET', path)).status, 403, path);
      assert.equal((await browser.ask('POST', '/api/apis', { body: {} })).status, 403);
    });

    test('the higher level of several groups applies, and a changed group at once', async () => {
      const reader = await createGroup(app(), { apis: 'read', keys: 'write' });
      const writer = await createGroup(app(), { apis: 'write', hooks: 'read' });
      const inactive = await createGroup(app(), { policies: 'write' }, { active: false });
      const given = { GroupID: reader, GroupsIDs: [writer, inactive] };
      const { browser, session } = await signOn(app(), await createAdminNonce(app(), given));
      assert.deepEqual(session.permissions, { apis: 'write', keys: 'write', hooks: 'read' });
      const body = { name: 'less', user_permissions: { apis: 'read' } };
      assert.equal((await app().ask('PUT', `/api/usergroups/${writer}`, { body })).status, 200);
      const { body: later } = await browser.ask('GET', '/api/session');
      assert.deepEqual(later.permissions, { apis: 'read', keys: 'write' });
    });

    test('a group that does not exist, or of another organisation, gives no permission', async () => {
      const { orgId, accessKey } = await app().stranger();
      const body = { name: 'foreign', user_permissions: { apis: 'write' } };
      const foreign = (await app().ask('POST', '/api/usergroups', { body, credential: accessKey })).body.Meta;
      for (const GroupID of [foreign, 'unknown']) {
        const { session } = await signOn(app(), await createAdminNonce(app(), { GroupID }));
        assert.deepEqual(session.permissions, {});
      }
      const { session } = await signOn(app(), await createAdminNonce(app(), { OrgID: orgId, GroupID: foreign }));
      assert.deepEqual(session.permissions, { apis: 'write' });
    });

    test('without look-up the address of an administrator opens no account', async () => {
      const person = await addPerson(app());
      const { session } = await signOn(app(), await createAdminNonce(app(), { EmailAddress: person.username }));
      assert.notEqual(session.user.id, person.id);
      assert.deepEqual(session.permissions, {});
    });

    test('only registered users: an account of the organisation signs on, any other address is refused', async () => {
      const person = await addPerson(app());
      const { orgId } = await app().stranger();
      const elsewhere = await addPerson(app(), { org_id: orgId });
      const idle = await addPerson(app(), { active: false });
      const redeem = async (EmailAddress: string) =>
        tap(app(), `nonce=${await createAdminNonce(app(), { EmailAddress, SSOOnlyForRegisteredUsers: true })}`);
      const refusals: [string, RegExp][] = [
        [createEmail(), /Only registered users/],
        [elsewhere.username, /Only registered users/],
        [idle.username, /inactive/],
      ];
      for (const [email, message] of refusals) {
        const response = await redeem(email);
        assert.equal(response.status, 403);
        assert.match(await response.text(), message);
      }
      const given = { EmailAddress: person.username, SSOOnlyForRegisteredUsers: true };
      const { session } = await signOn(app(), await createAdminNonce(app(), given));
      assert.equal(session.user.id, person.id);
      assert.notEqual(session.user.last_login_date, '0001-01-01T00:00:00Z');
    });

    test('the session of a user without an account lists, signs out, and needs the CSRF token for writes', async () => {
      const group = await createGroup(app(), { hooks: 'write' });
      const { browser, session } = await signOn(app(), await createAdminNonce(app(), { GroupID: group }));
      const { id } = session.user;
      assert.equal((await browser.ask('GET', '/api/users/me')).body.id, id);
      const listed = await browser.ask('GET', `/api/users/${id}/sessions`);
      assert.deepEqual(
        listed.body.sessions.map((it: { current: boolean }) => it.current),
        [true],
      );
      const hook = { name: 'h', method: 'POST', target_path: 'http://127.0.0.1:1/' };
      assert.equal(
        (await browser.ask('POST', '/api/hooks', { body: hook, headers: { 'x-csrf-token': '' } })).status,
        403,
      );
      assert.equal((await browser.ask('POST', '/api/hooks', { body: hook })).status, 200);
      assert.equal((await browser.ask('DELETE', '/api/session')).status, 200);
      assert.equal((await browser.ask('GET', '/api/session')).status, 401);
    });

    test('sign-ons are in the audit log of the organisation, without the nonce', async () => {
      const email = createEmail();
      const nonce = await createAdminNonce(app(), { EmailAddress: email });
      await signOn(app(), nonce);
      const { text } = await app().ask('GET', '/api/audit-logs?action=signOn');
      assert.ok(text.includes(email), text);
      assert.ok(!text.includes(nonce));
    });

    test('/admin/sso refuses an unknown organisation, the portal, and a user who is not allowed', async () => {
      const base = { ForSection: 'dashboard', OrgID: orgOf(app()), EmailAddress: createEmail() };
      const refused: [Record<string, unknown>, number, RegExp][] = [
        [{ OrgID: 'unknown' }, 400, /OrgID: there is no organisation unknown/],
        [{ OrgID: undefined }, 400, /OrgID: there is no organisation/],
        [{ ForSection: 'portal' }, 400, /ForSection: must be dashboard/],
        [{ UserNotAllowed: true }, 403, /UserNotAllowed/],
        [{ EmailAddress: 'no address' }, 400, /EmailAddress/],
        [{ GroupsIDs: [5] }, 400, /GroupsIDs/],
      ];
      for (const [more, status, message] of refused) {
        const answer = await app().ask('POST', '/admin/sso', { body: { ...base, ...more } });
        assert.equal(answer.status, status, answer.text);
        assert.match(answer.body.Message, message);
      }
    });
  },
  { clock },
);

onEveryEngine(
  'Nonces of dashboard users',
  app => {
    const enable = async (orgId: string, sso_enabled = true) => {
      const body = { owner_name: 'Signs on', sso_enabled };
      assert.equal((await app().ask('PUT', `/admin/organisations/${orgId}`, { body })).status, 200);
    };
    const ask = (credential: string, more: Record<string, unknown> = {}) =>
      app().ask('POST', '/api/sso', { credential, body: { EmailAddress: createEmail(), ...more } });

    test('an organisation without sso_enabled, or another one, is refused', async () => {
      const { orgId, accessKey } = await app().stranger();
      assert.match((await ask(accessKey)).body.Message, /sso_enabled/);
      await enable(orgId);
      assert.equal((await ask(accessKey)).status, 200);
      for (const OrgID of [orgOf(app()), 'unknown']) {
        const answer = await ask(accessKey, { OrgID });
        assert.deepEqual([answer.status, answer.body.Message], [403, 'OrgID: must be your own organisation']);
      }
    });

    test('a nonce gives no permission that its creator does not hold', async () => {
      const orgId = orgOf(app());
      await enable(orgId);
      const strong = await createGroup(app(), { apis: 'write' });
      const weak = await createGroup(app(), { apis: 'read' });
      const { accessKey } = await addPerson(app(), { user_permissions: { apis: 'read', analytics: 'read' } });
      for (const more of [{ GroupID: strong }, { GroupsIDs: [weak, strong] }]) {
        const answer = await ask(accessKey, more);
        assert.equal(answer.status, 403, answer.text);
        assert.match(answer.body.Message, /you cannot grant apis: write/);
      }
      const nonce = (await ask(accessKey, { GroupID: weak })).body.Meta;
      const { session } = await signOn(app(), nonce);
      assert.deepEqual(session.permissions, { analytics: 'read', apis: 'read' });
    });

    test('only an administrator signs another user on, and that user keeps its own permissions', async () => {
      await enable(orgOf(app()));
      const group = await createGroup(app(), { hooks: 'write' });
      const admin = await addPerson(app());
      const reader = await addPerson(app(), { user_permissions: { apis: 'read', analytics: 'read' } });
      const other = await addPerson(app(), { user_permissions: { apis: 'read' } });
      for (const target of [admin, other]) {
        const answer = await ask(reader.accessKey, { EmailAddress: target.username });
        assert.equal(answer.status, 403);
        assert.match(answer.body.Message, /only an administrator may sign another user on/);
      }
      const denied = await addPerson(app(), { user_permissions: { IsAdmin: 'admin', apis: 'deny' } });
      assert.equal((await ask(denied.accessKey, { EmailAddress: other.username })).status, 403);
      const own = await signOn(app(), (await ask(reader.accessKey, { EmailAddress: reader.username })).body.Meta);
      assert.equal(own.session.user.id, reader.id);
      const given = { EmailAddress: other.username, GroupID: group };
      const { session } = await signOn(app(), (await ask(admin.accessKey, given)).body.Meta);
      assert.deepEqual([session.user.id, session.permissions], [other.id, { apis: 'read' }]);
    });

    test('an account that gets the address after the nonce was created is not signed in to', async () => {
      await enable(orgOf(app()));
      const reader = await addPerson(app(), { user_permissions: { apis: 'read', analytics: 'read' } });
      const admin = await addPerson(app());
      for (const { accessKey } of [reader, admin]) {
        const EmailAddress = createEmail();
        const given = { EmailAddress, SSOOnlyForRegisteredUsers: true };
        const nonce = (await ask(accessKey, given)).body.Meta;
        const write = { email_address: EmailAddress, first_name: 'A', last_name: 'B', active: true };
        const user_permissions = { IsAdmin: 'admin' };
        const made = await app().ask('POST', '/admin/users', {
          body: { ...write, user_permissions, org_id: orgOf(app()) },
        });
        assert.equal(made.status, 200, made.text);
        const response = await tap(app(), `nonce=${nonce}`);
        assert.equal(response.status, 403);
        assert.match(await response.text(), /Only registered users/);
        assert.equal((await tap(app(), `nonce=${await createAdminNonce(app(), given)}`)).status, 303);
      }
    });

    test('a nonce names no unknown group, and none that gives more when it becomes active', async () => {
      await enable(orgOf(app()));
      const { accessKey } = await addPerson(app(), { user_permissions: { apis: 'read', analytics: 'read' } });
      const unknown = await ask(accessKey, { GroupID: 'unknown' });
      assert.deepEqual([unknown.status, unknown.body.Message], [400, 'GroupID: there is no user group unknown']);
      const inactive = await createGroup(app(), { apis: 'write' }, { active: false });
      assert.equal((await ask(accessKey, { GroupsIDs: [inactive] })).status, 403);
    });

    test('the session of a nonce ends with those of its creator, and an unused nonce is void', async () => {
      await enable(orgOf(app()));
      for (const end of ['revoke', 'key/reset'] as const) {
        const creator = await addPerson(app(), { user_permissions: { apis: 'read', analytics: 'read' } });
        const { browser } = await signOn(app(), (await ask(creator.accessKey)).body.Meta);
        const unused = (await ask(creator.accessKey)).body.Meta;
        assert.equal((await app().ask('PUT', `/api/users/${creator.id}/actions/${end}`)).status, 200);
        assert.equal((await browser.ask('GET', '/api/session')).status, 401, end);
        assert.equal((await tap(app(), `nonce=${unused}`)).status, 403, end);
      }
      const creator = await addPerson(app(), { user_permissions: { apis: 'read', analytics: 'read' } });
      const { browser } = await signOn(app(), (await ask(creator.accessKey)).body.Meta);
      assert.equal((await app().ask('DELETE', `/api/users/${creator.id}`)).status, 200);
      assert.equal((await browser.ask('GET', '/api/session')).status, 401);
    });

    test('sessions of users without an account are listed and ended, inside the organisation only', async () => {
      await enable(orgOf(app()));
      const creator = await addPerson(app(), { user_permissions: { apis: 'read', analytics: 'read' } });
      const email = createEmail();
      const { browser, session } = await signOn(
        app(),
        (await ask(creator.accessKey, { EmailAddress: email })).body.Meta,
      );
      const { body } = await app().ask('GET', '/api/sso/sessions?p=-1');
      const listed = body.sessions.find((it: { email_address: string }) => it.email_address === email);
      assert.deepEqual(
        [listed.user_id, listed.creator_id, listed.profile_id, listed.current],
        [session.user.id, creator.id, '', false],
      );
      const path = `/api/sso/sessions/${listed.id}`;
      const { accessKey: foreign } = await app().stranger();
      assert.deepEqual((await app().ask('GET', '/api/sso/sessions', { credential: foreign })).body.sessions, []);
      assert.equal((await app().ask('DELETE', path, { credential: foreign })).status, 404);
      const weak = await addPerson(app(), { user_permissions: { users: 'write' } });
      const outranked = await app().ask('DELETE', path, { credential: weak.accessKey });
      assert.deepEqual([outranked.status, /permissions that you do not have/.test(outranked.text)], [403, true]);
      assert.equal((await browser.ask('GET', '/api/session')).status, 200);
      assert.equal((await app().ask('DELETE', path)).status, 200);
      assert.equal((await browser.ask('GET', '/api/session')).status, 401);
      assert.equal((await app().ask('DELETE', path)).status, 404);
    });

    test('nonces of two users for one address open sessions of two users, named after both', async () => {
      await enable(orgOf(app()));
      const email = createEmail();
      const sessions = [];
      for (let index = 0; index < 2; index++) {
        const { accessKey, username } = await addPerson(app(), {
          user_permissions: { analytics: 'read', keys: 'read' },
        });
        const { session } = await signOn(app(), (await ask(accessKey, { EmailAddress: email })).body.Meta);
        const { text } = await app().ask('GET', '/api/audit-logs?action=signOn');
        assert.ok(text.includes(`${email} (single sign-on by ${username})`), text);
        sessions.push(session);
      }
      const broker = await signOn(app(), await createAdminNonce(app(), { EmailAddress: email }));
      assert.equal(new Set([...sessions, broker.session].map(it => it.user.id)).size, 3);
    });

    test('a user without an account creates no nonce, so that a session cannot renew itself', async () => {
      await enable(orgOf(app()));
      const { browser } = await signOn(app(), await createAdminNonce(app()));
      const answer = await browser.ask('POST', '/api/sso', { body: { EmailAddress: createEmail() } });
      assert.deepEqual([answer.status, answer.body.Message], [403, 'access denied: you signed on without an account']);
    });

    test('the defaults of the installation apply, and its default group where none is named', async () => {
      const { groups } = app().application.installation.services;
      const orgId = orgOf(app());
      const group = {
        id: 'default-group',
        org_id: orgId,
        name: 'd',
        description: '',
        active: true,
        password_max_days: 0,
      };
      await groups.insert({ ...group, user_permissions: { keys: 'read' }, created_at_ms: 0 });
      const { session } = await signOn(app(), await createAdminNonce(app()));
      assert.deepEqual(session.permissions, { analytics: 'read', keys: 'read' });
      const named = await createGroup(app(), { analytics: 'deny', hooks: 'read' });
      const other = await signOn(app(), await createAdminNonce(app(), { GroupID: named }));
      assert.deepEqual(other.session.permissions, { analytics: 'read', hooks: 'read' });
      await groups.remove(orgId, group.id);
    });
  },
  {
    settings: {
      'sso.user_lookup': 'true',
      'sso.permission_defaults': '{"analytics":"read"}',
      'sso.default_group_id': 'default-group',
    },
  },
);
