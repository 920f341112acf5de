import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine, rememberSecrets, startApp, type TestApp } from '../../../../tests/support/app.ts';
import {
  type CookieJar,
  type OidcProvider,
  oidcClient,
  startOidcProvider,
  visit,
} from '../../../../tests/support/oidc.ts';
import { requestPortal } from '../../../../tests/support/portal.ts';
import { createOidcPortalProfile, readSiteProfile, signOnToPortal } from '../../../../tests/support/portal-sign-on.ts';
import { addSiteDeveloper, sitePassword } from '../../../../tests/support/portal-site.ts';
import { createSiteClient } from '../../../../tests/support/site-client.ts';
import { toSharedProfileId } from '../../sso-profiles/identity-profile.ts';

rememberSecrets({ secret: oidcClient.secret });

const readField = (text: string, name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(text)?.[1] ?? '';

onEveryEngine('Single logout of the portal', app => {
  let provider: OidcProvider;
  before(async () => {
    provider = await startOidcProvider();
  });
  after(() => provider?.close());

  function addUser() {
    const id = `u${createPublicId()}`;
    const email = `${id}@example.org`.toLowerCase();
    provider.users.set(id, { email, email_verified: true, name: 'Ann Example' });
    provider.account = id;
    return email;
  }
  async function signOut(jar: CookieJar): Promise<Response> {
    const page = await readSiteProfile(app(), jar);
    const body = new URLSearchParams({ csrf_token: readField(page, 'csrf_token') });
    return visit(`${app().url.portal}/auth/logout`, jar, { method: 'POST', body });
  }

  test('a sign-out goes on to the provider, whose session ends too, and comes back', async () => {
    const { path } = await createOidcPortalProfile(app(), provider, { SingleLogout: true });
    const [first, jar] = [addUser(), new Map() as CookieJar];
    await signOnToPortal(app(), path, jar);
    const second = addUser();
    const { db } = app().application.installation.records;
    const { provider_session } = await db
      .selectFrom('sessions')
      .select('provider_session')
      .where('provider_session', '<>', '')
      .executeTakeFirstOrThrow();
    assert.doesNotMatch(provider_session, /eyJ/, 'the ID token is sealed');
    const reply = await signOut(jar);
    const [, url = ''] = /^0;url=(.*)$/.exec(reply.headers.get('refresh') ?? '') ?? [];
    assert.ok(url.startsWith(`${provider.issuer}/session/end?`), url);
    assert.match(await reply.text(), /You are signed out/);
    const hint = new URL(url).searchParams.get('id_token_hint') ?? '';
    const { aud, sub } = JSON.parse(Buffer.from(hint.split('.')[1] ?? '', 'base64url').toString());
    assert.deepEqual([aud, `${sub.toLowerCase()}@example.org`], [oidcClient.id, first], 'whose session ends');
    assert.equal(await readSiteProfile(app(), jar), '');
    const question = await (await visit(url, jar)).text();
    const body = new URLSearchParams({ xsrf: readField(question, 'xsrf'), logout: 'yes' });
    const ended = await visit(`${provider.issuer}/session/end/confirm`, jar, { method: 'POST', body });
    assert.equal(ended.headers.get('location'), `${app().url.portal}/`);
    await signOnToPortal(app(), path, jar);
    const page = await readSiteProfile(app(), jar);
    assert.ok(page.includes(second) && !page.includes(first), 'the provider asked for the user again');
  });

  test('the ID token is not sent to a provider that is not its issuer', async () => {
    const other = await startOidcProvider();
    try {
      const { path, ID } = await createOidcPortalProfile(app(), provider, { SingleLogout: true });
      const { ID: otherId } = await createOidcPortalProfile(app(), other, { SingleLogout: true });
      addUser();
      const jar: CookieJar = new Map();
      await signOnToPortal(app(), path, jar);
      // A change of a profile ends its sessions, but its provider may become another one at the same address.
      await app()
        .application.installation.records.db.updateTable('sessions')
        .set({ profile_id: toSharedProfileId(otherId) })
        .where('profile_id', '=', toSharedProfileId(ID))
        .execute();
      const [, url = ''] = /^0;url=(.*)$/.exec((await signOut(jar)).headers.get('refresh') ?? '') ?? [];
      assert.ok(url.startsWith(`${other.issuer}/session/end?`), url);
      assert.equal(new URL(url).searchParams.has('id_token_hint'), false);
    } finally {
      await other.close();
    }
  });

  test('without it, or with a password, the session of the portal alone ends', async () => {
    const { path, ID } = await createOidcPortalProfile(app(), provider);
    addUser();
    const jar: CookieJar = new Map();
    await signOnToPortal(app(), path, jar);
    const reply = await signOut(jar);
    assert.deepEqual([reply.status, reply.headers.get('location')], [303, '/']);
    assert.equal(await readSiteProfile(app(), jar), '');
    const user = await addSiteDeveloper(app());
    const client = createSiteClient(app());
    await client.signIn(user.Email);
    assert.equal((await client.post('/auth/logout', {})).location, '/');
    await requestPortal(app(), 'DELETE', `/portal-api/sso_profiles/${ID}`);
  });

  test('a profile of another kind of provider refuses it', async () => {
    const body = {
      ID: `saml-${createPublicId()}`,
      Name: 'Directory',
      ActionType: 'GenerateOrLoginDeveloperProfile',
      ProviderName: 'ADProvider',
      SingleLogout: true,
    };
    const answer = await app().ask('POST', '/portal-api/sso_profiles', { body });
    assert.equal(answer.status, 422);
    assert.match(answer.body.errors[0], /^SingleLogout: must be false with ADProvider/);
    const UseProviders = [{ Name: 'openid-connect', SingleLogout: true }];
    const misplaced = {
      ...body,
      ProviderName: 'SocialProvider',
      SingleLogout: false,
      ProviderConfig: { UseProviders },
    };
    const refused = await app().ask('POST', '/portal-api/sso_profiles', { body: misplaced });
    assert.match(
      refused.body.errors[0],
      /^ProviderConfig\.UseProviders\[0\]\.SingleLogout: is a member of the profile/,
    );
  });
});

describe('portal.sso_custom_login_url', () => {
  let app: TestApp;
  before(async () => {
    app = await startApp('sqlite', { settings: { 'portal.sso_custom_login_url': '/tib/auth/company/openid-connect' } });
  });
  after(() => app?.close());

  test('the sign-in page redirects there with the page to continue at, and has the form with local=1', async () => {
    const client = createSiteClient(app);
    assert.equal((await client.get('/auth/password/login')).location, '/tib/auth/company/openid-connect');
    const next = '/auth/password/login?next=%2Fportal%2Fprivate%2Fapps';
    assert.equal((await client.get(next)).location, '/tib/auth/company/openid-connect?next=%2Fportal%2Fprivate%2Fapps');
    assert.equal((await client.get('/auth/password/login?next=//evil.example')).location.includes('evil'), false);
    const user = await addSiteDeveloper(app);
    await client.get('/auth/password/login?local=1');
    assert.equal((await client.post('/auth/password/login', { login: user.Email, password: 'x' })).status, 401);
    assert.equal(
      (await client.post('/auth/password/login', { login: user.Email, password: sitePassword })).status,
      303,
    );
  });

  test('an address of the portal that leads back to the sign-in page is refused, or the page has the form', async () => {
    for (const value of ['/auth/password/login', '/auth/password/login?next=/x', '/portal/private/apps', '/admin'])
      await assert.rejects(
        startApp('sqlite', { settings: { 'portal.sso_custom_login_url': value } }),
        /portal\.sso_custom_login_url.*must not lead to the sign-in page/,
      );
    const own = 'https://dev.example.org';
    const settings = { 'portal.url': own, 'portal.sso_custom_login_url': `${own}/auth/password/login?next=%2F` };
    const loop = await startApp('sqlite', { settings });
    try {
      const { status, text } = await createSiteClient(loop).get('/auth/password/login');
      assert.equal(status, 200);
      assert.match(text, /<h1>Sign in<\/h1>/);
    } finally {
      await loop.close();
    }
  });

  test('a value that is neither an address nor a path is refused at the start', async () => {
    for (const value of ['//evil.example', 'javascript:alert(1)', 'login', '/a b', '/\\evil.example'])
      await assert.rejects(
        startApp('sqlite', { settings: { 'portal.sso_custom_login_url': value } }),
        /portal\.sso_custom_login_url/,
      );
  });
});
