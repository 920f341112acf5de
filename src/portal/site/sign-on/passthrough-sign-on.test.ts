import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine, rememberSecrets } from '../../../../tests/support/app.ts';
import { type CookieJar, visit } from '../../../../tests/support/oidc.ts';
import { addDeveloper, requestPortal } from '../../../../tests/support/portal.ts';
import {
  addTeam,
  assertRefusedSignOn,
  developerProfile,
  findPortalUser,
  finishPortalSignOn,
  readSiteProfile,
} from '../../../../tests/support/portal-sign-on.ts';
import { type SamlTestProvider, startSamlProvider } from '../../../../tests/support/saml.ts';
import { directoryBase, type Slapd, startSlapd } from '../../../../tests/support/services/slapd.ts';
import { createSiteClient } from '../../../../tests/support/site-client.ts';

const password = `directory-password-${createPublicId()}`;
rememberSecrets({ password });

let slapd: Slapd;
let saml: SamlTestProvider;
before(async () => {
  const ann = { uid: 'ann', password, mail: 'ann@example.org', groups: ['devs', 'staff'] };
  [slapd, saml] = await Promise.all([startSlapd([ann]), startSamlProvider()]);
});
after(() => Promise.all([slapd?.stop(), saml?.close()]));

onEveryEngine(
  'Single sign-on to the portal with directories, SAML and nonces',
  app => {
    const createProfile = async (body: object) => {
      const ID = `p-${createPublicId()}`;
      const profile = { ID, Name: `Profile ${ID}`, ActionType: developerProfile, ...body };
      await requestPortal(app(), 'POST', '/portal-api/sso_profiles', profile, 201);
      return { ID, Name: profile.Name };
    };
    const createDirectory = async (config: object = {}, more: object = {}) => {
      const ProviderConfig = {
        LDAPServer: '127.0.0.1',
        LDAPPort: String(slapd.port),
        LDAPUserDN: `uid=*USERNAME*,ou=people,${directoryBase}`,
        ...config,
      };
      const body = { ProviderName: 'ADProvider', ProviderConfig, CustomUserGroupField: 'departmentNumber', ...more };
      const { ID, Name } = await createProfile(body);
      return { ID, Name, path: `/tib/auth/${ID}/ldap` };
    };
    const createSaml = async (more: object = {}) => {
      const ProviderConfig = {
        IDPMetadataURL: saml.metadataUrl,
        SAMLBaseURL: app().url.portal,
        SAMLForenameClaim: 'first',
        SAMLSurnameClaim: 'last',
        FailureRedirect: 'https://portal.example/',
      };
      const body = { ProviderName: 'SAMLProvider', ProviderConfig, CustomUserGroupField: 'groups', ...more };
      return `/tib/auth/${(await createProfile(body)).ID}/saml`;
    };
    const removeUser = async (email: string) => {
      const user = await findPortalUser(app(), email);
      if (user) await requestPortal(app(), 'DELETE', `/portal-api/users/${user.ID}`);
    };

    test('the form of a directory on the sign-in page signs a user on, in the mapped teams', async () => {
      await removeUser('ann@example.org');
      const team = await addTeam(app());
      const { Name, path } = await createDirectory({}, { UserGroupMapping: { devs: String(team.ID) } });
      const visitor = createSiteClient(app());
      const page = await visitor.get('/auth/password/login?next=/blog');
      assert.ok(page.text.includes(`action="${path}"`) && page.text.includes(`Sign in with ${Name}`));
      const signedOn = await visitor.post(path, { username: 'ann', password, next: '/blog' });
      assert.equal(signedOn.status, 200, signedOn.text);
      assert.match(signedOn.text, new RegExp(`You are in team ${team.Name}`));
      assert.match(signedOn.text, /Sign out/);
      assert.match((await visitor.get('/portal/private/profile')).text, /ann@example\.org/);
      const { First, Provider } = await findPortalUser(app(), 'ann@example.org');
      assert.deepEqual([First, Provider.startsWith('p-')], ['Ann', true]);
    });

    test('a wrong password and an unavailable directory have different errors', async () => {
      const visitor = createSiteClient(app());
      const { path } = await createDirectory();
      await visitor.get(path);
      for (const wrong of ['wrong', '']) {
        const refused = await visitor.post(path, { username: 'ann', password: wrong });
        assert.equal(refused.status, 401);
        assert.match(refused.text, /Wrong user name or password/);
      }
      const dead = await createDirectory({ LDAPPort: '9' });
      const unavailable = await visitor.post(dead.path, { username: 'ann', password });
      assert.equal(unavailable.status, 502);
      assert.match(unavailable.text, /identity provider is unavailable/);
    });

    test('the test of a profile tells its state, and what is missing in its configuration', async () => {
      const runTest = (ID: string) => requestPortal(app(), 'POST', `/portal-api/sso_profiles/${ID}/test`);
      const usable = await runTest((await createDirectory()).ID);
      assert.deepEqual([usable.status, usable.checks[0].check], ['ok', 'connection'], JSON.stringify(usable));
      const dead = await runTest((await createDirectory({ LDAPPort: '9' })).ID);
      assert.deepEqual([dead.status, dead.checks[0].status], ['error', 'failed']);
      const incomplete = await runTest((await createDirectory({ LDAPServer: '' })).ID);
      assert.match(incomplete.message, /^ProviderConfig\.LDAPServer: /);
      const proxy = await runTest((await createProfile({ ProviderName: 'ProxyProvider' })).ID);
      assert.match(proxy.message, /stored only/);
    });

    test('tests of profiles are limited by wrong passwords, and by those that wait for a provider', async () => {
      const search = { LDAPUserDN: '', LDAPAdminUser: `cn=admin,${directoryBase}`, LDAPAdminPassword: 'wrong' };
      const found = { LDAPBaseDN: directoryBase, LDAPFilter: '(uid=*USERNAME*)' };
      const { ID } = await createDirectory({ ...search, ...found });
      const runTest = async () => (await app().ask('POST', `/portal-api/sso_profiles/${ID}/test`)).status;
      const statuses = [];
      for (let attempt = 0; attempt < 11; attempt++) statuses.push(await runTest());
      assert.deepEqual([statuses[0], statuses.at(-1)], [200, 429]);
      const { providerSlots, defaultOrgId } = app().application.installation.services;
      const orgId = await defaultOrgId();
      const { promise: held, resolve: release } = Promise.withResolvers<void>();
      const waiting = Array.from({ length: 10 }, () => providerSlots.run(orgId, () => held));
      assert.equal(await runTest(), 503);
      release();
      await Promise.all(waiting);
    });

    test('a broker cannot get a nonce for a user who may not sign on', async () => {
      const body = { EmailAddress: 'ann@example.org', UserNotAllowed: true };
      assert.equal((await app().ask('POST', '/portal-api/sso', { body })).status, 403);
    });

    test('a form of another site signs no browser on', async () => {
      const { path } = await createDirectory();
      const body = new URLSearchParams({ username: 'ann', password });
      const response = await fetch(app().url.portal + path, { method: 'POST', body });
      assert.equal(response.status, 403);
      assert.equal(
        response.headers.getSetCookie().some(line => line.startsWith('portal-session=')),
        false,
      );
    });

    test('guesses of a password of the directory are limited', async () => {
      const { path } = await createDirectory();
      const visitor = createSiteClient(app());
      await visitor.get(path);
      let last = 0;
      for (let guess = 0; guess < 11; guess++)
        last = (await visitor.post(path, { username: 'ann', password: `${guess}` })).status;
      assert.equal(last, 429);
    });

    /** Begins a sign-on, and gets the response of the provider to it. */
    async function beginSaml(path: string, jar: CookieJar): Promise<string> {
      const started = await visit(app().url.portal + path, jar);
      assert.equal(started.status, 303, await started.text());
      return Buffer.from(await saml.respond(started.headers.get('location')!)).toString('base64');
    }
    /** The post of the provider's page comes from another site: the browser sends no cookie with it. */
    const postSaml = (path: string, SAMLResponse: string) =>
      visit(`${app().url.portal}${path}/callback`, new Map(), {
        method: 'POST',
        headers: { 'sec-fetch-site': 'cross-site' },
        body: new URLSearchParams({ SAMLResponse }),
      });

    test('a user signs on with SAML, and the response is accepted once and in its browser', async () => {
      const team = await addTeam(app());
      const path = await createSaml({ UserGroupMapping: { devs: String(team.ID) } });
      const email = `bob-${createPublicId()}@example.org`.toLowerCase();
      saml.user = { id: 'bob', attributes: { email, first: 'Bob', last: 'Example', groups: ['devs'] } };
      const jar: CookieJar = new Map();
      const encoded = await beginSaml(`${path}?next=/blog`, jar);
      const posted = await postSaml(path, encoded);
      assert.equal(posted.status, 303, await posted.text());
      const location = app().url.portal + posted.headers.get('location');
      assert.equal((await postSaml(path, encoded)).status, 403, 'replay');
      assertRefusedSignOn(await finishPortalSignOn(location, new Map()), /has begun no sign-on/);
      const { text } = await finishPortalSignOn(location, jar);
      assert.match(text, new RegExp(`You are in team ${team.Name}`), text);
      assert.match(await readSiteProfile(app(), jar), new RegExp(email));
      const { First, Last } = await findPortalUser(app(), email);
      assert.deepEqual([First, Last], ['Bob', 'Example']);
      assertRefusedSignOn(await finishPortalSignOn(location, new Map()), /has begun no sign-on/);
    });

    test('the metadata of the service provider name its address, and a forged response is refused', async () => {
      const path = await createSaml();
      const metadata = await (await fetch(`${app().url.portal}${path}/metadata`)).text();
      assert.ok(metadata.includes(`Location="${app().url.portal}${path}/callback"`), metadata);
      const forged = await postSaml(path, Buffer.from('<Response/>').toString('base64'));
      assert.equal(forged.status, 403);
      assert.match(await forged.text(), /response of the identity provider was refused/);
      assert.equal((await postSaml(path, '')).status, 400);
    });

    const createNonce = async (body: object) => (await requestPortal(app(), 'POST', '/portal-api/sso', body)).Meta;
    const useNonce = (nonce: string, jar: CookieJar = new Map()) =>
      finishPortalSignOn(`${app().url.portal}/sso?nonce=${nonce}`, jar);

    test('a nonce signs a developer on, once', async () => {
      const team = await addTeam(app());
      const EmailAddress = `carl-${createPublicId()}@example.org`.toLowerCase();
      const body = { ForSection: 'portal', EmailAddress, DisplayName: 'Carl Example', GroupID: String(team.ID) };
      const nonce = await createNonce(body);
      const jar: CookieJar = new Map();
      assert.match((await useNonce(nonce, jar)).text, new RegExp(`You are in team ${team.Name}`));
      assert.match(await readSiteProfile(app(), jar), new RegExp(EmailAddress));
      assertRefusedSignOn(await useNonce(nonce), /expired or was used already/);
      assertRefusedSignOn(await useNonce('x'.repeat(300)), /expired or was used already/);
      const registered = await createNonce({ EmailAddress: 'unknown@example.org', SSOOnlyForRegisteredUsers: true });
      assertRefusedSignOn(await useNonce(registered), /Only registered users/);
    });

    test('a nonce of the portal opens nothing at the dashboard, nor inside of a page', async () => {
      const { Email: EmailAddress } = await addDeveloper(app());
      const nonce = await createNonce({ EmailAddress });
      assert.equal((await fetch(`${app().url.dashboard}/tap?nonce=${nonce}`, { redirect: 'manual' })).status, 403);
      const url = `${app().url.portal}/sso?nonce=${nonce}`;
      assert.equal((await fetch(url, { headers: { 'sec-fetch-dest': 'iframe' } })).status, 403);
      assert.equal((await fetch(url, { method: 'HEAD' })).status, 404);
      assert.equal((await useNonce(nonce)).status, 200, 'it was not used up');
    });

    test('a nonce for the admin section signs on administrators only', async () => {
      const admin = await addDeveloper(app(), { Role: 'provider-admin' });
      const developer = await addDeveloper(app());
      const nonces = await Promise.all(
        [admin, developer].map(it => createNonce({ ForSection: 'dashboard', EmailAddress: it.Email })),
      );
      assert.equal((await useNonce(nonces[0])).headers.get('refresh'), '0;url=/admin');
      assertRefusedSignOn(await useNonce(nonces[1]), /not one of an administrator/);
    });
  },
  { settings: { 'sign_in.max_address_failures': '1000' } },
);
