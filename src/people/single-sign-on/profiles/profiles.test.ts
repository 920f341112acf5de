import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine, rememberSecrets } from '../../../../tests/support/app.ts';
import { addPerson } from '../../../../tests/support/browser.ts';
import { mask } from './secrets.ts';

const secret = `planted-oidc-${createPublicId()}`;
rememberSecrets({ secret });

const provider = {
  Name: 'openid-connect',
  Key: 'client',
  Secret: secret,
  DiscoverURL: 'https://idp.example/.well-known/openid-configuration',
};
const oidc = (more: Record<string, unknown> = {}, changed: Record<string, unknown> = {}) => ({
  Name: 'Staff',
  ProviderName: 'SocialProvider',
  ProviderConfig: { UseProviders: [{ ...provider, ...changed }] },
  ...more,
});

onEveryEngine(
  'Identity profiles',
  app => {
    const create = (body: unknown, credential?: string) =>
      app().ask('POST', '/api/sso/profiles', { body, ...(credential && { credential }) });
    const make = async (body: unknown, credential?: string): Promise<string> => {
      const answer = await create(body, credential);
      assert.equal(answer.status, 200, answer.text);
      return answer.body.Meta;
    };
    const read = async (id: string) => (await app().ask('GET', `/api/sso/profiles/${id}`)).body;
    const put = (id: string, body: unknown, credential?: string) =>
      app().ask('PUT', `/api/sso/profiles/${id}`, { body, ...(credential && { credential }) });
    const createGroup = async (user_permissions: Record<string, string>) =>
      (await app().ask('POST', '/api/usergroups', { body: { name: 'g', user_permissions } })).body.Meta as string;

    test('a profile is created with three members, read with masked secrets and its URLs, listed and deleted', async () => {
      const id = await make(oidc());
      const { CreatedAt, UpdatedAt, UpdatedBy, ...view } = await read(id);
      assert.deepEqual([CreatedAt, UpdatedBy], [UpdatedAt, app().credentials.admin_email]);
      assert.deepEqual(view, {
        Name: 'Staff',
        Active: true,
        ActionType: 'GenerateOrLoginUserProfile',
        Type: 'redirect',
        ProviderName: 'SocialProvider',
        ProviderConfig: {
          UseProviders: [
            {
              ...{ ...provider, Secret: mask, Scopes: ['openid', 'email', 'profile'] },
              ...{ SkipUserInfoRequest: false, SingleLogout: false },
            },
          ],
        },
        CustomEmailField: '',
        CustomUserIDField: '',
        CustomUserGroupField: '',
        UserGroupSeparator: '',
        UserGroupMapping: {},
        DefaultUserGroupID: '',
        ProviderConstraintsDomain: '',
        ProviderConstraintsGroup: '',
        SSOOnlyForRegisteredUsers: false,
        ID: id,
        OrgID: app().credentials.organisation_id,
        SignsInAccounts: true,
        LoginURL: `https://dashboard.example/tib/auth/${id}/openid-connect`,
        RedirectURL: `https://dashboard.example/tib/auth/${id}/openid-connect/callback`,
      });
      const { profiles } = (await app().ask('GET', '/api/sso/profiles?p=-1')).body;
      assert.ok(profiles.some((it: { ID: string }) => it.ID === id));
      assert.ok(!JSON.stringify(profiles).includes(secret));
      assert.equal((await app().ask('DELETE', `/api/sso/profiles/${id}`)).status, 200);
      assert.equal((await app().ask('GET', `/api/sso/profiles/${id}`)).status, 404);
      assert.equal((await app().ask('DELETE', `/api/sso/profiles/${id}`)).status, 404);
    });

    test('profiles are listed by state', async () => {
      const [on, off] = [await make(oidc()), await make({ ...oidc(), Active: false })];
      const list = async (query: string): Promise<string[]> =>
        (await app().ask('GET', `/api/sso/profiles?p=-1${query}`)).body.profiles.map((it: { ID: string }) => it.ID);
      const found = await Promise.all(['', '&state=active', '&state=inactive'].map(list));
      assert.deepEqual(
        found.map(ids => [ids.includes(on), ids.includes(off)]),
        [
          [true, true],
          [true, false],
          [false, true],
        ],
      );
    });

    test('a login URL with the segment of another provider is refused', async () => {
      const id = await make(oidc());
      for (const path of ['ldap', 'ldap/callback', 'OPENID-CONNECT', 'saml']) {
        const answer = await app().ask('GET', `/tib/auth/${id}/${path}`, { credential: null });
        assert.deepEqual([answer.status, /no such login URL/.test(answer.text)], [404, true], path);
      }
      const own = await app().ask('GET', `/tib/auth/${id}/openid-connect/callback`, { credential: null });
      assert.equal(own.status, 403);
    });

    test('secrets are sealed in the database', async () => {
      const id = await make(oidc());
      const { db } = app().application.installation.records;
      const row = await db.selectFrom('identity_profiles').select('body').where('id', '=', id).executeTakeFirst();
      assert.ok(!row!.body.includes(secret));
      const stored = await app().application.installation.services.identityProfiles.findActive(id);
      assert.deepEqual((stored!.ProviderConfig.UseProviders as unknown as (typeof provider)[])[0]!.Secret, secret);
    });

    test('the mask sent back keeps the secret, but not for another address', async () => {
      const id = await make(oidc());
      const view = await read(id);
      assert.equal((await put(id, { ...view, Name: 'Renamed' })).status, 200);
      assert.equal((await read(id)).Name, 'Renamed');
      const { identityProfiles } = app().application.installation.services;
      assert.ok(JSON.stringify(await identityProfiles.findActive(id)).includes(secret));
      view.ProviderConfig.UseProviders[0].DiscoverURL = 'https://evil.example/.well-known/openid-configuration';
      const moved = await put(id, view);
      assert.equal(moved.status, 400);
      assert.match(moved.body.Message, /Secret: must be sent again when DiscoverURL changes/);
      assert.equal((await create(oidc({}, { Secret: mask }))).status, 400);
    });

    test('a profile that cannot work is refused with the path of each error', async () => {
      const refused: [unknown, RegExp][] = [
        [oidc({ Name: ' ' }), /Name: is required/],
        [oidc({ ProviderName: 'ProxyProvider' }), /ProviderName: must be one of SocialProvider/],
        [oidc({ Type: 'passthrough' }), /Type: must be redirect with SocialProvider/],
        [oidc({ ActionType: 'GenerateOrLoginDeveloperProfile' }), /ActionType/],
        [oidc({ ProviderConfig: {} }), /ProviderConfig.UseProviders: is required/],
        [oidc({ ProviderConfig: { UseProviders: [provider, provider] } }), /must have one provider/],
        [oidc({}, { DiscoverURL: 'http://idp.example/.well-known/openid-configuration' }), /must be an https URL/],
        [oidc({}, { DiscoverURL: 'https://idp.example/' }), /must end with \/.well-known/],
        [oidc({}, { DiscoverURL: 'https://u:p@idp.example/.well-known/openid-configuration' }), /must be an https URL/],
        [oidc({}, { Scopes: ['email'] }), /must contain openid/],
        [oidc({}, { Scopes: ['openid', 'a b'] }), /must be a scope/],
        [oidc({}, { Misspelt: true }), /Misspelt/],
        [oidc({ Actve: false }), /did you mean Active\?/],
        [oidc({ UserGroupMapping: { staff: 'unknown' } }), /there is no user group unknown/],
        [oidc({ DefaultUserGroupID: 'unknown' }), /there is no user group unknown/],
      ];
      for (const [body, message] of refused) {
        const answer = await create(body);
        assert.equal(answer.status, 400, JSON.stringify(body));
        assert.match(answer.body.Message, message);
      }
    });

    test('a profile of another organisation is not found', async () => {
      const { accessKey } = await app().stranger();
      const id = await make(oidc());
      for (const method of ['GET', 'DELETE'])
        assert.equal((await app().ask(method, `/api/sso/profiles/${id}`, { credential: accessKey })).status, 404);
      assert.equal((await put(id, oidc(), accessKey)).status, 404);
      const { profiles } = (await app().ask('GET', '/api/sso/profiles', { credential: accessKey })).body;
      assert.deepEqual(profiles, []);
      const group = await createGroup({ apis: 'read' });
      assert.equal((await create(oidc({ DefaultUserGroupID: group }), accessKey)).status, 400);
    });

    test('a profile maps only to permissions that its author holds', async () => {
      const { accessKey } = await addPerson(app(), { user_permissions: { idm: 'write', apis: 'read' } });
      const reader = await createGroup({ apis: 'read' });
      const writer = await createGroup({ apis: 'write' });
      for (const more of [{ UserGroupMapping: { a: reader, b: writer } }, { DefaultUserGroupID: writer }]) {
        const answer = await create(oidc(more), accessKey);
        assert.equal(answer.status, 403, answer.text);
        assert.match(answer.body.Message, /you cannot grant apis: write/);
      }
      const id = await make(oidc({ UserGroupMapping: { a: reader } }), accessKey);
      assert.equal((await read(id)).SignsInAccounts, false);
      assert.equal((await put(id, oidc({ UserGroupMapping: { a: writer } }), accessKey)).status, 403);
    });

    test('only an administrator without denials changes or deletes a profile that signs users in to accounts', async () => {
      const author = await addPerson(app(), { user_permissions: { idm: 'write' } });
      const restricted = await addPerson(app(), { user_permissions: { IsAdmin: 'admin', users: 'deny' } });
      const id = await make(oidc());
      for (const { accessKey } of [author, restricted]) {
        for (const answer of [
          await put(id, oidc(), accessKey),
          await app().ask('DELETE', `/api/sso/profiles/${id}`, { credential: accessKey }),
        ]) {
          assert.equal(answer.status, 403, answer.text);
          assert.match(answer.body.Message, /an administrator wrote this profile/);
        }
      }
      assert.equal((await read(id)).SignsInAccounts, true);
    });

    test('a profile of an administrator with a denial signs users in to no account', async () => {
      const { accessKey } = await addPerson(app(), { user_permissions: { IsAdmin: 'admin', users: 'deny' } });
      assert.equal((await read(await make(oidc(), accessKey))).SignsInAccounts, false);
    });

    test('an inactive group counts with the permissions that it has when it becomes active', async () => {
      const { accessKey } = await addPerson(app(), { user_permissions: { idm: 'write', apis: 'read' } });
      const body = { name: 'later', active: false, user_permissions: { apis: 'write' } };
      const inactive = (await app().ask('POST', '/api/usergroups', { body })).body.Meta;
      for (const more of [{ UserGroupMapping: { a: inactive } }, { DefaultUserGroupID: inactive }]) {
        const answer = await create(oidc(more), accessKey);
        assert.deepEqual([answer.status, /cannot grant apis: write/.test(answer.text)], [403, true]);
      }
    });

    test('the denial of one group does not hide what another one gives', async () => {
      const { groups } = app().application.installation.services;
      const orgId = app().credentials.organisation_id;
      const group = { org_id: orgId, name: 'g', description: '', active: true, password_max_days: 0, created_at_ms: 0 };
      // A group of an earlier release may have permissions that no group gets today.
      const [full, denied] = [createPublicId(), createPublicId()];
      await groups.insert({ ...group, id: full, user_permissions: { IsAdmin: 'admin' } });
      await groups.insert({ ...group, id: denied, user_permissions: { apis: 'deny' } });
      const { accessKey } = await addPerson(app(), { user_permissions: { IsAdmin: 'admin', apis: 'deny' } });
      const answer = await create(oidc({ UserGroupMapping: { a: full, b: denied } }), accessKey);
      assert.deepEqual([answer.status, /cannot grant apis/.test(answer.text)], [403, true], answer.text);
    });

    test('an organisation is deleted with its profiles', async () => {
      const { orgId, accessKey } = await app().stranger();
      const id = await make(oidc(), accessKey);
      assert.equal((await app().ask('DELETE', `/admin/organisations/${orgId}`)).status, 200);
      assert.equal(await app().application.installation.services.identityProfiles.findActive(id), undefined);
    });
  },
  { settings: { 'dashboard.url': 'https://dashboard.example/' } },
);

onEveryEngine(
  'Identity profiles with a default group of the installation',
  app => {
    test('a profile without a default group of its own gives no more than its author holds', async () => {
      const { groups } = app().application.installation.services;
      await groups.insert({
        id: 'default-group',
        org_id: app().credentials.organisation_id,
        name: 'd',
        description: '',
        active: true,
        password_max_days: 0,
        user_permissions: { keys: 'write' },
        created_at_ms: 0,
      });
      const weak = await app().ask('POST', '/api/usergroups', {
        body: { name: 'w', user_permissions: { apis: 'read' } },
      });
      const { accessKey: credential } = await addPerson(app(), { user_permissions: { idm: 'write', apis: 'read' } });
      const create = (more: Record<string, unknown>) =>
        app().ask('POST', '/api/sso/profiles', { body: oidc(more), credential });
      const mapped = { UserGroupMapping: { a: weak.body.Meta } };
      const answer = await create(mapped);
      assert.deepEqual([answer.status, /cannot grant keys: write/.test(answer.text)], [403, true], answer.text);
      assert.equal((await create({ ...mapped, DefaultUserGroupID: weak.body.Meta })).status, 200);
    });
  },
  { settings: { 'sso.default_group_id': 'default-group' } },
);
