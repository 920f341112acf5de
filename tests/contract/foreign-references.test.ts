import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { z } from 'zod';
import { createPublicId } from '#base/ids.ts';
import { buildBodyExample } from '#operations/openapi.ts';
import { catalogue } from '../../src/catalogue.ts';
import { type Answer, onEveryEngine } from '../support/app.ts';
import { createObjects, flipId, noIds, type ObjectIds } from '../support/organisation-objects.ts';
import { openApi } from '../support/traffic.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';
import { placesOf } from './members.ts';

/** Ids of another organisation beside own ones in paths, in query parameters and in bodies: the response is that to an unknown id. */

type Each = (typeof catalogue)[number];

const dashboard = (catalogue as readonly Each[]).filter(it => it.surface === 'dashboard');

/** Query parameters with an id, and the kind of object that they name. */
const queryKinds: Readonly<Record<string, string>> = {
  apiID: 'apiId',
  api_id: 'apiId',
  api_ids: 'apiId',
  base_api_id: 'apiId',
  hook_id: 'hookId',
  key: 'keyHash',
  oauth_id: 'clientId',
  policy_id: 'policyId',
  policy_ids: 'policyId',
  templateID: 'assetId',
};
/** Kinds of `ids`, by operation. */
const idsKinds: Readonly<Record<string, string>> = { listHookUses: 'hookId', listSecondFactors: 'userId' };
const findQueryKind = (operation: string, name: string) => (name === 'ids' ? idsKinds[operation] : queryKinds[name]);
/** Query parameters that name no object of the caller's organisation, with the reason. */
const otherQueryNames: Readonly<Record<string, string>> = {
  org_id: 'organisation of a sign-in page, whose sign-on profiles every visitor with its id may read',
};
const queryNames = (it: Each) => Object.keys((it.query as z.ZodObject | undefined)?.shape ?? {});

interface Reference {
  readonly title: string;
  readonly kind: string;
  readonly method: string;
  /** `own` are the objects of the caller. */
  path(own: ObjectIds): string;
  body(id: string, own: ObjectIds): object;
  /** Names of the members that hold the id. */
  readonly members: readonly string[];
}

const upstreamUrl = 'http://127.0.0.1:9/';
const rights = (id: string) => ({ [id]: { api_id: id, versions: ['Default'] } });
const person = () => ({
  first_name: 'A',
  last_name: 'B',
  email_address: `${createPublicId()}@example.org`,
  active: true,
  user_permissions: { apis: 'read' },
});
const api = (more: object) => ({ api_definition: openApi({ url: upstreamUrl }, { ...more }) });
const document = (server: object = {}, info: object = {}) => ({
  openapi: '3.0.3',
  info: { title: 'A', version: '1' },
  paths: {},
  'x-gw-api-gateway': {
    info: { name: `A ${createPublicId()}`, state: { active: true }, ...info },
    server: { listenPath: { value: `/${createPublicId()}/`, strip: true }, ...server },
    upstream: { url: upstreamUrl },
  },
});
const profile = (id: string) => ({
  Name: `P ${createPublicId()}`,
  ProviderName: 'SocialProvider',
  DefaultUserGroupID: id,
  ProviderConfig: {
    UseProviders: [
      { Name: 'openid-connect', Key: 'client', Secret: 'planted', DiscoverURL: 'https://idp.example/.well-known/x' },
    ],
  },
});
const create = (path: string) => ({ method: 'POST', path: () => path });

const keyReferences = (title: string, at: Pick<Reference, 'method' | 'path'>): Reference[] => [
  { title, kind: 'policyId', ...at, body: id => ({ apply_policies: [id] }), members: ['apply_policies'] },
  { title, kind: 'policyId', ...at, body: id => ({ apply_policy_id: id }), members: ['apply_policy_id'] },
  { title, kind: 'apiId', ...at, body: id => ({ access_rights: rights(id) }), members: ['api_id'] },
  {
    title,
    kind: 'certId',
    ...at,
    body: (id, own) => ({ access_rights: rights(own.apiId!), certificate: id }),
    members: ['certificate'],
  },
  {
    title,
    kind: 'certId',
    ...at,
    body: (id, own) => ({ access_rights: rights(own.apiId!), mtls_static_certificate_bindings: [id] }),
    members: ['mtls_static_certificate_bindings'],
  },
  {
    title,
    kind: 'certId',
    ...at,
    body: (id, own) => ({ access_rights: rights(own.apiId!), rsa_certificate_id: id }),
    members: ['rsa_certificate_id'],
  },
];

const references: readonly Reference[] = [
  ...keyReferences('createKey', create('/api/keys')),
  ...keyReferences('previewKey', create('/api/keys/preview?explain=1')),
  ...keyReferences('updateKey', { method: 'PUT', path: own => `/api/keys/${own.keyId}` }),
  ...['add_policies', 'remove_policies'].map(member => ({
    title: 'patchKey',
    kind: 'policyId',
    method: 'PATCH',
    path: (own: ObjectIds) => `/api/keys/${own.keyId}`,
    body: (id: string) => ({ [member]: [id] }),
    members: [member],
  })),
  {
    title: 'createPolicy',
    kind: 'apiId',
    ...create('/api/portal/policies'),
    body: id => ({ name: createPublicId(), access_rights: rights(id) }),
    members: ['access_rights'],
  },
  {
    title: 'createPolicy',
    kind: 'apiId',
    ...create('/api/portal/policies'),
    body: id => ({ name: createPublicId(), access_rights_array: [{ api_id: id, versions: ['Default'] }] }),
    members: ['access_rights_array'],
  },
  {
    title: 'createOauthClient',
    kind: 'policyId',
    method: 'POST',
    path: own => `/api/apis/oauth/${own.apiId}`,
    body: id => ({ redirect_uri: 'http://127.0.0.1/callback', policy_id: id }),
    members: ['policy_id'],
  },
  {
    title: 'authorizeOauthClient',
    kind: 'clientId',
    method: 'POST',
    path: own => `/api/apis/oauth/${own.apiId}/authorize-client`,
    body: id => ({ response_type: 'code', client_id: id, redirect_uri: 'http://127.0.0.1/callback' }),
    members: ['client_id'],
  },
  {
    title: 'createUser',
    kind: 'groupId',
    ...create('/api/users'),
    body: id => ({ ...person(), group_id: id }),
    members: ['group_id'],
  },
  {
    title: 'updateUser',
    kind: 'groupId',
    method: 'PUT',
    path: own => `/api/users/${own.userId}`,
    body: id => ({ ...person(), group_id: id }),
    members: ['group_id'],
  },
  {
    title: 'createNonce',
    kind: 'groupId',
    ...create('/api/sso'),
    body: id => ({ ForSection: 'dashboard', EmailAddress: 'a@example.org', GroupID: id }),
    members: ['GroupID'],
  },
  {
    title: 'createNonce',
    kind: 'groupId',
    ...create('/api/sso'),
    body: id => ({ ForSection: 'dashboard', EmailAddress: 'a@example.org', GroupsIDs: [id] }),
    members: ['GroupsIDs'],
  },
  {
    title: 'createProfile',
    kind: 'groupId',
    ...create('/api/sso/profiles'),
    body: profile,
    members: ['DefaultUserGroupID'],
  },
  {
    title: 'updateApiAccess',
    kind: 'userId',
    method: 'PUT',
    path: own => `/api/apis/${own.apiId}/access`,
    body: id => ({ userIds: [id] }),
    members: ['userIds'],
  },
  {
    title: 'updateApiAccess',
    kind: 'groupId',
    method: 'PUT',
    path: own => `/api/apis/${own.apiId}/access`,
    body: id => ({ userGroupIds: [id] }),
    members: ['userGroupIds'],
  },
  {
    title: 'createApi',
    kind: 'userId',
    ...create('/api/apis'),
    body: id => ({ ...api({}), user_owners: [id] }),
    members: ['user_owners'],
  },
  {
    title: 'createApi',
    kind: 'groupId',
    ...create('/api/apis'),
    body: id => ({ ...api({}), user_group_owners: [id] }),
    members: ['user_group_owners'],
  },
  {
    title: 'createApi with a client certificate',
    kind: 'certId',
    ...create('/api/apis'),
    body: id => api({ use_mutual_tls_auth: true, client_certificates: [id] }),
    members: [],
  },
  {
    title: 'createApi with a certificate authority',
    kind: 'certId',
    ...create('/api/apis'),
    body: id => api({ proxy: { target_url: upstreamUrl, transport: { ssl_ca_certificates: [id] } } }),
    members: [],
  },
  {
    title: 'createApi with a loop',
    kind: 'apiId',
    ...create('/api/apis'),
    body: id => api({ proxy: { target_url: `gw://${id}/` } }),
    members: [],
  },
  {
    title: 'createApi with a version',
    kind: 'apiId',
    ...create('/api/apis'),
    body: id => api({ definition: { enabled: true, name: 'v1', location: 'header', key: 'v', versions: { v2: id } } }),
    members: [],
  },
  {
    title: 'createApi with default policies',
    kind: 'policyId',
    ...create('/api/apis'),
    body: id => api({ use_keyless: false, enable_jwt: true, jwt_signing_method: 'hmac', jwt_default_policies: [id] }),
    members: [],
  },
  {
    title: 'createDocument with a client certificate',
    kind: 'certId',
    ...create('/api/apis/oas'),
    body: id => document({ clientCertificates: { enabled: true, allowlist: [id] } }),
    members: [],
  },
  ...(
    [
      ['apis', 'deactivate', 'apiId'],
      ['webhooks', 'delete', 'hookId'],
      ['keys', 'delete', 'keyId'],
    ] as const
  ).map(([objects, action, kind]) => ({
    title: `bulk ${action} of ${objects}`,
    kind,
    ...create('/api/bulk'),
    body: (id: string) => ({ kind: objects, action, ids: [id] }),
    members: ['ids'],
  })),
  {
    title: 'bulk change of keys',
    kind: 'policyId',
    ...create('/api/bulk'),
    body: (id, own) => ({ kind: 'keys', action: 'change', ids: [own.keyId], changes: { add_policies: [id] } }),
    members: ['changes.add_policies'],
  },
  {
    title: 'testPlugin',
    kind: 'apiId',
    ...create('/api/plugins/test'),
    body: id => ({ code: 'function f() {}', hook_type: 'virtual', api_id: id }),
    members: ['api_id'],
  },
  {
    title: 'migrateApis',
    kind: 'apiId',
    ...create('/api/apis/migrate'),
    body: id => ({ mode: 'dryRun', apiIDs: [id] }),
    members: ['apiIDs'],
  },
];

/** Members whose name resembles an id and that name no object of the organisation, with the reason. */
const otherMembers: Readonly<Record<string, string>> = {
  _id: 'id of the object itself',
  id: 'id of the object itself',
  ID: 'id of the object itself',
  org_id: 'organisation, replaced by that of the caller',
  OrgID: 'organisation, of the admin surface only',
  key_id: 'set by the server',
  operationId: 'operation inside the document of the API',
  oauth_client_id: 'of tokens: set by the server',
  webhook_id: 'id of the object itself',
};

/** A created object has ids and times of its own. */
function normalize({ status, text }: Answer, id: string) {
  const masked = maskText(text, id);
  return { status, body: text.startsWith('{') ? JSON.parse(masked) : masked };
}

const maskText = (text: string, id: string) =>
  text
    .replaceAll(id, '…')
    .replaceAll(/[0-9a-f]{16,}/g, '…')
    .replaceAll(/[\w-]+@example\.org/g, '…')
    .replaceAll(/\b\d{10,}\b/g, '…')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '…');

onEveryEngine('References to objects of another organisation', app => {
  let upstream: Upstream;
  let foreign: ObjectIds;
  let own: ObjectIds;
  let credential: string;
  before(async () => {
    upstream = await startUpstream();
    foreign = await createObjects(app(), upstream.url);
    const stranger = await app().stranger();
    credential = stranger.accessKey;
    own = await createObjects(app(), upstream.url, stranger);
  });
  after(() => upstream.close());

  const toPath = (it: Each, ids: ObjectIds) =>
    it.path.replaceAll(/\{([\w-]+)\}/g, (_whole, name: string) => encodeURIComponent(ids[name] ?? ''));
  const toOwnPath = (it: Each) => toPath(it, own);

  describe('in one parameter of a path, beside own ids', () => {
    const listIdNames = (it: Each) =>
      [...it.path.matchAll(/\{([\w-]+)\}/g)].map(([, name]) => name!).filter(name => !(name in noIds));
    const withSeveral = dashboard.filter(it => listIdNames(it).length > 1);

    test('several operations have such a path', () => assert.ok(withSeveral.length > 5));

    for (const it of withSeveral)
      for (const name of listIdNames(it))
        test(`${it.name} responds to ${name} of another organisation as to an unknown one`, async () => {
          const ask = (id: string) => {
            const sent = it.body ? { body: JSON.parse(JSON.stringify(buildBodyExample(it))) } : {};
            return app().ask(it.method, toPath(it, { ...own, [name]: id }), { credential, ...sent });
          };
          const id = foreign[name]!;
          const first = await ask(flipId(id));
          const second = await ask(id);
          assert.deepEqual(normalize(second, id), normalize(first, flipId(id)));
          assert.ok(second.status >= 400, second.text);
        });
  });

  describe('in queries', () => {
    for (const it of dashboard.filter(each => each.method === 'GET' && each.produces !== 'text/event-stream'))
      for (const name of queryNames(it).filter(each => findQueryKind(it.name, each)))
        test(`${it.name} responds to ${name} of another organisation as to an unknown one`, async () => {
          const ask = (id: string) =>
            app().ask('GET', `${toOwnPath(it)}?${new URLSearchParams({ [name]: id })}`, { credential });
          const id = foreign[findQueryKind(it.name, name)!]!;
          const first = await ask(flipId(id));
          const second = await ask(id);
          assert.deepEqual(normalize(second, id), normalize(first, flipId(id)));
        });

    for (const [path, name, body] of [
      ['/api/apis', 'base_api_id', () => api({})],
      ['/api/apis/oas', 'base_api_id', () => document()],
      ['/api/apis/oas', 'templateID', () => document()],
      ['/api/apis/check', 'api_id', () => api({})],
      ['/api/apis/check', 'base_api_id', () => api({})],
    ] as const)
      test(`POST ${path} responds to ${name} of another organisation as to an unknown one`, async () => {
        const ask = (id: string) => {
          const query = new URLSearchParams({ [name]: id, new_version_name: 'v2', base_api_version_name: 'v1' });
          return app().ask('POST', `${path}?${query}`, { credential, body: body() });
        };
        const id = foreign[queryKinds[name]!]!;
        const first = await ask(flipId(id));
        const second = await ask(id);
        assert.deepEqual(normalize(second, id), normalize(first, flipId(id)));
      });

    test('every query parameter that resembles an id is walked', () => {
      const names = dashboard.flatMap(it => queryNames(it).map(name => [it.name, name] as const));
      const resembling = names.filter(([, name]) => /(?:^|_)ids?$|I[dD]s?$/.test(name));
      assert.deepEqual(
        resembling.filter(([operation, name]) => !findQueryKind(operation, name) && !(name in otherQueryNames)),
        [],
      );
    });
  });

  describe('in bodies', () => {
    for (const { title, kind, method, path, body, members } of references)
      test(`${title} responds to ${members[0] ?? kind} of another organisation as to an unknown one`, async () => {
        const id = foreign[kind]!;
        const ask = (sent: string) => app().ask(method, path(own), { credential, body: body(sent, own) });
        const first = await ask(flipId(id));
        const second = await ask(id);
        assert.deepEqual(normalize(second, id), normalize(first, flipId(id)));
      });

    test('every member that resembles an id is walked, or listed with the reason', () => {
      const names = new Set(
        dashboard.flatMap(it => (it.body ? placesOf(it.body) : []).flatMap(place => Object.keys(place.object.shape))),
      );
      const walked = new Set(references.flatMap(({ members }) => members));
      const resembling = [...names].filter(name => /(?:^|_)ids?$|I[dD]s?$|owners$/.test(name));
      assert.deepEqual(
        resembling.filter(name => !walked.has(name) && !(name in otherMembers)),
        [],
      );
    });
  });
});
