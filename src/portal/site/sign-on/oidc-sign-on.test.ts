import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { createProfile as buildSsoProfile } from '#portal/sso-profiles/rules.ts';
import { onEveryEngine, rememberSecrets } from '../../../../tests/support/app.ts';
import { testInstallation } from '../../../../tests/support/installation.ts';
import { readLastAudit } from '../../../../tests/support/last-audit.ts';
import { type CookieJar, type OidcProvider, oidcClient, startOidcProvider } from '../../../../tests/support/oidc.ts';
import { addDeveloper, requestPortal } from '../../../../tests/support/portal.ts';
import {
  addTeam,
  administratorProfile,
  assertRefusedSignOn,
  createOidcPortalProfile,
  createOidcProfileBody,
  findPortalUser,
  finishPortalSignOn,
  readSiteProfile,
  signOnToPortal,
  walkToPortalCallback,
} from '../../../../tests/support/portal-sign-on.ts';
import { sitePassword } from '../../../../tests/support/portal-site.ts';
import { createSiteClient } from '../../../../tests/support/site-client.ts';

rememberSecrets({ secret: oidcClient.secret });

onEveryEngine(
  'Single sign-on to the portal with OpenID Connect',
  app => {
    let provider: OidcProvider;
    before(async () => {
      provider = await startOidcProvider();
    });
    after(() => provider?.close());

    /** Adds a user of the provider, who signs in next. */
    function addUser(claims: Record<string, unknown> = {}) {
      const id = `u${createPublicId()}`;
      const email = `${id}@example.org`.toLowerCase();
      provider.users.set(id, { email, email_verified: true, name: 'Ann Van Example', ...claims });
      provider.account = id;
      return { id, email };
    }
    const createProfile = (more: object = {}) => createOidcPortalProfile(app(), provider, more);
    const teamsOf = async (email: string) =>
      (await findPortalUser(app(), email)).Teams.map((it: { ID: number }) => it.ID).sort();

    test('the first sign-on creates the account in all mapped teams, and the next page has the session', async () => {
      const first = await addTeam(app());
      const second = await addTeam(app(), first.organisation);
      const UserGroupMapping = { staff: String(first.ID), devs: String(second.ID), other: '99999' };
      const { ID, path } = await createProfile({ UserGroupMapping });
      const { email } = addUser({ groups: ['devs', 'unmapped', 'staff'] });
      const { status, text, headers, jar } = await signOnToPortal(app(), `${path}?next=/portal/private/apps%3Fx=1`);
      assert.equal(status, 200, text);
      assert.match(text, new RegExp(`of organisation ${first.organisation.Name}`));
      assert.match(text, /<a class="button" href="\/portal\/private\/apps\?x=1">Continue/);
      const cookie = headers.getSetCookie().find(line => line.startsWith('portal-session='))!;
      assert.match(cookie, /HttpOnly; SameSite=Strict/);
      const user = await findPortalUser(app(), email);
      const { First, Last, Role, Active, Provider, OrganisationID } = user;
      assert.deepEqual([First, Last], ['Ann', 'Van Example']);
      assert.deepEqual(
        [Role, Active, Provider, OrganisationID],
        ['consumer-team-member', true, ID, first.organisation.ID],
      );
      assert.deepEqual(await teamsOf(email), [first.ID, second.ID].sort());
      assert.deepEqual(await readLastAudit(app()), ['signOnToPortal', ID, '', 200]);
      assert.match(await readSiteProfile(app(), jar), new RegExp(email));
    });

    test('a later sign-on continues by itself, and changes no team without re-synchronisation', async () => {
      const first = await addTeam(app());
      const second = await addTeam(app());
      const UserGroupMapping = { staff: String(first.ID), devs: String(second.ID) };
      const { ID, path } = await createProfile({ UserGroupMapping });
      const { id, email } = addUser({ groups: ['staff'] });
      await signOnToPortal(app(), path);
      provider.users.set(id, { ...provider.users.get(id), groups: ['devs'] });
      const again = await signOnToPortal(app(), `${path}?next=/blog`);
      assert.equal(again.headers.get('refresh'), '0;url=/blog');
      assert.deepEqual(await teamsOf(email), [first.ID]);
      await requestPortal(app(), 'PUT', `/portal-api/sso_profiles/${ID}`, { ResyncTeams: true });
      await signOnToPortal(app(), path);
      assert.deepEqual(await teamsOf(email), [second.ID]);
      assert.equal((await findPortalUser(app(), email)).OrganisationID, second.organisation.ID);
    });

    test('the default team applies where no group matches, and the default organisation without one', async () => {
      const team = await addTeam(app());
      const { path } = await createProfile({ DefaultUserGroupID: String(team.ID), UserGroupMapping: { a: '1' } });
      const { email } = addUser({ groups: ['__proto__', 'constructor'] });
      await signOnToPortal(app(), path);
      assert.deepEqual(await teamsOf(email), [team.ID]);
      const plain = await createProfile({ DefaultRole: 'consumer-admin' });
      const other = addUser();
      await signOnToPortal(app(), plain.path);
      const { OrganisationID, Role } = await findPortalUser(app(), other.email);
      assert.deepEqual([OrganisationID, Role], [1, 'consumer-admin']);
    });

    test('an unknown team, and teams of several organisations, refuse the sign-on without an account', async () => {
      const one = await addTeam(app());
      const other = await addTeam(app());
      const divided = { one: String(one.ID), other: String(other.ID) };
      for (const [UserGroupMapping, message] of [
        [{ one: '99999' }, /team that does not exist/],
        [{ one: 'no number' }, /team that does not exist/],
        [divided, /teams of several organisations/],
      ] as const) {
        const { path } = await createProfile({ UserGroupMapping });
        const { email } = addUser({ groups: ['one', 'other'] });
        assertRefusedSignOn(await signOnToPortal(app(), path), message);
        assert.equal(await findPortalUser(app(), email), undefined);
      }
    });

    test('an unknown user, another domain, another group and an unverified address are refused in safe words', async () => {
      for (const [more, claims, message] of [
        [{ SSOOnlyForRegisteredUsers: true }, {}, /Only registered users may sign on/],
        [{ ProviderConstraintsDomain: 'example.com' }, {}, /addresses of this domain/],
        [{ ProviderConstraintsGroup: 'staff' }, { groups: ['other'] }, /no group that may sign on/],
        [{}, { email_verified: false }, /has not verified your e-mail address/],
        [{}, { email: 'no address' }, /no usable e-mail address/],
      ] as const) {
        const { ID, path } = await createProfile(more);
        const { email } = addUser(claims);
        assertRefusedSignOn(await signOnToPortal(app(), path), message);
        assert.deepEqual(await readLastAudit(app()), ['signOnToPortal', ID, '', 403]);
        assert.equal(await findPortalUser(app(), email), undefined);
      }
      const trusting = await createProfile({ TrustUnverifiedEmail: true });
      addUser({ email_verified: false });
      assert.equal((await signOnToPortal(app(), trusting.path)).status, 200);
    });

    test('an account is linked by a verified address, and its password opens nothing from then on', async () => {
      const { Email, ID } = await addDeveloper(app(), { Password: sitePassword });
      const before = createSiteClient(app());
      assert.equal((await before.signIn(Email)).status, 303);
      const { path, ID: profileId } = await createProfile({ SSOOnlyForRegisteredUsers: true });
      const { id } = addUser({ email: Email });
      const { jar, text } = await signOnToPortal(app(), path);
      assert.match(await readSiteProfile(app(), jar), new RegExp(Email, 'i'), text);
      assert.equal((await requestPortal(app(), 'GET', `/portal-api/users/${ID}`)).Provider, profileId);
      assert.doesNotMatch((await before.get('/')).text, /Sign out/, 'sessions of the password have ended');
      assert.equal((await createSiteClient(app()).signIn(Email)).status, 401);
      const refused = await app().ask('PUT', `/portal-api/users/${ID}`, { body: { Password: sitePassword } });
      assert.match(refused.text, /Password: must be empty: the user signs on with/);
      provider.users.set(id, { ...provider.users.get(id), email: 'renamed@example.org' });
      assert.equal((await signOnToPortal(app(), path)).status, 200, 'the link finds the account');
      addUser({ email: Email });
      assertRefusedSignOn(await signOnToPortal(app(), path), /belongs to another user of the identity provider/);
    });

    test('a link ends with another provider of the account, and with the account', async () => {
      const { path } = await createProfile();
      const { id, email } = addUser();
      await signOnToPortal(app(), path);
      const { ID } = await findPortalUser(app(), email);
      const unknown = await app().ask('PUT', `/portal-api/users/${ID}`, { body: { Provider: 'unknown' } });
      assert.match(unknown.text, /Provider: must be password, or the ID of a single sign-on profile/);
      await requestPortal(app(), 'PUT', `/portal-api/users/${ID}`, { Provider: 'password', Password: sitePassword });
      assert.equal((await createSiteClient(app()).signIn(email)).status, 303);
      provider.users.set(id, { ...provider.users.get(id), email_verified: false });
      assertRefusedSignOn(await signOnToPortal(app(), path), /has not verified/);
      await requestPortal(app(), 'DELETE', `/portal-api/users/${ID}`);
      provider.users.set(id, { ...provider.users.get(id), email_verified: true });
      assert.equal((await signOnToPortal(app(), path)).status, 200);
      assert.notEqual((await findPortalUser(app(), email)).ID, ID);
    });

    test('an inactive account is refused, also a linked one', async () => {
      const { path } = await createProfile();
      const { email } = addUser();
      await signOnToPortal(app(), path);
      const { ID } = await findPortalUser(app(), email);
      await requestPortal(app(), 'PUT', `/portal-api/users/${ID}`, { Active: false });
      assertRefusedSignOn(await signOnToPortal(app(), path), /account is inactive/);
      const waiting = await addDeveloper(app(), { Active: false });
      addUser({ email: waiting.Email });
      assertRefusedSignOn(await signOnToPortal(app(), path), /account is inactive/);
    });

    test('administrators sign on by their own profiles only, and are not created without the setting', async () => {
      const admin = await addDeveloper(app(), { Role: 'provider-admin' });
      const profile = await createProfile({ ActionType: administratorProfile });
      addUser({ email: admin.Email });
      const { text, headers } = await signOnToPortal(app(), profile.path);
      assert.equal(headers.get('refresh'), '0;url=/admin', text);
      assert.equal((await requestPortal(app(), 'GET', `/portal-api/users/${admin.ID}`)).Provider, 'password');
      addUser();
      assertRefusedSignOn(await signOnToPortal(app(), profile.path), /No administrator of this portal/);
      const developer = await addDeveloper(app());
      addUser({ email: developer.Email });
      assertRefusedSignOn(await signOnToPortal(app(), profile.path), /not one of an administrator/);
      const developers = await createProfile();
      addUser({ email: admin.Email });
      assertRefusedSignOn(await signOnToPortal(app(), developers.path), /not one of a developer/);
    });

    test('a callback is accepted only in the browser that began the sign-on, and once', async () => {
      const { path } = await createProfile();
      addUser();
      const jar: CookieJar = new Map();
      const callback = await walkToPortalCallback(app(), path, jar);
      const other: CookieJar = new Map();
      assertRefusedSignOn(await finishPortalSignOn(callback, other), /has begun no sign-on/);
      await walkToPortalCallback(app(), path, other);
      assertRefusedSignOn(await finishPortalSignOn(callback, other), /response of the identity provider was refused/);
      const flow = jar.get(app().url.portal)!.get('portal-sign-on')!;
      assert.equal((await finishPortalSignOn(callback, jar)).status, 200);
      assert.equal(jar.get(app().url.portal)!.has('portal-sign-on'), false);
      for (const sent of [flow, `${flow}x`, '']) {
        const replay: CookieJar = new Map([[app().url.portal, new Map([['portal-sign-on', sent]])]]);
        assert.equal((await finishPortalSignOn(callback, replay)).status, 403, sent);
      }
    });

    test('a session of before is replaced, and never taken over', async () => {
      const { path } = await createProfile();
      addUser();
      const jar: CookieJar = new Map();
      await signOnToPortal(app(), path, jar);
      const planted = jar.get(app().url.portal)!.get('portal-session')!;
      addUser();
      await signOnToPortal(app(), path, jar);
      assert.notEqual(jar.get(app().url.portal)!.get('portal-session'), planted);
      const former: CookieJar = new Map([[app().url.portal, new Map([['portal-session', planted]])]]);
      assert.equal(await readSiteProfile(app(), former), '');
    });

    test('of concurrent first sign-ons one creates the account, and all are signed on', async () => {
      const { path } = await createProfile();
      const { email } = addUser();
      const jars: CookieJar[] = [new Map(), new Map(), new Map()];
      const callbacks = [];
      for (const jar of jars) callbacks.push(await walkToPortalCallback(app(), path, jar));
      const results = await Promise.all(callbacks.map((url, place) => finishPortalSignOn(url, jars[place]!)));
      assert.deepEqual(
        results.map(it => it.status),
        [200, 200, 200],
      );
      assert.equal(results.filter(it => it.headers.get('refresh') === null).length, 1);
      assert.ok(await findPortalUser(app(), email));
    });

    test('a changed profile ends its sessions, and the sign-ons that have begun', async () => {
      const { ID, path } = await createProfile();
      addUser();
      const { jar } = await signOnToPortal(app(), path);
      assert.notEqual(await readSiteProfile(app(), jar), '');
      await requestPortal(app(), 'PUT', `/portal-api/sso_profiles/${ID}`, { Name: 'Renamed' });
      assert.equal(await readSiteProfile(app(), jar), '');
      await signOnToPortal(app(), path, jar);
      await requestPortal(app(), 'DELETE', `/portal-api/sso_profiles/${ID}`);
      assert.equal(await readSiteProfile(app(), jar), '');
      const gone = await finishPortalSignOn(`${app().url.portal}${path}`, new Map());
      assert.equal(gone.status, 404);
    });

    test('the path to continue at is one of this site', async () => {
      const { path } = await createProfile();
      addUser();
      await signOnToPortal(app(), path);
      for (const next of ['https://evil.example/', '//evil.example', '/\\evil.example', '/x%0d%0aset-cookie: a=b'])
        assert.match(
          (await signOnToPortal(app(), `${path}?next=${encodeURIComponent(next)}`)).headers.get('refresh')!,
          /^0;url=\/(x%0d%0aset-cookie:%20a=b)?$/i,
          next,
        );
    });

    test('the sign-in page offers usable profiles, those of administrators on the way to the admin app', async () => {
      const developers = await createProfile({ Name: 'Company <one>' });
      const administrators = await createProfile({ ActionType: administratorProfile });
      const unusable = await createProfile({ ProviderConfig: { UseProviders: [{ Name: 'openid-connect' }] } });
      const read = async (next: string) =>
        (await createSiteClient(app()).get(`/auth/password/login?next=${encodeURIComponent(next)}`)).text;
      const page = await read('/blog');
      assert.ok(page.includes(`href="${developers.path}?next=%2Fblog">Sign in with Company &lt;one&gt;</a>`), page);
      assert.ok(!page.includes(administrators.path) && !page.includes(unusable.path));
      assert.ok((await read('/admin/users')).includes(administrators.path));
      const broken = await finishPortalSignOn(app().url.portal + unusable.path, new Map());
      assertRefusedSignOn(broken, /identity provider is unavailable/, 502);
      assert.doesNotMatch(broken.text, /DiscoverURL/);
    });
  },
  { settings: { 'sign_in.max_address_failures': '1000' } },
);

onEveryEngine(
  'Administrators of the portal by single sign-on',
  app => {
    test('the setting creates an administrator at the first sign-on', async () => {
      const provider = await startOidcProvider();
      try {
        const { path } = await createOidcPortalProfile(app(), provider, { ActionType: administratorProfile });
        const email = `root-${createPublicId()}@example.org`.toLowerCase();
        provider.users.set('root', { email, email_verified: true });
        provider.account = 'root';
        const { text } = await signOnToPortal(app(), path);
        assert.match(text, /You are an administrator of this portal/);
        const { Role, OrganisationID, Teams } = await findPortalUser(app(), email);
        assert.deepEqual([Role, OrganisationID, Teams], ['provider-admin', 0, []]);
      } finally {
        await provider.close();
      }
    });
  },
  { settings: { 'portal.sso_creates_administrators': 'true' } },
);

test('a sign-on that one process began is completed once, by another process on the database', async () => {
  const provider = await startOidcProvider();
  const { start, close } = await testInstallation('postgres');
  try {
    const [one, two] = [await start('one'), await start('two')];
    const [first, second] = [one, two].map(it => it.application.urls.portal!) as [string, string];
    const body = createOidcProfileBody(first, provider);
    const author = { name: 'test', nowMs: Date.now() };
    await one.application.installation.services.ssoProfiles.insert(buildSsoProfile(body, author));
    provider.serve(`${first}/tib/auth/${body.ID}/openid-connect/callback`);
    provider.users.set('ann', { email: 'ann@example.org', email_verified: true });
    provider.account = 'ann';
    const jar: CookieJar = new Map();
    const callback = await walkToPortalCallback({ url: { portal: first } }, `/tib/auth/${body.ID}/openid-connect`, jar);
    jar.set(second, new Map(jar.get(first)));
    const { status, text } = await finishPortalSignOn(callback.replace(first, second), new Map(jar));
    assert.equal(status, 200, text);
    assert.match(await readSiteProfile({ url: { portal: second } }, jar), /ann@example\.org/);
    jar.get(first)!.set('portal-session', jar.get(second)!.get('portal-session')!);
    assert.match(await readSiteProfile({ url: { portal: first } }, jar), /ann@example\.org/);
    assert.equal((await finishPortalSignOn(callback, jar)).status, 403, 'replay at the other process');
  } finally {
    await close();
    await provider.close();
  }
});
