import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { mask } from '#people/single-sign-on/profiles/secrets.ts';
import { onEveryEngine, rememberSecrets } from '../../../tests/support/app.ts';

const portalTime = /^\d{4}-\d\d-\d\d \d\d:\d\d$/;
const secrets = { social: 'sso-social-secret', credential: 'sso-dashboard-credential', ldap: 'sso-ldap-password' };
rememberSecrets(secrets);

const provider = {
  Name: 'openid-connect',
  Key: 'client',
  Secret: secrets.social,
  Scopes: ['openid', 'email'],
  DiscoverURL: 'https://idp.example/.well-known/openid-configuration',
};
const oidc = () => ({
  ID: `oidc-${createPublicId()}`,
  Name: 'OIDC developers',
  OrgID: '0',
  ActionType: 'GenerateOrLoginDeveloperProfile',
  MatchedPolicyID: 'p',
  Type: 'redirect',
  ProviderName: 'SocialProvider',
  CustomEmailField: 'mail',
  CustomUserIDField: 'sub',
  ProviderConfig: {
    CallbackBaseURL: 'https://portal.example/',
    FailureRedirect: 'https://portal.example/?fail=true',
    UseProviders: [provider],
  },
  IdentityHandlerConfig: { DashboardCredential: secrets.credential },
  ProviderConstraintsDomain: 'example.org',
  ProviderConstraintsGroup: 'staff',
  ReturnURL: 'https://portal.example/sso',
  DefaultUserGroupID: '1',
  CustomUserGroupField: 'groups',
  UserGroupMapping: { devs: '9' },
  UserGroupSeparator: ',',
  SSOOnlyForRegisteredUsers: true,
  DefaultRole: 'consumer-admin',
  ResyncTeams: true,
  SingleLogout: false,
  TrustUnverifiedEmail: true,
});
const least = () => ({
  Name: `LDAP ${createPublicId()}`,
  ActionType: 'GenerateOrLoginUserProfile',
  ProviderName: 'ADProvider',
});

onEveryEngine('SSO profiles', app => {
  const create = (body: object) => app().ask('POST', '/portal-api/sso_profiles', { body });
  const make = async (body: object) => {
    const answer = await create(body);
    assert.equal(answer.status, 201, answer.text);
    return answer.body;
  };
  const put = (id: string, body: object) => app().ask('PUT', `/portal-api/sso_profiles/${id}`, { body });
  const readStored = (id: string) => app().application.installation.services.ssoProfiles.get(id);

  test('every member of a profile is stored and returned, with masked secrets', async () => {
    const given = oidc();
    const made = await make(given);
    const expected = {
      ...given,
      ProviderConfig: { ...given.ProviderConfig, UseProviders: [{ ...provider, Secret: mask }] },
      IdentityHandlerConfig: { DashboardCredential: mask },
    };
    assert.deepEqual(made, expected);
    const { status, body } = await app().ask('GET', `/portal-api/sso_profiles/${given.ID}`);
    assert.equal(status, 200);
    assert.deepEqual(body, expected);
  });

  test('three members suffice; ID and Type are derived from name and provider', async () => {
    const { ID, ...made } = await make({ ...least(), Name: 'Café & Friends!' });
    assert.equal(ID, 'cafe-friends');
    assert.deepEqual(made, {
      ...least(),
      Name: 'Café & Friends!',
      Type: 'passthrough',
      OrgID: '0',
      MatchedPolicyID: '',
      CustomEmailField: '',
      CustomUserIDField: '',
      ProviderConfig: {},
      IdentityHandlerConfig: {},
      ProviderConstraintsDomain: '',
      ProviderConstraintsGroup: '',
      ReturnURL: '',
      DefaultUserGroupID: '',
      CustomUserGroupField: '',
      UserGroupMapping: {},
      UserGroupSeparator: '',
      SSOOnlyForRegisteredUsers: false,
      DefaultRole: 'consumer-team-member',
      ResyncTeams: false,
      SingleLogout: false,
      TrustUnverifiedEmail: false,
    });
    const again = await create({ ...least(), Name: 'cafe friends' });
    assert.equal(again.status, 409);
    assert.deepEqual(again.body.errors, ['ID: another sign-on profile has this ID']);
    assert.equal((await create({ ...least(), ID })).status, 409);
    const nameless = await create({ ...least(), Name: '名前' });
    assert.equal(nameless.status, 422);
    assert.match(nameless.body.errors[0], /^ID: is required/);
  });

  test('secrets are sealed in the database at any depth, and opened by the store', async () => {
    const given = {
      ...least(),
      ProviderConfig: { LDAPAdminPassword: secrets.ldap, deep: [{ Secret: 'inner-secret' }] },
    };
    const { ID } = await make(given);
    const { db } = app().application.installation.records;
    const row = await db.selectFrom('portal_sso_profiles').select('body').where('id', '=', ID).executeTakeFirst();
    assert.ok(!row!.body.includes(secrets.ldap) && !row!.body.includes('inner-secret'));
    assert.deepEqual((await readStored(ID))?.ProviderConfig, given.ProviderConfig);
  });

  test('an update that sends the mask keeps the secret, another text replaces it, an empty one removes it', async () => {
    const { ID } = await make(oidc());
    const shown = (await app().ask('GET', `/portal-api/sso_profiles/${ID}`)).body;
    const { status, body } = await put(ID, { ...shown, Name: 'Renamed', SSOOnlyForRegisteredUsers: 'false' });
    assert.equal(status, 200);
    assert.deepEqual(body, { ...shown, Name: 'Renamed', SSOOnlyForRegisteredUsers: false });
    assert.deepEqual((await readStored(ID))?.ProviderConfig, oidc().ProviderConfig);
    assert.deepEqual((await readStored(ID))?.IdentityHandlerConfig, oidc().IdentityHandlerConfig);

    await put(ID, { IdentityHandlerConfig: { DashboardCredential: 'next' } });
    assert.deepEqual((await readStored(ID))?.IdentityHandlerConfig, { DashboardCredential: 'next' });
    const emptied = await put(ID, { IdentityHandlerConfig: { DashboardCredential: '' } });
    assert.deepEqual(emptied.body.IdentityHandlerConfig, { DashboardCredential: '' });
    assert.deepEqual((await readStored(ID))?.ProviderConfig, oidc().ProviderConfig);
  });

  test('a masked secret is matched by provider name, not by index', async () => {
    const github = { Name: 'github', Key: 'g', Secret: 'github-secret' };
    const twin = { ...provider, Key: 'second', Secret: 'second-secret' };
    const { ID } = await make({ ...oidc(), ProviderConfig: { UseProviders: [github, provider, twin] } });
    const maskSecret = (it: object) => ({ ...it, Secret: mask });
    const kept = await put(ID, { ProviderConfig: { UseProviders: [twin, github].map(maskSecret) } });
    assert.equal(kept.status, 200, kept.text);
    assert.deepEqual((await readStored(ID))?.ProviderConfig.UseProviders, [twin, github]);
  });

  test('a mask without a stored secret, or with a changed address, is refused', async () => {
    const created = await create({ ...least(), IdentityHandlerConfig: { DashboardCredential: mask } });
    assert.equal(created.status, 422);
    assert.match(created.body.errors[0], /^IdentityHandlerConfig\.DashboardCredential: is masked/);
    const { ID } = await make(oidc());
    const other = { Name: 'github', Secret: mask };
    const unknown = await put(ID, { ProviderConfig: { UseProviders: [other] } });
    assert.match(unknown.body.errors[0], /^ProviderConfig\.UseProviders\[0\]\.Secret: is masked/);
    const moved = { ...provider, Secret: mask, DiscoverURL: 'https://evil.example/' };
    const refused = await put(ID, { ProviderConfig: { UseProviders: [moved] } });
    assert.equal(refused.status, 422);
    assert.match(refused.body.errors[0], /Secret: must be sent again when DiscoverURL changes/);
    const numeric = await put(ID, { ProviderConfig: { LDAPAdminPassword: 5 } });
    assert.deepEqual(numeric.body.errors, ['ProviderConfig.LDAPAdminPassword: must be text']);
  });

  test('the list has rows with login URLs, newest first, in pages', async () => {
    const ids: string[] = [];
    const bases = [
      { ...oidc(), expected: 'https://portal.example/tib/auth/ID/openid-connect', type: 'openid-connect' },
      {
        ...least(),
        ProviderName: 'SAMLProvider',
        ProviderConfig: { SAMLBaseURL: 'https://saml.example' },
        expected: 'https://saml.example/tib/auth/ID/saml',
        type: 'saml',
      },
      {
        ...least(),
        ReturnURL: 'https://return.example/sso',
        expected: 'https://return.example/tib/auth/ID/ldap',
        type: 'ldap',
      },
      { ...least(), ProviderName: 'ProxyProvider', expected: 'http://127.0.0.1:0/tib/auth/ID/proxy', type: 'proxy' },
    ];
    for (const { expected: _e, type: _t, ...body } of bases) ids.unshift((await make(body)).ID);
    const list = async (query: string) => (await app().ask('GET', `/portal-api/sso_profiles?${query}`)).body;
    const rows = await list('per_page=4');
    for (const [place, { expected, type, Name, ActionType }] of bases.toReversed().entries()) {
      const { UpdatedAt, UpdatedBy, ...row } = rows[place];
      assert.match(UpdatedAt, portalTime);
      assert.notEqual(UpdatedBy, '');
      const LoginURL = expected.replace('ID', ids[place]!);
      const ID = ids[place];
      assert.deepEqual(row, {
        ID,
        Name,
        ActionType,
        LoginURL,
        RedirectURL: `${LoginURL}/callback`,
        SelectedProviderType: type,
      });
    }
    assert.deepEqual((await list('per_page=2&page=2'))[0], rows[2]);
    assert.deepEqual(await list('limit=1'), rows.slice(0, 1));
    assert.deepEqual(await list('page=900'), []);
  });

  test('an invalid member is refused with its path and the allowed values', async () => {
    const { ID } = await make(oidc());
    for (const [wrong, message] of [
      [{ ActionType: 'GenerateNothing' }, /^ActionType: must be one of GenerateOrLoginUserProfile, GenerateOrLogin/],
      [{ Type: 'post' }, /^Type: must be one of redirect, passthrough/],
      [{ ProviderName: 'X' }, /^ProviderName: must be one of SocialProvider, SAMLProvider, ADProvider, ProxyProvider/],
      [{ ProviderName: 'ADProvider', Type: 'redirect' }, /^Type: must be passthrough with ADProvider/],
      [{ Name: '' }, /^Name: /],
      [{ Name: 5 }, /^Name: /],
      [{ ProviderConfig: [] }, /^ProviderConfig: /],
      [{ ProviderConfig: 'x' }, /^ProviderConfig: /],
      [{ ProviderConfig: { UseProviders: {} } }, /^ProviderConfig\.UseProviders: must be a list/],
      [{ ProviderConfig: { UseProviders: [{ Name: '../x' }] } }, /^ProviderConfig\.UseProviders\[0\]\.Name: /],
      [{ ProviderConfig: { UseProviders: ['x'] } }, /^ProviderConfig\.UseProviders\[0\]\.Name: /],
      [{ IdentityHandlerConfig: 1 }, /^IdentityHandlerConfig: /],
      [{ UserGroupMapping: { a: [] } }, /^UserGroupMapping\.a: /],
      [{ SSOOnlyForRegisteredUsers: 'maybe' }, /^SSOOnlyForRegisteredUsers: /],
      [{ ReturnURL: 1 }, /^ReturnURL: /],
      [{ DefaultRole: 'super-admin' }, /^DefaultRole: must be one of consumer-team-member, consumer-admin/],
    ] as const) {
      for (const { status, body } of [await create({ ...oidc(), ...wrong }), await put(ID, wrong)]) {
        assert.equal(status, 422, JSON.stringify(wrong));
        assert.match(body.errors[0], message);
      }
    }
    assert.match((await create({ ...oidc(), ID: 'a/b' })).body.errors[0], /^ID: /);
    const missing = (await create({})).body.errors.map((line: string) => line.split(':')[0]);
    assert.deepEqual(missing.sort(), ['ActionType', 'Name', 'ProviderName']);
    for (const broken of ['', '{'])
      assert.equal((await app().ask('POST', '/portal-api/sso_profiles', { body: broken })).status, 422);
  });

  test('the ID cannot change, and a changed provider changes the type', async () => {
    const { ID } = await make(oidc());
    const { body } = await put(ID, { ID: 'other', ProviderName: 'ADProvider', UserGroupMapping: { ops: 4 } });
    assert.deepEqual([body.ID, body.Type, body.UserGroupMapping], [ID, 'passthrough', { ops: '4' }]);
    assert.equal((await app().ask('GET', '/portal-api/sso_profiles/other')).status, 404);
  });

  test('removed and unknown profiles are not found', async () => {
    const { ID } = await make(oidc());
    const { status, body } = await app().ask('DELETE', `/portal-api/sso_profiles/${ID}`);
    assert.equal(status, 200);
    assert.deepEqual(body, { status: 'ok' });
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const asked = method === 'PUT' ? { body: { Name: 'x' } } : {};
      const answer = await app().ask(method, `/portal-api/sso_profiles/${ID}`, asked);
      assert.equal(answer.status, 404);
      assert.deepEqual(answer.body, { status: 'error', errors: ['SSO profile not found'] });
    }
  });
});
