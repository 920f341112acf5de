import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import type { AnyOperation } from '#operations/operation.ts';
import { problem as people } from '#people/problems.ts';
import { problem } from '../../src/apis/problems.ts';
import { catalogue } from '../../src/catalogue.ts';
import { type Answer, type Asked, onEveryEngine, type TestApp } from '../support/app.ts';
import { recogniseProblems, toPair } from '../support/reached-problems.ts';

/** Problems that operations which write APIs share: every one of them is reached through every operation. */

/** Parts of a definition that the problems are about. */
interface Parts {
  readonly id?: string;
  readonly name?: string;
  readonly path?: string;
  readonly domain?: string;
  readonly target?: string;
}

type Query = Readonly<Record<string, string>>;

interface Writer {
  readonly operation: string;
  readonly path: string;
  readonly type?: string;
  /** Rest of the path, after the id of the API. */
  readonly suffix?: string;
  /** Creates the API that the operation changes; absent for operations that create. */
  readonly changes?: Format;
  body(parts: Parts, orgId: string): object;
  query?(parts: Parts, orgId: string): Query;
  /** Members of the body for the parameters of a version, which are in the query otherwise. */
  versionMembers?(query: Query): object;
}

type Format = 'classic' | 'oas' | 'streams' | 'mcp';

const upstreamUrl = 'http://127.0.0.1:9/';
const streamsType = 'application/vnd.gw.streams.oas';
const newPath = () => `/${createPublicId()}/`;

const classic = ({ id, name, path, domain, target }: Parts, orgId = '') => ({
  name: name ?? `A ${createPublicId()}`,
  active: true,
  use_keyless: true,
  ...(id === undefined ? {} : { api_id: id }),
  ...(domain === undefined ? {} : { domain }),
  ...(orgId === '' ? {} : { org_id: orgId }),
  proxy: { listen_path: path ?? newPath(), target_url: target ?? upstreamUrl, strip_listen_path: true },
  version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
});
const plain = ({ name }: Parts) => ({
  openapi: '3.0.3',
  info: { title: name ?? `A ${createPublicId()}`, version: '1' },
  paths: { '/a': { get: { operationId: 'a', responses: { 200: { description: 'A' } } } } },
});
const document = (parts: Parts, orgId = '') => ({
  ...plain(parts),
  'x-gw-api-gateway': {
    info: {
      name: parts.name ?? `A ${createPublicId()}`,
      state: { active: true },
      ...(parts.id === undefined ? {} : { id: parts.id }),
      ...(orgId === '' ? {} : { orgId }),
    },
    server: {
      listenPath: { value: parts.path ?? newPath(), strip: true },
      ...(parts.domain === undefined ? {} : { customDomain: { enabled: true, name: parts.domain } }),
    },
    upstream: { url: parts.target ?? upstreamUrl },
  },
});
const streams = (parts: Parts) => ({ ...document(parts), 'x-gw-streaming': { streams: {} } });
const configure = ({ path, domain, target }: Parts): Query => ({
  listenPath: path ?? newPath(),
  upstreamURL: target ?? upstreamUrl,
  ...(domain === undefined ? {} : { customDomain: domain }),
});
const withApiId = (parts: Parts): Query => ({
  ...configure(parts),
  ...(parts.id === undefined ? {} : { apiID: parts.id }),
});
const withoutUpstream = (parts: Parts): Query => {
  const { upstreamURL: _url, ...query } = configure(parts);
  return query;
};

const toImportOptions = (parts: Parts) => ({
  upstream_url: parts.target ?? upstreamUrl,
  listen_path: parts.path ?? newPath(),
  api_id: parts.id,
  custom_domain: parts.domain,
});
const toImportVersion = ({ base_api_id: api_id, new_version_name: version_name, base_api_version_name }: Query) =>
  api_id === undefined ? {} : { insert_into_api: true, api_id, version_name, base_api_version_name };

const writers: readonly Writer[] = [
  { operation: 'createApi', path: '/api/apis', body: parts => ({ api_definition: classic(parts) }) },
  { operation: 'createDocument', path: '/api/apis/oas', body: parts => document(parts) },
  { operation: 'importDocument', path: '/api/apis/oas/import', body: plain, query: withApiId },
  {
    operation: 'importDataGraph',
    path: '/api/data-graphs/data-sources/import',
    body: parts => ({ ...plain(parts), servers: [{ url: upstreamUrl }] }),
    query: ({ path }) => ({ listenPath: path ?? newPath() }),
  },
  {
    operation: 'importSwagger',
    path: '/api/import/swagger',
    body: parts => ({ swagger: plain(parts), ...toImportOptions(parts) }),
    versionMembers: toImportVersion,
  },
  {
    operation: 'importBlueprint',
    path: '/api/import/blueprint',
    body: parts => ({
      blueprint: `FORMAT: 1A\n# ${parts.name ?? `A ${createPublicId()}`}\n## GET /a\n+ Response 200\n`,
      ...toImportOptions(parts),
    }),
    versionMembers: toImportVersion,
  },
  { operation: 'createStreams', path: '/api/apis/streams', type: streamsType, body: streams },
  { operation: 'createMcp', path: '/api/mcps', body: parts => document(parts) },
  {
    operation: 'createApiTools',
    path: '/api/apis/',
    suffix: '/mcp',
    changes: 'oas',
    body: ({ path = newPath(), id, name, domain }) => ({ listenPath: path, id, name, customDomain: domain }),
  },
  { operation: 'createGatewayMcp', path: '/gw/mcps', body: document },
  { operation: 'updateMcp', path: '/api/mcps/', changes: 'mcp', body: parts => document(parts) },
  { operation: 'updateGatewayMcp', path: '/gw/mcps/', changes: 'mcp', body: document },
  { operation: 'createGatewayApi', path: '/gw/apis', body: classic },
  { operation: 'createGatewayDocument', path: '/gw/apis/oas', body: document },
  {
    operation: 'importGatewayDocument',
    path: '/gw/apis/oas/import',
    body: plain,
    query: (parts, orgId) => ({ ...withApiId(parts), org_id: orgId }),
  },
  {
    operation: 'updateApi',
    path: '/api/apis/',
    changes: 'classic',
    body: parts => ({ api_definition: classic(parts) }),
  },
  { operation: 'updateDocument', path: '/api/apis/oas/', changes: 'oas', body: parts => document(parts) },
  { operation: 'patchDocument', path: '/api/apis/oas/', changes: 'oas', body: plain, query: configure },
  { operation: 'updateStreams', path: '/api/apis/streams/', changes: 'streams', type: streamsType, body: streams },
  {
    operation: 'patchStreams',
    path: '/api/apis/streams/',
    changes: 'streams',
    type: streamsType,
    body: parts => (parts.target === undefined && parts.name === undefined ? plain(parts) : streams(parts)),
    query: withoutUpstream,
  },
  { operation: 'updateGatewayApi', path: '/gw/apis/', changes: 'classic', body: classic },
  { operation: 'updateGatewayDocument', path: '/gw/apis/oas/', changes: 'oas', body: document },
  { operation: 'patchGatewayDocument', path: '/gw/apis/oas/', changes: 'oas', body: plain, query: configure },
];

/** Callers, and what they must not take. */
interface Installation {
  readonly operatorId: string;
  readonly takenId: string;
  readonly takenPath: string;
  /** Path above more routes than a write compares. */
  readonly crowdedPath: string;
  /** Bases of new versions, in each format. */
  readonly bases: Readonly<Record<'classic' | 'oas' | 'mcp', string>>;
  readonly ownedName: string;
  readonly ownedId: string;
  /** User who does not own that API. */
  readonly lesser: string;
  readonly tenant: Caller;
  readonly restricted: Caller;
  readonly full: Caller;
  /** API of the organisation that may have no more. */
  readonly fullId: string;
}

interface Caller {
  readonly orgId: string;
  readonly accessKey: string;
}

async function expectOk(app: TestApp, method: string, path: string, asked: Asked): Promise<Answer['body']> {
  const { status, text, body } = await app.ask(method, path, asked);
  assert.ok(status < 300, `${method} ${path}: ${text}`);
  return body;
}

/** More would be refused: the product of this suite compares no more routes. */
const maxRoutesCompared = 5;

async function createInstallation(app: TestApp): Promise<Installation> {
  const [takenPath, crowdedPath] = [newPath(), newPath()];
  for (let index = 0; index <= maxRoutesCompared; index++)
    await expectOk(app, 'POST', '/api/apis', {
      body: { api_definition: classic({ path: `${crowdedPath}${index}/` }) },
    });
  const ownedName = `Owned ${createPublicId()}`;
  const { ID: takenId } = await expectOk(app, 'POST', '/api/apis', {
    body: { api_definition: classic({ path: takenPath }) },
  });
  const { ID: oas } = await expectOk(app, 'POST', '/api/apis/oas', { body: document({}) });
  const { ID: mcp } = await expectOk(app, 'POST', '/api/mcps', { body: document({}) });
  const bases = { classic: takenId, oas, mcp };
  const { id: owner } = (await app.ask('GET', '/api/users/me')).body;
  const { ID: ownedId } = await expectOk(app, 'POST', '/api/apis', {
    body: { api_definition: classic({ name: ownedName }), user_owners: [owner] },
  });
  const user = { email_address: `${createPublicId()}@example.org`, first_name: 'A', last_name: 'B', active: true };
  const { Message: lesser } = await expectOk(app, 'POST', '/admin/users', {
    body: { ...user, user_permissions: { apis: 'write', mcp: 'write' } },
  });
  const [tenant, restricted, full] = [await app.stranger(), await app.stranger(), await app.stranger()];
  const grant = (orgId: string, body: object) => expectOk(app, 'PUT', `/admin/organisations/${orgId}/grants`, { body });
  await grant(restricted.orgId, { paths: ['/granted/'] });
  const { ID: fullId } = await expectOk(app, 'POST', '/api/apis/oas', {
    credential: full.accessKey,
    body: document({}),
  });
  await grant(full.orgId, { max_apis: 0 });
  const operatorId = app.credentials.organisation_id;
  const callers = { lesser, tenant, restricted, full };
  return { operatorId, takenId, takenPath, crowdedPath, bases, ownedName, ownedId, fullId, ...callers };
}

interface Scenario {
  readonly parts: Parts;
  /** Caller on the dashboard, and organisation of the API on the control interface. */
  readonly caller: Partial<Caller>;
  readonly query?: Query;
}

/** A new version, with the parameters that a problem is about. */
const toVersion = (query: Query): Scenario => ({ parts: {}, caller: {}, query });
const formatOf = ({ operation }: Writer) =>
  operation.endsWith('Api') ? 'classic' : operation.endsWith('Mcp') ? 'mcp' : 'oas';
const named = { new_version_name: 'v2', base_api_version_name: 'v1' };

/** How to reach each problem. */
const scenarios: Readonly<Record<string, (of: Installation, writer: Writer) => Scenario>> = {
  [problem.path_exists.code]: ({ takenPath }) => ({ parts: { path: takenPath }, caller: {} }),
  [problem.route_taken.code]: ({ takenPath, tenant }) => ({ parts: { path: takenPath }, caller: tenant }),
  [problem.too_many_routes.code]: ({ crowdedPath, tenant }) => ({ parts: { path: crowdedPath }, caller: tenant }),
  [problem.domain_not_granted.code]: ({ tenant }) => ({
    parts: { domain: `${createPublicId()}.example` },
    caller: tenant,
  }),
  [problem.path_not_granted.code]: ({ restricted }) => ({ parts: {}, caller: restricted }),
  [people.limit_reached.code]: ({ full }) => ({ parts: {}, caller: full }),
  [problem.id_exists.code]: ({ takenId, tenant }) => ({ parts: { id: takenId }, caller: tenant }),
  [problem.reference_not_owned.code]: ({ ownedId, lesser }) => ({
    parts: { target: `gw://${ownedId}/` },
    caller: { accessKey: lesser },
  }),
  [problem.reference_open.code]: ({ lesser }) => ({
    parts: { target: 'gw://$gw_context.path/' },
    caller: { accessKey: lesser },
  }),
  [problem.name_taken.code]: ({ ownedName, lesser }) => ({ parts: { name: ownedName }, caller: { accessKey: lesser } }),
  [problem.base_not_found.code]: () => toVersion({ ...named, base_api_id: 'unknown' }),
  [problem.base_of_other_form.code]: ({ bases }, writer) =>
    toVersion({ ...named, base_api_id: bases[formatOf(writer) === 'classic' ? 'oas' : 'classic'] }),
  [problem.version_name_missing.code]: ({ bases }, writer) => toVersion({ base_api_id: bases[formatOf(writer)] }),
  [problem.base_name_missing.code]: ({ bases }, writer) =>
    toVersion({ base_api_id: bases[formatOf(writer)], new_version_name: 'v2' }),
  [problem.version_exists.code]: ({ bases }, writer) =>
    toVersion({ ...named, base_api_id: bases[formatOf(writer)], new_version_name: 'v1' }),
};

const operations = catalogue as readonly AnyOperation[];
const findOperation = (name: string) => operations.find(it => it.name === name)!;

const settings = { 'apis.max_routes_compared': String(maxRoutesCompared) };

onEveryEngine(
  'Problems of writing an API',
  app => {
    let installation: Installation;
    before(async () => {
      installation = await createInstallation(app());
    });

    /** The API that an operation changes, in the organisation of the caller, where its grants allow one. */
    async function createChanged(format: Format, { accessKey, orgId }: Partial<Caller>): Promise<string> {
      if (orgId === installation.full.orgId) return installation.fullId;
      const parts = orgId === installation.restricted.orgId ? { path: `/granted${newPath()}` } : {};
      const asked: Asked = accessKey === undefined ? {} : { credential: accessKey };
      if (format === 'classic')
        return (await expectOk(app(), 'POST', '/api/apis', { ...asked, body: { api_definition: classic(parts) } })).ID;
      if (format === 'oas')
        return (await expectOk(app(), 'POST', '/api/apis/oas', { ...asked, body: document(parts) })).ID;
      if (format === 'mcp') return (await expectOk(app(), 'POST', '/api/mcps', { ...asked, body: document(parts) })).ID;
      const headers = { 'content-type': streamsType };
      return (await expectOk(app(), 'POST', '/api/apis/streams', { ...asked, headers, body: streams(parts) })).ID;
    }

    async function write(writer: Writer, { parts, caller, query = {} }: Scenario) {
      const { method } = findOperation(writer.operation);
      const orgId = caller.orgId ?? installation.operatorId;
      const id = writer.changes ? await createChanged(writer.changes, caller) : '';
      const search = new URLSearchParams({
        ...writer.query?.(parts, orgId),
        ...(writer.versionMembers ? {} : query),
      });
      const path = `${writer.path}${id}${writer.suffix ?? ''}${search.size > 0 ? `?${search}` : ''}`;
      const isDashboard = writer.path.startsWith('/api/');
      const sentOrg = isDashboard || writer.changes ? '' : orgId;
      const answer = await app().ask(method, path, {
        ...(isDashboard && caller.accessKey !== undefined ? { credential: caller.accessKey } : {}),
        ...(writer.type ? { headers: { 'content-type': writer.type } } : {}),
        body: { ...writer.body(parts, sentOrg), ...writer.versionMembers?.(query) },
      });
      return { answer, pairs: recogniseProblems({ ...answer, method, path }) };
    }

    for (const writer of writers) {
      describe(writer.operation, () => {
        const operation = findOperation(writer.operation);
        for (const declared of operation.problems ?? []) {
          const scenario = scenarios[declared.code];
          if (scenario)
            test(`refuses with ${declared.code}`, async () => {
              const { answer, pairs } = await write(writer, scenario(installation, writer));
              assert.ok(pairs.includes(toPair(operation, declared)), `${answer.status} ${answer.text}`);
            });
        }
      });
    }

    test('every operation that takes a definition and declares a problem of routes is walked', () => {
      const declaring = operations.filter(
        it => it.body && it.problems?.some(({ code }) => code === problem.path_exists.code),
      );
      assert.deepEqual(declaring.map(it => it.name).sort(), writers.map(it => it.operation).sort());
    });
  },
  { settings },
);
