import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { catalogue } from '../../src/catalogue.ts';
import { type Asked, startApp, type TestApp } from '../support/app.ts';

/** Read, change, write: what a GET answers is accepted by the PUT of the same path, read-only members included. */

let app: TestApp;
before(async () => {
  app = await startApp('sqlite');
});
after(() => app?.close());

const ok = async (method: string, path: string, body?: unknown, more: Asked = {}) => {
  const answer = await app.ask(method, path, { ...more, ...(body === undefined ? {} : { body }) });
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`);
  return answer.body;
};

const definition = (more: object = {}) => ({
  name: `Round ${createPublicId()}`,
  use_keyless: true,
  proxy: { listen_path: `/r${createPublicId()}/`, target_url: 'http://127.0.0.1:1/' },
  version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
  ...more,
});
const gatewayPart = () => ({
  info: { name: `Round ${createPublicId()}`, state: { active: true } },
  upstream: { url: 'http://127.0.0.1:1/' },
  server: { listenPath: { value: `/r${createPublicId()}/`, strip: true } },
});
const document = (more: object = {}) => ({
  openapi: '3.0.3',
  info: { title: 'Round', version: '1' },
  paths: {},
  'x-gw-api-gateway': gatewayPart(),
  ...more,
});
const streams = { headers: { 'content-type': 'application/vnd.gw.streams.oas' } };

async function newApi(more: object = {}): Promise<string> {
  return (await ok('POST', '/api/apis', { api_definition: definition(more) })).ID;
}

const limits = () => ({
  rate: 5,
  per: 60,
  quota_max: 100,
  quota_renewal_rate: 3600,
  smoothing: { enabled: true, threshold: 1, step: 1, delay: 1, trigger: 0.5 },
});
async function rights() {
  const apiId = await newApi({ use_keyless: false });
  return {
    [apiId]: { api_id: apiId, versions: ['Default'], limit: limits(), allowed_urls: [{ url: '/a', methods: ['GET'] }] },
  };
}
const key = async () => ({
  ...limits(),
  access_rights: await rights(),
  tags: ['a'],
  meta_data: { any: { thing: [1] } },
});
const policy = async () => ({
  name: `P ${createPublicId()}`,
  ...limits(),
  access_rights: await rights(),
  partitions: { acl: true },
});

const portal = {
  oauthProvider: () =>
    ok('POST', '/portal-api/oauth-providers', {
      Name: 'Main',
      Type: 'Other',
      WellKnownURL: 'https://idp.example/.well-known/openid-configuration',
      RegistrationAccessToken: 'planted',
    }),
  product: async () =>
    ok('POST', '/portal-api/products', {
      Name: `Product ${createPublicId()}`,
      ProviderID: 1,
      APIDetails: [{ APIID: await newApi({ use_keyless: false }) }],
      Tags: ['t'],
    }),
  plan: () =>
    ok('POST', '/portal-api/plans', {
      Name: `Plan ${createPublicId()}`,
      ProviderID: 1,
      RateLimit: 5,
      Per: 60,
      MetaData: { a: 'b' },
    }),
  user: () =>
    ok('POST', '/portal-api/users', {
      Email: `${createPublicId()}@example.org`,
      First: 'A',
      Last: 'B',
      OrganisationID: 1,
      Role: 'consumer-team-member',
    }),
  app: async () => ok('POST', '/portal-api/apps', { Name: 'App', UserID: (await portal.user()).ID }),
  attribute: () =>
    ok('POST', '/portal-api/extended_attributes/1/custom-attributes', {
      Identifier: createPublicId(),
      Name: 'A',
      Type: 1,
    }),
  page: () => ok('POST', '/portal-api/pages', { Title: 'P', Path: `/${createPublicId()}`, Template: 'page' }),
  webhook: () =>
    ok('POST', '/portal-api/webhooks', {
      Name: 'Hook',
      URL: 'http://127.0.0.1:1/h',
      Method: 'POST',
      Events: ['UserRegistered'],
    }),
  post: () =>
    ok('POST', '/portal-api/posts', {
      Title: 'T',
      Content: 'c',
      Status: 'draft',
      Path: createPublicId(),
      Tags: ['one'],
      Categories: ['two'],
    }),
};

interface Resource {
  /** Makes one; the path it is read and written at. */
  make(): Promise<string>;
  readonly asked?: Asked;
}

const resources: Record<string, Resource> = {
  '/admin/organisations/{orgId}': {
    make: async () =>
      `/admin/organisations/${(await ok('POST', '/admin/organisations', { owner_name: 'R', ui: { login_page: {} } })).Meta}`,
  },
  '/admin/organisations/{orgId}/grants': {
    make: async () =>
      `/admin/organisations/${(await ok('POST', '/admin/organisations', { owner_name: 'R' })).Meta}/grants`,
  },
  '/admin/users/{userId}': { make: async () => `/admin/users/${(await newUser()).id}` },
  '/api/users/{userId}': { make: async () => `/api/users/${(await newUser()).id}` },
  '/api/usergroups/{groupId}': {
    async make() {
      const group = { name: 'Readers', description: 'd', user_permissions: { apis: 'read' } };
      return `/api/usergroups/${(await ok('POST', '/api/usergroups', group)).Meta}`;
    },
  },
  '/api/sso/profiles/{profileId}': {
    async make() {
      const DiscoverURL = 'https://idp.example/.well-known/openid-configuration';
      const UseProviders = [{ Name: 'openid-connect', Key: 'client', Secret: 'planted', DiscoverURL }];
      const profile = { Name: 'P', ProviderName: 'SocialProvider', ProviderConfig: { UseProviders } };
      return `/api/sso/profiles/${(await ok('POST', '/api/sso/profiles', profile)).Meta}`;
    },
  },
  '/api/preferences': { make: async () => '/api/preferences' },
  '/api/org/opa': { make: async () => '/api/org/opa' },
  '/api/org/permissions': { make: async () => '/api/org/permissions' },
  '/api/hooks/{hookId}': {
    async make() {
      const hook = {
        method: 'POST',
        target_path: 'http://127.0.0.1:1/',
        header_map: { a: 'b' },
        name: createPublicId(),
      };
      return `/api/hooks/${(await ok('POST', '/api/hooks', hook)).ID}`;
    },
  },
  '/api/apis/{apiId}': { make: async () => `/api/apis/${await newApi()}` },
  '/api/apis/{apiId}/access': { make: async () => `/api/apis/${await newApi()}/access` },
  '/api/apis/streams/{apiId}': {
    async make() {
      const body = JSON.stringify(document({ 'x-gw-streaming': { streams: {} } }));
      return `/api/apis/streams/${(await ok('POST', '/api/apis/streams', body, streams)).ID}`;
    },
    asked: streams,
  },
  '/api/apis/oas/{apiId}': { make: async () => `/api/apis/oas/${(await ok('POST', '/api/apis/oas', document())).ID}` },
  '/api/apis/oas/{apiId}/categories': {
    make: async () => `/api/apis/oas/${(await ok('POST', '/api/apis/oas', document())).ID}/categories`,
  },
  '/api/mcps/{apiId}': { make: async () => `/api/mcps/${(await ok('POST', '/api/mcps', document())).ID}` },
  '/gw/mcps/{apiId}': { make: async () => `/gw/mcps/${(await ok('POST', '/gw/mcps', document())).key}` },
  '/api/assets/{assetId}': {
    async make() {
      const asset = { name: 'Template', data: { tags: [{ name: 't' }], 'x-gw-api-gateway': { upstream: {} } } };
      return `/api/assets/${(await ok('POST', '/api/assets', asset)).Meta}`;
    },
  },
  '/gw/apis/{apiId}': { make: async () => `/gw/apis/${await newApi()}` },
  '/gw/apis/oas/{apiId}': { make: async () => `/gw/apis/oas/${(await ok('POST', '/gw/apis/oas', document())).key}` },
  '/api/portal/policies/{policyId}': {
    make: async () => `/api/portal/policies/${(await ok('POST', '/api/portal/policies', await policy())).Message}`,
  },
  '/api/keys/{keyId}': { make: async () => `/api/keys/${(await ok('POST', '/api/keys', await key())).key_id}` },
  '/api/apis/{apiId}/keys/{keyId}': {
    async make() {
      const body = await key();
      const [apiId] = Object.keys(body.access_rights);
      return `/api/apis/${apiId}/keys/${(await ok('POST', '/api/keys', body)).key_id}`;
    },
  },
  '/api/apis/keys/basic/{username}': {
    async make() {
      const path = `/api/apis/keys/basic/u${createPublicId()}`;
      await ok('POST', path, { ...(await key()), basic_auth_data: { password: 'a long password' } });
      return path;
    },
  },
  '/admin/org/keys/{keyId}': {
    async make() {
      const { Meta } = await ok('POST', '/admin/organisations', { owner_name: 'R' });
      await ok('POST', '/admin/org/keys', { org_id: Meta, ...limits() });
      return `/admin/org/keys/${Meta}`;
    },
  },
  '/gw/keys/{keyID}': { make: async () => `/gw/keys/${(await ok('POST', '/gw/keys', await key())).key}` },
  '/gw/org/keys/{orgID}': {
    async make() {
      const { Meta } = await ok('POST', '/admin/organisations', { owner_name: 'R' });
      await ok('POST', `/gw/org/keys/${Meta}`, limits());
      return `/gw/org/keys/${Meta}`;
    },
  },
  '/gw/policies/{policyID}': {
    make: async () =>
      `/gw/policies/${(await ok('POST', '/gw/policies', { id: createPublicId(), ...(await policy()) })).key}`,
  },
  '/gw/oauth/clients/{apiID}/{clientID}': {
    async make() {
      const apiId = await newApi({ use_keyless: false, use_oauth2: true });
      const client = { redirect_uri: 'http://127.0.0.1/cb', meta_data: { a: 1 }, dcr_registration: { provider: 'p' } };
      return `/gw/oauth/clients/${apiId}/${(await ok('POST', `/api/apis/oauth/${apiId}`, client)).client_id}`;
    },
  },
  '/portal-api/providers/{provider_id}': { make: async () => '/portal-api/providers/1' },
  '/portal-api/products/{product_id}': { make: async () => `/portal-api/products/${(await portal.product()).ID}` },
  '/portal-api/products/{product_id}/api-details/{api_id}': {
    async make() {
      const { ID, APIDetails } = await portal.product();
      return `/portal-api/products/${ID}/api-details/${APIDetails[0].APIID}`;
    },
  },
  '/portal-api/products/{product_id}/spec-details/{spec_id}': {
    async make() {
      const path = `/portal-api/products/${(await portal.product()).ID}/spec-details`;
      return `${path}/${(await ok('POST', path, { SpecAlias: 'v1', OASUrl: 'https://a.example/v1.json' })).ID}`;
    },
  },
  '/portal-api/products/{product_id}/docs/{doc_id}': {
    async make() {
      const path = `/portal-api/products/${(await portal.product()).ID}/docs`;
      const doc = { Title: 'Start', Content: 'x', Status: 'draft', Path: 'start', Tags: ['a'], Categories: ['b'] };
      return `${path}/${(await ok('POST', path, doc)).ID}`;
    },
  },
  '/portal-api/tags/{tag_id}': {
    make: async () => `/portal-api/tags/${(await ok('POST', '/portal-api/tags', { Name: createPublicId() })).ID}`,
  },
  '/portal-api/oauth-providers/{provider_id}': {
    make: async () => `/portal-api/oauth-providers/${(await portal.oauthProvider()).ID}`,
  },
  '/portal-api/oauth-providers/{provider_id}/client-types/{client_type_id}': {
    async make() {
      const path = `/portal-api/oauth-providers/${(await portal.oauthProvider()).ID}/client-types`;
      return `${path}/${(await ok('POST', path, { Name: 'Web', ResponseTypes: 'code', GrantType: 'pkce' })).ID}`;
    },
  },
  '/portal-api/plans/{plan_id}': { make: async () => `/portal-api/plans/${(await portal.plan()).ID}` },
  '/portal-api/catalogues/{catalogue_id}': {
    async make() {
      const [product, plan] = [await portal.product(), await portal.plan()];
      const body = { Name: `C ${createPublicId()}`, Products: [product.ID], Plans: [plan.ID] };
      return `/portal-api/catalogues/${(await ok('POST', '/portal-api/catalogues', body)).ID}`;
    },
  },
  '/portal-api/apps/{app_id}': {
    async make() {
      const [{ ID }, product, plan] = [await portal.app(), await portal.product(), await portal.plan()];
      const wanted = { PlanID: plan.ID, ProductIDs: [product.ID], ProvisionImmediately: true };
      await ok('PUT', `/portal-api/apps/${ID}/provision`, wanted);
      return `/portal-api/apps/${ID}`;
    },
  },
  '/portal-api/users/{user_id}': { make: async () => `/portal-api/users/${(await portal.user()).ID}` },
  '/portal-api/organisations/{organisation_id}': { make: async () => '/portal-api/organisations/1' },
  '/portal-api/organisations/{organisation_id}/teams/{team_id}': {
    make: async () => {
      const path = '/portal-api/organisations/1/teams';
      return `${path}/${(await ok('POST', path, { Name: 'T', Users: [(await portal.user()).ID] })).ID}`;
    },
  },
  '/portal-api/users/{user_id}/custom-attributes/{custom-attribute_id}': {
    make: async () =>
      `/portal-api/users/${(await portal.user()).ID}/custom-attributes/${(await portal.attribute()).ID}`,
  },
  '/portal-api/extended_attributes/{extended_attribute_id}/custom-attributes/{custom_attribute_id}': {
    make: async () => `/portal-api/extended_attributes/1/custom-attributes/${(await portal.attribute()).ID}`,
  },
  '/portal-api/extended_attributes/{extended_attribute_id}/default-attributes/{default_attribute_id}': {
    make: async () => '/portal-api/extended_attributes/1/default-attributes/1',
  },
  '/portal-api/products/{product_id}/changelog/{entry_id}': {
    async make() {
      const path = `/portal-api/products/${(await portal.product()).ID}/changelog`;
      return `${path}/${(await ok('POST', path, { Kind: 'added', Headline: 'H', Text: 't', Version: '1' })).ID}`;
    },
  },
  '/portal-api/invite-codes/{invite_code_id}': {
    async make() {
      const [team] = await ok('GET', '/portal-api/organisations/1/teams');
      return `/portal-api/invite-codes/${(await ok('POST', '/portal-api/invite-codes', { TeamID: team.ID })).ID}`;
    },
  },
  '/portal-api/terms/{terms_id}': {
    async make() {
      const version = { Version: `v-${createPublicId()}`, Content: 'c' };
      return `/portal-api/terms/${(await ok('POST', '/portal-api/terms', version)).ID}`;
    },
  },
  '/portal-api/categories/{category_id}': {
    make: async () =>
      `/portal-api/categories/${(await ok('POST', '/portal-api/categories', { Name: createPublicId() })).ID}`,
  },
  '/portal-api/menus/{menu_id}': {
    async make() {
      const Items = [{ Title: 'A', Path: '/blog', Children: [{ Title: 'B', Path: '/search' }] }];
      const menu = { Name: 'M', Path: createPublicId(), Items };
      return `/portal-api/menus/${(await ok('POST', '/portal-api/menus', menu)).ID}`;
    },
  },
  '/portal-api/pages/{page_id}': { make: async () => `/portal-api/pages/${(await portal.page()).ID}` },
  '/portal-api/pages/{page_id}/content-blocks/{content-block_id}': {
    make: async () => {
      const path = `/portal-api/pages/${(await portal.page()).ID}/content-blocks`;
      return `${path}/${(await ok('POST', path, { Name: 'B', Content: 'c' })).ID}`;
    },
  },
  '/portal-api/apps/{app_id}/custom_credentials/{credential_id}': {
    make: async () => {
      const path = `/portal-api/apps/${(await portal.app()).ID}/custom_credentials`;
      const pair = { Alias: 'A', Type: 'CREDENTIAL_TYPE_CUSTOM', CredentialKey: 'k' };
      return `${path}/${(await ok('POST', path, pair)).ID}`;
    },
  },
  '/portal-api/mails/{mail_name}': { make: async () => '/portal-api/mails/approve' },
  '/portal-api/posts/{post_id}': { make: async () => `/portal-api/posts/${(await portal.post()).ID}` },
  '/portal-api/webhooks/{webhook_id}': { make: async () => `/portal-api/webhooks/${(await portal.webhook()).ID}` },
  '/portal-api/webhooks/{webhook_id}/headers/{header_id}': {
    async make() {
      const path = `/portal-api/webhooks/${(await portal.webhook()).ID}/headers`;
      return `${path}/${(await ok('POST', path, { Name: 'x-a', Value: 'b' })).ID}`;
    },
  },
  '/portal-api/sso_profiles/{profile_id}': {
    async make() {
      const profile = {
        Name: 'Ldap',
        ActionType: 'GenerateOrLoginDeveloperProfile',
        ProviderName: 'ADProvider',
        ProviderConfig: { LDAPServer: '127.0.0.1', LDAPPort: '389', LDAPUserDN: 'cn=*USERNAME*', any: { member: [1] } },
        UserGroupMapping: { a: '1' },
      };
      return `/portal-api/sso_profiles/${(await ok('POST', '/portal-api/sso_profiles', profile)).ID}`;
    },
  },
};

async function newUser(): Promise<{ id: string }> {
  const user = { email_address: `${createPublicId()}@example.org`, first_name: 'R', last_name: 'W', active: true };
  return (await ok('POST', '/admin/users', user)).Meta;
}

const all = catalogue as readonly { method: string; path: string; body?: unknown; accepts?: unknown }[];
const written = all.filter(it => it.method === 'PUT' && it.body && it.accepts !== 'upload').map(({ path }) => path);
const paths = written.filter(path => all.some(it => it.method === 'GET' && it.path === path));

/** What a write changes by itself. */
const changing = ['last_updated', 'updated_at', 'UpdatedAt', 'LastSyncedAt', 'quota_renews', 'quota_remaining'];
const stable = (value: unknown) =>
  JSON.parse(JSON.stringify(value, (name, member) => (changing.includes(name) ? undefined : member)));

describe('Read-modify-write', () => {
  test('covers every path that is both read and written', () => {
    assert.deepEqual(Object.keys(resources).sort(), [...paths].sort());
  });

  for (const [path, { make, asked = {} }] of Object.entries(resources)) {
    test(`${path}: a read object can be written back unchanged`, async () => {
      const at = await make();
      const read = await ok('GET', at);
      const body = asked.headers ? JSON.stringify(read) : read;
      const answer = await ok('PUT', at, body, asked);
      assert.equal(answer.warnings, undefined, JSON.stringify(answer.warnings));
      assert.deepEqual(stable(await ok('GET', at)), stable(read));
    });
  }
});
