import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine, rememberSecrets, type TestApp } from '../../../../tests/support/app.ts';
import { addPerson } from '../../../../tests/support/browser.ts';
import {
  type CookieJar,
  dashboardUrl,
  type OidcProvider,
  oidcClient,
  openSignedOnBrowser,
  startOidcProvider,
  visit,
  walkToCallback,
} from '../../../../tests/support/oidc.ts';

rememberSecrets({ secret: oidcClient.secret });

async function createProfile(app: TestApp, provider: OidcProvider, more: object = {}, credential?: string) {
  const body = {
    Name: 'OpenID',
    ProviderName: 'SocialProvider',
    ProviderConfig: toClient(provider, {}),
    CustomUserGroupField: 'groups',
    ...more,
  };
  const made = await app.ask('POST', '/api/sso/profiles', { body, ...(credential && { credential }) });
  assert.equal(made.status, 200, made.text);
  const { body: view } = await app.ask('GET', `/api/sso/profiles/${made.body.Meta}`, credential ? { credential } : {});
  provider.serve(view.RedirectURL);
  return view as { ID: string; LoginURL: string; RedirectURL: string };
}

const toClient = ({ discoverUrl }: OidcProvider, more: object) => ({
  UseProviders: [
    { Name: 'openid-connect', Key: oidcClient.id, Secret: oidcClient.secret, DiscoverURL: discoverUrl, ...more },
  ],
});

async function createGroup(app: TestApp, user_permissions: Record<string, string>): Promise<string> {
  const { body } = await app.ask('POST', '/api/usergroups', { body: { name: createPublicId(), user_permissions } });
  return body.Meta;
}

onEveryEngine(
  'Single sign-on with OpenID Connect',
  app => {
    let provider: OidcProvider;
    before(async () => {
      provider = await startOidcProvider();
    });
    after(() => provider?.close());

    /** Adds a user of the provider, who signs in next. */
    function addUser(claims: Record<string, unknown> = {}) {
      const id = `u${createPublicId()}`;
      const email = `${id}@example.org`;
      provider.users.set(id, { email, email_verified: true, name: 'Ann Example', ...claims });
      provider.account = id;
      return { id, email };
    }

    async function signOn(loginUrl: string) {
      const jar: CookieJar = new Map();
      const response = await visit(await walkToCallback(app(), loginUrl, jar), jar);
      assert.equal(response.status, 303, await response.text());
      return { jar, response, ...(await openSignedOnBrowser(app(), jar)) };
    }

    async function assertRefused(loginUrl: string, message: RegExp, status = 403) {
      const jar: CookieJar = new Map();
      const response = await visit(await walkToCallback(app(), loginUrl, jar), jar);
      assert.equal(response.status, status);
      assert.match(await response.text(), message);
      assert.equal(jar.get(app().url.dashboard)?.has('authorisation'), false);
    }

    test('a test shows claims, groups and permissions or the refusal, and opens no session', async () => {
      const staff = await createGroup(app(), { apis: 'read' });
      const mapping = { UserGroupMapping: { staff }, ProviderConstraintsGroup: 'staff' };
      const profile = await createProfile(app(), provider, mapping);
      const beginTest = async () => {
        const { body, text } = await app().ask('POST', `/api/sso/profiles/${profile.ID}/test`);
        assert.ok(body.test_url?.startsWith(`${profile.LoginURL}?test=`), text);
        return body.test_url as string;
      };
      const runTest = async (url: string) => {
        const jar: CookieJar = new Map();
        const callback = await walkToCallback(app(), url, jar);
        const response = await visit(callback, jar);
        assert.equal(jar.get(app().url.dashboard)?.has('authorisation'), false);
        const again = await visit(callback, jar);
        assert.equal(again.status, 403, 'a flow is completed once');
        return { status: response.status, text: await response.text() };
      };
      const { email } = addUser({ groups: ['staff'], name: '<b>Ann</b>' });
      const passed = await runTest(await beginTest());
      assert.equal(passed.status, 200);
      assert.match(passed.text, new RegExp(`${email} signs on without an account`));
      assert.match(passed.text, /<li>apis: read<\/li>/);
      assert.match(passed.text, /&lt;b&gt;Ann&lt;\/b&gt;/);
      addUser({ groups: ['other'] });
      const refused = await runTest(await beginTest());
      assert.equal(refused.status, 403);
      assert.match(refused.text, /Refused: You are in no group that may sign on/);
      assert.match(refused.text, /\[&#34;other&#34;\]/);
      const { body: sessions } = await app().ask('GET', '/api/sso/sessions');
      assert.ok(!JSON.stringify(sessions).includes(email));
      const { body: audit } = await app().ask('GET', `/api/audit-logs?action=signOnTest&url=${profile.ID}`);
      assert.deepEqual(audit.audit_logs.map((it: { status: number }) => it.status).sort(), [200, 403]);
      const url = await beginTest();
      const other = await createProfile(app(), provider, mapping);
      const foreign = `${other.LoginURL}?${new URL(url).searchParams}`;
      for (const bad of [foreign, `${profile.LoginURL}?test=1`, `${profile.LoginURL}?test=`]) {
        const response = await visit(bad.replace(dashboardUrl, app().url.dashboard), new Map());
        assert.equal(response.status, 403);
        assert.match(await response.text(), /link of this test is invalid or has expired/);
      }
      const inactive = await createProfile(app(), provider, { Active: false });
      const { body } = await app().ask('POST', `/api/sso/profiles/${inactive.ID}/test`);
      assert.equal(body.test_url, '');
    });

    test('a user signs on with the permissions of all mapped groups, and continues at the given path', async () => {
      const reader = await createGroup(app(), { apis: 'read', keys: 'read' });
      const writer = await createGroup(app(), { apis: 'write' });
      const profile = await createProfile(app(), provider, { UserGroupMapping: { staff: reader, devs: writer } });
      const { email } = addUser({ groups: ['devs', 'other', 'staff'] });
      const { response, session, jar } = await signOn(`${profile.LoginURL}?next=/apis%3Fq=1`);
      assert.equal(response.headers.get('location'), '/apis?q=1');
      const [cookie, flow] = [/^authorisation=/, /^gw-sign-on=;/].map(pattern =>
        response.headers.getSetCookie().find(line => pattern.test(line)),
      );
      assert.match(cookie!, /HttpOnly; SameSite=Lax; Secure$/);
      assert.match(flow!, /Max-Age=0; Path=\/tib; HttpOnly; SameSite=Lax; Secure$/);
      assert.equal(jar.get(app().url.dashboard)!.has('gw-sign-on'), false);
      assert.deepEqual([session.user.email_address, session.user.first_name], [email, 'Ann Example']);
      assert.deepEqual(session.permissions, { apis: 'write', keys: 'read' });
    });

    test('a user who maps to no group is signed on without any permission', async () => {
      const group = await createGroup(app(), { apis: 'write' });
      const profile = await createProfile(app(), provider, { UserGroupMapping: { devs: group, constructor: group } });
      addUser({ groups: ['other', 'Devs', '__proto__', 'toString'] });
      const { session, browser } = await signOn(profile.LoginURL);
      assert.deepEqual(session.permissions, {});
      assert.equal((await browser.ask('GET', '/api/apis')).status, 403);
    });

    test('groups of a text are divided by the separator, and the default group applies where none matches', async () => {
      const group = await createGroup(app(), { apis: 'read' });
      const fallback = await createGroup(app(), { keys: 'read' });
      const mapping = {
        UserGroupMapping: { 'api devs': group },
        UserGroupSeparator: ',',
        DefaultUserGroupID: fallback,
      };
      const profile = await createProfile(app(), provider, mapping);
      addUser({ groups: 'staff, api devs' });
      assert.deepEqual((await signOn(profile.LoginURL)).session.permissions, { apis: 'read' });
      addUser({ groups: 'staff' });
      assert.deepEqual((await signOn(profile.LoginURL)).session.permissions, { keys: 'read' });
    });

    test('a callback is accepted only in the browser that began the sign-on, and once', async () => {
      const profile = await createProfile(app(), provider);
      addUser();
      const jar: CookieJar = new Map();
      const callback = await walkToCallback(app(), profile.LoginURL, jar);
      const other: CookieJar = new Map();
      assert.equal((await visit(callback, other)).status, 403);
      await walkToCallback(app(), profile.LoginURL, other);
      assert.equal((await visit(callback, other)).status, 403);
      const flow = jar.get(app().url.dashboard)!.get('gw-sign-on')!;
      assert.equal((await visit(callback, jar)).status, 303);
      const replay: CookieJar = new Map([[app().url.dashboard, new Map([['gw-sign-on', flow]])]]);
      assert.equal((await visit(callback, replay)).status, 403);
      for (const changed of [`${flow}x`, flow.slice(0, -2), 'v1.AAAA', '']) {
        const forged: CookieJar = new Map([[app().url.dashboard, new Map([['gw-sign-on', changed]])]]);
        assert.equal((await visit(callback, forged)).status, 403, changed);
      }
    });

    test('a cookie of one profile is no cookie of another', async () => {
      const first = await createProfile(app(), provider);
      const second = await createProfile(app(), provider);
      addUser();
      const jar: CookieJar = new Map();
      const callback = await walkToCallback(app(), second.LoginURL, jar);
      assert.equal((await visit(callback.replace(second.ID, first.ID), jar)).status, 403);
    });

    test('another state, a missing code, another issuer and an error of the provider are refused', async () => {
      const profile = await createProfile(app(), provider);
      addUser();
      const refuse = async (change: (parameters: URLSearchParams) => void) => {
        const jar: CookieJar = new Map();
        const url = new URL(await walkToCallback(app(), profile.LoginURL, jar));
        change(url.searchParams);
        const response = await visit(url.href, jar);
        assert.equal(response.status, 403, url.search);
        assert.match(await response.text(), /response of the identity provider is refused/);
      };
      await refuse(parameters => parameters.set('state', 'other'));
      await refuse(parameters => parameters.delete('state'));
      await refuse(parameters => parameters.append('state', 'other'));
      await refuse(parameters => parameters.delete('code'));
      await refuse(parameters => parameters.set('code', 'forged'));
      await refuse(parameters => parameters.set('iss', 'https://other.example'));
      await refuse(parameters => parameters.delete('iss'));
      await refuse(parameters => parameters.set('error', 'access_denied'));
    });

    test('a target outside the dashboard is replaced', async () => {
      const profile = await createProfile(app(), provider);
      addUser();
      for (const next of ['//evil.example', '/\\evil.example', 'https://evil.example/', '/\t/evil.example', 'apis']) {
        const { response } = await signOn(`${profile.LoginURL}?next=${encodeURIComponent(next)}`);
        assert.equal(response.headers.get('location'), '/', next);
      }
    });

    test('only registered users: a verified address signs on as the account of the same organisation', async () => {
      const profile = await createProfile(app(), provider, { SSOOnlyForRegisteredUsers: true });
      const { orgId } = await app().stranger();
      const elsewhere = await addPerson(app(), { org_id: orgId });
      const person = await addPerson(app(), { user_permissions: { apis: 'read' } });
      addUser({ email: person.username.toUpperCase() });
      const { session } = await signOn(profile.LoginURL);
      assert.deepEqual([session.user.id, session.permissions], [person.id, { apis: 'read' }]);
      addUser({ email: person.username, email_verified: false });
      await assertRefused(profile.LoginURL, /has not verified it/);
      addUser({ email: person.username, email_verified: 'true' });
      await assertRefused(profile.LoginURL, /has not verified it/);
      addUser({ email: elsewhere.username });
      await assertRefused(profile.LoginURL, /Only registered users/);
      addUser({ email: person.username.replace(/^p/, '\u212a') });
      await assertRefused(profile.LoginURL, /no usable e-mail address/);
    });

    test('a profile of a user who is no administrator signs on to no account', async () => {
      const author = await addPerson(app(), { user_permissions: { idm: 'write' } });
      const administrator = await addPerson(app());
      const more = { SSOOnlyForRegisteredUsers: true };
      const profile = await createProfile(app(), provider, more, author.accessKey);
      addUser({ email: administrator.username });
      await assertRefused(profile.LoginURL, /Only registered users/);
    });

    test('an account stays linked to the user of the provider who signed on to it first', async () => {
      const profile = await createProfile(app(), provider, { SSOOnlyForRegisteredUsers: true });
      const person = await addPerson(app(), { user_permissions: { apis: 'read' } });
      const first = addUser({ email: person.username });
      assert.equal((await signOn(profile.LoginURL)).session.user.id, person.id);
      // The provider gives the address to another user, and the first user another address.
      const second = addUser({ email: person.username });
      provider.users.set(first.id, { email: `${first.id}@new.example.org`, email_verified: false });
      await assertRefused(profile.LoginURL, /belongs to another user of the identity provider/);
      const other = await createProfile(app(), provider, { SSOOnlyForRegisteredUsers: true });
      await assertRefused(other.LoginURL, /belongs to another user of the identity provider/);
      provider.account = first.id;
      assert.equal((await signOn(other.LoginURL)).session.user.id, person.id);
      const path = `/api/users/${person.id}/links`;
      const { links } = (await app().ask('GET', path)).body;
      assert.deepEqual(
        links.map((it: { issuer: string; subject: string }) => [it.issuer, it.subject]),
        [[provider.issuer, first.id]],
      );
      const { accessKey: foreign } = await app().stranger();
      const weak = await addPerson(app(), { user_permissions: { IsAdmin: 'admin', apis: 'deny' } });
      assert.equal((await app().ask('DELETE', path, { credential: foreign })).status, 404);
      for (const method of ['GET', 'DELETE'])
        assert.equal((await app().ask(method, path, { credential: weak.accessKey })).status, 403);
      assert.equal((await app().ask('DELETE', path)).body.Meta, 1);
      provider.account = second.id;
      assert.equal((await signOn(other.LoginURL)).session.user.id, person.id);
      provider.account = first.id;
      await assertRefused(other.LoginURL, /Only registered users/);
    });

    test('a new e-mail address or the deletion of an account removes its links', async () => {
      const profile = await createProfile(app(), provider, { SSOOnlyForRegisteredUsers: true });
      const person = await addPerson(app());
      addUser({ email: person.username });
      await signOn(profile.LoginURL);
      const { records } = app().application.installation;
      const count = async () =>
        (await records.db.selectFrom('account_links').selectAll().where('user_id', '=', person.id).execute()).length;
      assert.equal(await count(), 1);
      const body = { email_address: `n${person.username}` };
      assert.equal((await app().ask('PUT', `/admin/users/${person.id}`, { body })).status, 200);
      assert.equal(await count(), 0);
      await assertRefused(profile.LoginURL, /Only registered users/);
      addUser({ email: body.email_address });
      await signOn(profile.LoginURL);
      await app().ask('DELETE', `/api/users/${person.id}`);
      assert.equal(await count(), 0);
    });

    test('a profile that signs users in to no account refuses the address of one', async () => {
      const author = await addPerson(app(), { user_permissions: { idm: 'write' } });
      const profile = await createProfile(app(), provider, {}, author.accessKey);
      addUser({ email: author.username });
      await assertRefused(profile.LoginURL, /may not sign users in to their accounts/);
      addUser();
      await signOn(profile.LoginURL);
    });

    test('failed sign-ons fill neither the audit log nor the log', async () => {
      const profile = await createProfile(app(), provider);
      const { records } = app().application.installation;
      const count = async () =>
        (await records.db.selectFrom('audit').select('body').where('action', '=', 'signOn').execute()).filter(it =>
          it.body.includes(profile.ID),
        ).length;
      const callback = `${app().url.dashboard}${new URL(profile.RedirectURL).pathname}?code=c&state=s`;
      for (let round = 0; round < 13; round++)
        await Promise.all(Array.from({ length: 10 }, () => visit(callback, new Map())));
      assert.equal(await count(), 100);
    });

    test('constraints on domain and group refuse all others', async () => {
      const constraints = { ProviderConstraintsDomain: 'example.org', ProviderConstraintsGroup: 'staff' };
      const profile = await createProfile(app(), provider, constraints);
      addUser({ groups: ['staff'] });
      await signOn(profile.LoginURL);
      for (const email of ['a@evil-example.org', 'a@sub.example.org', 'a@example.org.evil.example']) {
        addUser({ groups: ['staff'], email });
        await assertRefused(profile.LoginURL, /addresses of this domain/);
      }
      addUser({ groups: ['other'] });
      await assertRefused(profile.LoginURL, /no group that may sign on/);
      addUser({ groups: ['staff'], email: undefined });
      await assertRefused(profile.LoginURL, /no usable e-mail address/);
    });

    test('a change or deletion of the profile ends its sessions, and an inactive one is not found', async () => {
      const profile = await createProfile(app(), provider);
      addUser();
      const path = `/api/sso/profiles/${profile.ID}`;
      const { browser } = await signOn(profile.LoginURL);
      const { body: view } = await app().ask('GET', path);
      assert.equal((await app().ask('PUT', path, { body: { ...view, Active: false } })).status, 200);
      assert.equal((await browser.ask('GET', '/api/session')).status, 401);
      const login = app().url.dashboard + new URL(profile.LoginURL).pathname;
      assert.equal((await fetch(login, { redirect: 'manual' })).status, 404);
      await app().ask('PUT', path, { body: { ...view, Active: true } });
      const again = await signOn(profile.LoginURL);
      await app().ask('DELETE', path);
      assert.equal((await again.browser.ask('GET', '/api/session')).status, 401);
      assert.equal((await fetch(login, { redirect: 'manual' })).status, 404);
    });

    test('a sign-out goes on to a provider with single logout, with the ID token of the sign-on, or ends alone', async () => {
      const ProviderConfig = toClient(provider, { SingleLogout: true });
      const profile = await createProfile(app(), provider, { ProviderConfig });
      const { id } = addUser();
      const { browser, jar } = await signOn(profile.LoginURL);
      const { body } = await browser.ask('DELETE', '/api/session');
      const url = new URL(body.Meta);
      assert.equal(url.origin + url.pathname, `${provider.issuer}/session/end`);
      assert.equal(url.searchParams.get('post_logout_redirect_uri'), `${dashboardUrl}/`);
      const [, claims = ''] = url.searchParams.get('id_token_hint')!.split('.');
      const { aud, sub } = JSON.parse(Buffer.from(claims, 'base64url').toString());
      assert.deepEqual([aud, sub], [oidcClient.id, id]);
      assert.equal((await browser.ask('GET', '/api/session')).status, 401);
      const question = await (await visit(url.href, jar)).text();
      const [, xsrf = ''] = /name="xsrf" value="([^"]*)"/.exec(question) ?? [];
      const form = { method: 'POST', body: new URLSearchParams({ xsrf, logout: 'yes' }) };
      const ended = await visit(`${provider.issuer}/session/end/confirm`, jar, form);
      assert.equal(ended.headers.get('location'), `${dashboardUrl}/`);

      const own = await createProfile(app(), provider);
      assert.equal((await (await signOn(own.LoginURL)).browser.ask('DELETE', '/api/session')).body.Meta, null);
      const other = await startOidcProvider();
      const stopped = await createProfile(app(), other, { ProviderConfig: toClient(other, { SingleLogout: true }) });
      other.users.set(id, provider.users.get(id)!);
      other.account = id;
      const last = await signOn(stopped.LoginURL);
      await other.close();
      const alone = await last.browser.ask('DELETE', '/api/session');
      assert.deepEqual([alone.status, alone.body.Meta], [200, null]);
      assert.equal((await last.browser.ask('GET', '/api/session')).status, 401);
    });

    test('a provider outside the networks of the organisation is not connected to', async () => {
      const { orgId, accessKey } = await app().stranger();
      const body = { networks: ['public'] };
      assert.equal((await app().ask('PUT', `/admin/organisations/${orgId}/grants`, { body })).status, 200);
      const profile = await createProfile(app(), provider, {}, accessKey);
      const login = app().url.dashboard + new URL(profile.LoginURL).pathname;
      const response = await fetch(login, { redirect: 'manual' });
      assert.equal(response.status, 502);
      assert.match(await response.text(), /identity provider is unavailable; quote [0-9a-f]{32}/);
    });

    test('a sign-on and its refusal are in the audit log, without code and state', async () => {
      const profile = await createProfile(app(), provider, { ProviderConstraintsDomain: 'nowhere.example' });
      addUser();
      await assertRefused(profile.LoginURL, /this domain/);
      const { body } = await app().ask('GET', '/api/audit-logs?action=signOn');
      const [last] = body.audit_logs;
      assert.equal(last.status, 403);
      assert.equal(new URL(last.url, 'http://x').search, '');
    });
  },
  { settings: { 'dashboard.url': dashboardUrl, 'sign_in.max_address_failures': '0' } },
);
