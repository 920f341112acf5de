import assert from 'node:assert/strict';
import { createPrivateKey } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { maxCertificates, maxUploadBytes } from '#access/certificates/pem.ts';
import { problem as certificates } from '#access/certificates/problems.ts';
import { problem as keys } from '#access/keys/problems.ts';
import { problem as oauth } from '#access/oauth/problems.ts';
import { problem as policies } from '#access/policies/problems.ts';
import { problem as gateway } from '#apis/gw/problems.ts';
import { problem as apis } from '#apis/problems.ts';
import { createPublicId } from '#base/ids.ts';
import type { ProblemFactory } from '#base/problems.ts';
import { problem as debug } from '#gateway/inspect/debug/problems.ts';
import { problem as operation } from '#operations/problems.ts';
import { problem as people } from '#people/problems.ts';
import { problem as portal } from '#portal/problems.ts';
import { type Answer, startApp, type TestApp } from '../support/app.ts';
import { addPerson } from '../support/browser.ts';
import { makeAuthority, makeServerCertificate } from '../support/certificates.ts';
import { expectProblem } from './expect-problem.ts';

/** Problems of access, of the control API, of debug runs and of the portal, each through every operation. */

const authority = makeAuthority('Root');
const leaf = makeServerCertificate(authority);
const other = makeServerCertificate(authority);
const encryptedKey = createPrivateKey(leaf.keyPem).export({
  type: 'pkcs8',
  format: 'pem',
  cipher: 'aes-256-cbc',
  passphrase: 'planted passphrase',
});

/** Uploads that are refused, by the problem. */
const wrongCertificates: readonly (readonly [ProblemFactory, pem: string])[] = [
  [certificates.undecodable, 'no PEM'],
  [certificates.expired, makeAuthority('Old', { notAfter: new Date('2021-01-01T00:00:00Z') }).certPem],
  [certificates.too_large, 'x'.repeat(maxUploadBytes + 1)],
  [certificates.too_many, leaf.certPem + authority.certPem.repeat(maxCertificates)],
  [certificates.several_private_keys, leaf.certPem + leaf.keyPem + other.keyPem],
  [certificates.several_public_keys, leaf.publicKeyPem + other.publicKeyPem],
  [certificates.public_key_combined, leaf.publicKeyPem + leaf.certPem],
  [certificates.private_key_alone, leaf.keyPem],
  [certificates.private_key_unreadable, leaf.certPem + leaf.keyPem.replace(/\n.{8}/, '\nAAAAAAAA')],
  [certificates.private_key_encrypted, leaf.certPem + encryptedKey],
  [certificates.private_key_foreign, leaf.certPem + other.keyPem],
  [certificates.leaf_not_first, authority.certPem + leaf.certPem + leaf.keyPem],
  [certificates.unknown_block, '-----BEGIN OPENSSH KEY-----\nAAAA\n-----END OPENSSH KEY-----'],
];

let app: TestApp;
before(async () => {
  app = await startApp('sqlite', { settings: { 'keys.allow_master_keys': 'true' } });
});
after(() => app?.close());

async function ok(method: string, path: string, body?: unknown, credential?: string): Promise<Answer['body']> {
  const answer = await app.ask(method, path, { body, ...(credential === undefined ? {} : { credential }) });
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`);
  return answer.body;
}

const newPath = () => `/${createPublicId()}/`;
const upstream = 'http://127.0.0.1:9/';
const classic = (more: object = {}) => ({
  name: `A ${createPublicId()}`,
  proxy: { listen_path: newPath(), target_url: upstream },
  version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
  ...more,
});
const plain = { openapi: '3.0.3', info: { title: 'A', version: '1' }, paths: {} };
const document = (info: object = {}) => ({
  ...plain,
  'x-gw-api-gateway': {
    info: { name: `A ${createPublicId()}`, state: { active: true }, ...info },
    server: { listenPath: { value: newPath() } },
    upstream: { url: upstream },
  },
});
const createClassic = async (more: object = {}) =>
  (await ok('POST', '/api/apis', { api_definition: classic(more) })).ID as string;
const createDocument = async () => (await ok('POST', '/api/apis/oas', document())).ID as string;
const createMcp = async () => (await ok('POST', '/api/mcps', document())).ID as string;
const hook = { method: 'POST', target_path: 'http://127.0.0.1:1/', name: 'h' };
const policy = (id: string, more: object = {}) => ({ id, name: createPublicId(), ...more });

interface Request {
  readonly operation: string;
  readonly path: string;
  readonly body?: unknown;
  readonly credential?: string;
}
interface Scenario {
  readonly problem: ProblemFactory;
  prepare(): Promise<readonly Request[]>;
}

const scenarios: readonly Scenario[] = [
  {
    problem: apis.base_is_self,
    async prepare() {
      const id = await createDocument();
      const version = `base_api_id=${id}&new_version_name=v2&base_api_version_name=v1`;
      const target = `apiID=${id}&listenPath=${newPath()}&upstreamURL=${upstream}`;
      return [
        { operation: 'createGatewayDocument', path: `/gw/apis/oas?${version}`, body: document({ id }) },
        { operation: 'importGatewayDocument', path: `/gw/apis/oas/import?${target}&${version}`, body: plain },
      ];
    },
  },
  {
    problem: apis.base_is_self,
    async prepare() {
      const id = await createMcp();
      const version = `base_api_id=${id}&new_version_name=v2&base_api_version_name=v1`;
      return [{ operation: 'createGatewayMcp', path: `/gw/mcps?${version}`, body: document({ id }) }];
    },
  },
  {
    problem: apis.other_id,
    prepare: async () => [
      { operation: 'updateMcp', path: `/api/mcps/${await createMcp()}`, body: document({ id: createPublicId() }) },
    ],
  },
  {
    problem: gateway.other_id,
    prepare: async () => [
      {
        operation: 'updateGatewayMcp',
        path: `/gw/mcps/${await createMcp()}`,
        body: document({ id: createPublicId() }),
      },
    ],
  },
  {
    problem: operation.has_dependents,
    async prepare() {
      const id = await createMcp();
      const access_rights = { [id]: { api_id: id, versions: ['Default'] } };
      await ok('POST', '/api/portal/policies', policy('', { access_rights }));
      return [
        { operation: 'deleteMcp', path: `/api/mcps/${id}?force=false` },
        { operation: 'deleteGatewayMcp', path: `/gw/mcps/${id}?force=false` },
      ];
    },
  },
  {
    problem: apis.other_form,
    async prepare() {
      const target = `apiID=${await createClassic()}&listenPath=${newPath()}&upstreamURL=${upstream}`;
      return [{ operation: 'importGatewayDocument', path: `/gw/apis/oas/import?${target}`, body: plain }];
    },
  },
  {
    problem: gateway.other_organisation,
    async prepare() {
      const { orgId } = await app.stranger();
      const path = `/gw/apis/oas/${await createDocument()}`;
      return [
        { operation: 'patchGatewayDocument', path, body: document({ orgId }) },
        { operation: 'updateGatewayMcp', path: `/gw/mcps/${await createMcp()}`, body: document({ orgId }) },
      ];
    },
  },
  ...wrongCertificates.map(([problem, body]) => ({
    problem,
    prepare: async () => [
      { operation: 'createCertificate', path: '/api/certs', body },
      { operation: 'createGatewayCertificate', path: '/gw/certs', body },
    ],
  })),
  {
    problem: people.organisation_unknown,
    async prepare() {
      const body = { org_id: 'unknown' };
      return [
        { operation: 'createGatewayCertificate', path: '/gw/certs?org_id=unknown', body: leaf.certPem },
        { operation: 'createGatewayPolicy', path: '/gw/policies', body: policy(createPublicId(), body) },
        { operation: 'createGatewayMcp', path: '/gw/mcps', body: document({ orgId: 'unknown' }) },
        { operation: 'addGatewayKey', path: '/gw/keys', body },
        { operation: 'putGatewayKey', path: `/gw/keys/${createPublicId()}`, body },
        { operation: 'createGatewayKey', path: '/gw/keys/create', body },
        { operation: 'previewGatewayKey', path: '/gw/keys/preview', body },
      ];
    },
  },
  {
    problem: people.limit_reached,
    async prepare() {
      const { orgId: org_id, accessKey: credential } = await app.stranger();
      const { Message: policyId } = await ok('POST', '/api/portal/policies', policy(''), credential);
      const { _id } = await ok('GET', `/api/portal/policies/${policyId}`, undefined, credential);
      const { ID: hookId } = await ok('POST', '/api/hooks', hook, credential);
      await ok('DELETE', `/api/portal/policies/${policyId}`, undefined, credential);
      await ok('DELETE', `/api/hooks/${hookId}`, undefined, credential);
      const { ID: apiId } = await ok('POST', '/api/apis', { api_definition: classic() }, credential);
      await ok('PUT', `/admin/organisations/${org_id}/grants`, { max_keys: 0, max_policies: 0, max_hooks: 0 });
      const access_rights = { [apiId]: { api_id: apiId, versions: ['Default'] } };
      const ofGateway = { org_id, access_rights };
      const basic = { access_rights, basic_auth_data: { password: 'planted password' } };
      return [
        { operation: 'createKey', path: '/api/keys', body: { access_rights }, credential },
        { operation: 'createCustomKey', path: `/api/keys/${createPublicId()}`, body: { access_rights }, credential },
        { operation: 'writeBasicUser', path: '/api/apis/keys/basic/ann', body: basic, credential },
        { operation: 'addGatewayKey', path: '/gw/keys', body: ofGateway },
        { operation: 'putGatewayKey', path: `/gw/keys/${createPublicId()}`, body: ofGateway },
        { operation: 'createGatewayKey', path: '/gw/keys/create', body: ofGateway },
        { operation: 'createPolicy', path: '/api/portal/policies', body: policy(''), credential },
        { operation: 'createGatewayPolicy', path: '/gw/policies', body: policy(createPublicId(), { org_id }) },
        { operation: 'restorePolicyRevision', path: `/api/revisions/policies/${_id}/1/restore`, credential },
        { operation: 'createHook', path: '/api/hooks', body: hook, credential },
        { operation: 'restoreHookRevision', path: `/api/revisions/hooks/${hookId}/1/restore`, credential },
      ];
    },
  },
  {
    problem: keys.certificate_unknown,
    async prepare() {
      const body = { certificate: 'unknown' };
      const basic = { ...body, basic_auth_data: { password: 'planted password' } };
      return [
        { operation: 'addGatewayKey', path: '/gw/keys', body },
        { operation: 'previewGatewayKey', path: '/gw/keys/preview', body },
        { operation: 'writeBasicUser', path: '/api/apis/keys/basic/bob', body: basic },
      ];
    },
  },
  {
    problem: keys.exists,
    async prepare() {
      const path = `/gw/keys/${createPublicId()}`;
      await ok('POST', path, {});
      return [{ operation: 'putGatewayKey', path, body: { basic_auth_data: { password: 'planted password' } } }];
    },
  },
  {
    problem: policies.id_exists,
    async prepare() {
      const id = createPublicId();
      await ok('POST', '/gw/policies', policy(id));
      return [{ operation: 'createGatewayPolicy', path: '/gw/policies', body: policy(id) }];
    },
  },
  {
    problem: policies.exists,
    async prepare() {
      // Database ids are unique in all organisations.
      const [_id, { orgId: org_id }] = [createPublicId(), await app.stranger()];
      await ok('POST', '/gw/policies', policy(createPublicId(), { _id, org_id }));
      return [{ operation: 'createGatewayPolicy', path: '/gw/policies', body: policy(createPublicId(), { _id }) }];
    },
  },
  {
    problem: policies.name_exists,
    async prepare() {
      const [id, name] = [createPublicId(), createPublicId()];
      await ok('POST', '/gw/policies', policy(id));
      await ok('POST', '/gw/policies', policy(createPublicId(), { name }));
      return [
        { operation: 'createGatewayPolicy', path: '/gw/policies', body: policy(createPublicId(), { name }) },
        { operation: 'updateGatewayPolicy', path: `/gw/policies/${id}`, body: policy(id, { name }) },
      ];
    },
  },
  {
    problem: policies.several,
    async prepare() {
      const id = createPublicId();
      for (const { orgId: org_id } of [await app.stranger(), await app.stranger()])
        await ok('POST', '/gw/policies', policy(id, { org_id }));
      return [{ operation: 'updateGatewayPolicy', path: `/gw/policies/${id}`, body: policy(id) }];
    },
  },
  {
    problem: oauth.client_not_found,
    async prepare() {
      const id = await createClassic({ use_keyless: false, use_oauth2: true });
      return [{ operation: 'deleteOauthClient', path: `/api/apis/oauth/${id}/unknown` }];
    },
  },
  {
    problem: operation.not_permitted,
    async prepare() {
      const { accessKey: credential } = await addPerson(app, { user_permissions: { apis: 'read' } });
      const { id } = await addPerson(app);
      return [
        { operation: 'getConfiguration', path: '/api/configuration?kinds=user', credential },
        { operation: 'endOtherSessions', path: `/api/users/${id}/sessions`, credential },
      ];
    },
  },
  {
    problem: apis.reference_open,
    async prepare() {
      const { id: owner } = await ok('GET', '/api/users/me');
      await ok('POST', '/api/apis', { api_definition: classic(), user_owners: [owner] });
      const { accessKey: credential } = await addPerson(app, { user_permissions: { apis: 'write' } });
      const spec = classic({ proxy: { listen_path: newPath(), target_url: 'gw://$gw_context.path/' } });
      const body = { spec, request: { method: 'GET', path: '/' } };
      return [{ operation: 'debugDefinition', path: '/api/debug', body, credential }];
    },
  },
  {
    problem: portal.cid_taken,
    async prepare() {
      const CID = createPublicId().slice(0, 27);
      const MetaData = JSON.stringify({ URL: 'http://127.0.0.1:9', Secret: 'planted' });
      const provider = { Name: 'P', Type: 'gw-pro', Configuration: { MetaData }, CID };
      const requests = [
        { operation: 'createProvider', path: '/portal-api/providers', body: provider },
        { operation: 'createPlan', path: '/portal-api/plans', body: { Name: createPublicId(), ProviderID: 1, CID } },
        { operation: 'createPortalOrganisation', path: '/portal-api/organisations', body: { Name: 'O', CID } },
        { operation: 'createTeam', path: '/portal-api/organisations/1/teams', body: { Name: 'T', CID } },
      ];
      for (const { path, body } of requests) await ok('POST', path, body);
      return requests;
    },
  },
  {
    problem: portal.catalogue_exists,
    async prepare() {
      const NameWithSlug = createPublicId().toLowerCase();
      await ok('POST', '/portal-api/catalogues', { Name: 'a', NameWithSlug });
      const { ID } = await ok('POST', '/portal-api/catalogues', { Name: createPublicId() });
      return [{ operation: 'updateCatalogue', path: `/portal-api/catalogues/${ID}`, body: { NameWithSlug } }];
    },
  },
];

describe('Problems of the control API and the portal', () => {
  for (const scenario of scenarios)
    test(scenario.problem.code, async () => {
      for (const { operation: name, path, body, credential } of await scenario.prepare()) {
        const asked = { ...(body === undefined ? {} : { body }), ...(credential === undefined ? {} : { credential }) };
        await expectProblem(app, name, scenario.problem, path, asked);
      }
    });

  test('debug.too_many_runs: the debug runs of an organisation in a minute', async () => {
    const { accessKey: credential } = await app.stranger();
    const asked = { body: { spec: classic(), request: { method: 'GET', path: '/' } }, credential };
    let answer = await app.ask('POST', '/api/debug', asked);
    for (let run = 1; run < 200 && answer.status === 200; run++) answer = await app.ask('POST', '/api/debug', asked);
    await expectProblem(app, 'debugDefinition', debug.too_many_runs, '/api/debug', asked);
    const tested = { body: { code: 'function f() {}', hook_type: 'virtual' }, credential };
    await expectProblem(app, 'testPlugin', debug.too_many_runs, '/api/plugins/test', tested);
  });
});
