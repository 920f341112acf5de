import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { onEveryEngine } from '../../../tests/support/app.ts';

interface Parts {
  readonly info?: object;
  readonly server?: object;
  readonly middleware?: object;
  readonly more?: object;
}

const createDocument = (name: string, { info, server, middleware, more }: Parts = {}) => ({
  openapi: '3.0.3',
  info: { title: name, version: '1' },
  paths: {},
  ...more,
  'x-gw-api-gateway': {
    info: { name, state: { active: true }, ...info },
    server: { listenPath: { value: `/${name}/`, strip: true }, ...server },
    upstream: { url: 'http://127.0.0.1:9/mcp' },
    ...(middleware ? { middleware } : {}),
  },
});

onEveryEngine('MCP proxies', app => {
  const create = async (name: string, parts: Parts = {}): Promise<string> => {
    const answer = await app().ask('POST', '/api/mcps', { body: createDocument(name, parts) });
    assert.equal(answer.status, 200, answer.text);
    return answer.body.ID;
  };
  const createUser = async (permissions: Record<string, string>): Promise<string> => {
    const user = { email_address: `${crypto.randomUUID()}@example.org`, first_name: 'A', last_name: 'B', active: true };
    const answer = await app().ask('POST', '/admin/users', { body: { ...user, user_permissions: permissions } });
    assert.equal(answer.status, 200, answer.text);
    return answer.body.Message;
  };

  test('a document is stored with the markers of MCP and read back, as JSON and as YAML', async () => {
    const middleware = {
      operations: { 'tools/callPOST': { rateLimit: { enabled: true, rate: 5, per: '1m' } } },
      mcpTools: { 'delete order': { block: { enabled: true } } },
      mcpResources: { 'file:///a/*': { allow: { enabled: true } } },
      mcpPrompts: { greet: { trackEndpoint: { enabled: true } } },
    };
    const created = await app().ask('POST', '/api/mcps', { body: createDocument('stored', { middleware }) });
    assert.deepEqual([created.status, created.body.Message], [200, 'MCP Proxy definition created'], created.text);
    const { ID: id, Meta: dbId } = created.body;
    const read = await app().ask('GET', `/api/mcps/${id}`);
    const info = { id, dbId, orgId: app().credentials.organisation_id, applicationProtocol: 'mcp' };
    assert.deepEqual(
      read.body,
      createDocument('stored', { middleware, info: { ...info, jsonRpcVersion: '2.0' } }),
      read.text,
    );
    const yaml = await app().ask('GET', `/api/mcps/${id}`, { headers: { accept: 'application/yaml' } });
    assert.match(yaml.text, /applicationProtocol: mcp/);
    const classic = await app().ask('GET', '/gw/apis?include_types=mcp');
    const stored = classic.body.find((it: { api_id: string }) => it.api_id === id);
    assert.deepEqual([stored.application_protocol, stored.json_rpc_version, stored.is_oas], ['mcp', '2.0', true]);
  });

  const restDocument = (id: string) => ({
    openapi: '3.0.3',
    info: { title: id, version: '1' },
    paths: { '/items': { get: { operationId: 'listItems', responses: { 200: { description: 'OK' } } } } },
    'x-gw-api-gateway': {
      info: { id, name: id, state: { active: true } },
      server: { listenPath: { value: `/${id}/`, strip: true } },
      upstream: { url: 'http://127.0.0.1:9' },
    },
  });
  const toolNames = (document: Record<string, { primitives: { name: string }[] }>) =>
    document['x-gw-mcp-server']?.primitives.map(({ name }) => name);

  test('a dry run checks and returns the document, and stores nothing', async () => {
    const source = await app().ask('POST', '/api/apis/oas', { body: restDocument('rehearsed-items') });
    assert.equal(source.status, 200, source.text);
    const document = createDocument('rehearsed', { info: { id: 'rehearsed' } });
    const tools = createDocument('rehearsed', { info: { id: 'rehearsed' } });
    tools['x-gw-api-gateway'].upstream.url = 'gw://rehearsed-items/mcp';
    const revision = async () => (await app().application.installation.records.revision()) as number;
    for (const path of ['/api/mcps', '/gw/mcps']) {
      const before = await revision();
      const plain = await app().ask('POST', `${path}?dryRun=true`, { body: document });
      assert.equal(plain.status, 200, plain.text);
      assert.deepEqual([plain.body.ID ?? plain.body.key, plain.body.action ?? 'added'], ['rehearsed', 'added']);
      assert.equal(plain.body.document['x-gw-api-gateway'].info.applicationProtocol, 'mcp');
      const expanded = await app().ask('POST', `${path}?dryRun=true&expand=true`, { body: tools });
      assert.deepEqual(toolNames(expanded.body.document), ['listItems'], expanded.text);
      const repeated = await app().ask('POST', `${path}?dryRun=true`, {
        body: document,
        headers: { 'idempotency-key': crypto.randomUUID() },
      });
      assert.equal(repeated.status, 200, repeated.text);
      assert.equal(await revision(), before);
      assert.equal((await app().ask('GET', '/api/mcps/rehearsed')).status, 404);
      const missing = createDocument('rehearsed');
      missing['x-gw-api-gateway'].upstream.url = 'gw://unknown-items/mcp';
      assert.equal((await app().ask('POST', `${path}?dryRun=true`, { body: missing })).status, 400);
      const wrong = await app().ask('POST', `${path}?dryRun=yes`, { body: document });
      assert.match(wrong.text, /invalid dryRun query parameter/);
    }
    assert.equal((await app().ask('POST', '/gw/mcps?expand=true', { body: tools })).body.action, 'added');
    const rehearsed = await app().ask('POST', '/gw/mcps?dryRun=true', { body: document });
    assert.equal(rehearsed.body.action, 'modified');
    const stored = await app().ask('GET', '/gw/mcps/rehearsed');
    assert.equal(stored.body['x-gw-api-gateway'].upstream.url, 'gw://rehearsed-items/mcp');
  });

  test('the list of the gateway adds tools with expand=true', async () => {
    const list = async (query: string) =>
      ((await app().ask('GET', `/gw/mcps${query}`)).body as Parameters<typeof toolNames>[0][]).map(toolNames);
    assert.ok((await list('?expand=true')).some(names => names?.includes('listItems')));
    assert.ok((await list('')).every(names => names === undefined));
    assert.match((await app().ask('GET', '/gw/mcps?expand=1')).text, /invalid expand query parameter/);
  });

  test('an MCP proxy is updated, listed and deleted', async () => {
    const id = await create('managed');
    const updated = await app().ask('PUT', `/api/mcps/${id}`, {
      body: createDocument('managed', { middleware: { mcpTools: { a: { allow: { enabled: true } } } } }),
    });
    assert.deepEqual([updated.status, updated.body.Message], [200, 'API updated'], updated.text);
    const listed = await app().ask('GET', '/api/mcps?q=MANAGED&sort=name');
    assert.deepEqual([listed.body.mcps.length, listed.body.pages], [1, 1]);
    assert.deepEqual(Object.keys(listed.body.mcps[0]['x-gw-api-gateway'].middleware.mcpTools), ['a']);
    const versions = await app().ask('GET', `/api/mcps/${id}/versions`);
    assert.deepEqual(
      versions.body.apis.map((it: { id: string }) => it.id),
      [id],
      versions.text,
    );
    const deleted = await app().ask('DELETE', `/api/mcps/${id}`);
    assert.deepEqual([deleted.status, deleted.body.Message], [200, 'API deleted']);
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', ''],
      ['GET', '/versions'],
    ] as const)
      assert.equal((await app().ask(method, `/api/mcps/${id}${path}`)).status, 404);
    assert.equal((await app().ask('PUT', `/api/mcps/${id}`, { body: createDocument('managed') })).status, 404);
  });

  test('the control interface manages the same MCP proxies', async () => {
    const created = await app().ask('POST', '/gw/mcps', {
      body: createDocument('control', { info: { id: 'control' } }),
    });
    assert.deepEqual([created.status, created.body.action], [200, 'added'], created.text);
    const replaced = await app().ask('POST', '/gw/mcps', {
      body: createDocument('control', { info: { id: 'control' } }),
    });
    assert.deepEqual([replaced.status, replaced.body.action], [200, 'modified']);
    const changed = await app().ask('PUT', '/gw/mcps/control', {
      body: createDocument('control', { info: { id: 'control' } }),
    });
    assert.deepEqual([changed.status, changed.body.action], [200, 'modified'], changed.text);
    const read = await app().ask('GET', '/gw/mcps/control');
    assert.equal(read.body['x-gw-api-gateway'].info.applicationProtocol, 'mcp');
    const listed = await app().ask('GET', '/gw/mcps');
    assert.ok(
      listed.body.some((it: ReturnType<typeof createDocument>) => it['x-gw-api-gateway'].info.name === 'control'),
    );
    assert.equal((await app().ask('DELETE', '/gw/mcps/control')).body.action, 'deleted');
    assert.equal((await app().ask('GET', '/gw/mcps/control')).status, 404);
    assert.equal((await app().ask('DELETE', '/gw/mcps/control')).status, 404);
    assert.equal((await app().ask('PUT', '/gw/mcps/control', { body: createDocument('control') })).status, 404);
  });

  describe('beside other APIs', () => {
    let mcp: string;
    let rest: string;
    before(async () => {
      mcp = await create('beside');
      const body = createDocument('plain');
      rest = (await app().ask('POST', '/api/apis/oas', { body })).body.ID;
    });

    test('lists of other APIs omit MCP proxies', async () => {
      for (const path of ['/api/apis?p=-1', '/api/apis/search', '/api/apis/oas?p=-1', '/gw/apis', '/gw/apis/oas']) {
        const { text } = await app().ask('GET', path);
        assert.ok(text.includes(rest) && !text.includes(mcp), `${path}: ${text}`);
      }
      assert.ok(!(await app().ask('GET', '/api/mcps')).text.includes(rest));
    });

    test('operations of other documents find no MCP proxy, and those of MCP proxies no other API', async () => {
      for (const path of [`/api/apis/oas/${mcp}`, `/gw/apis/oas/${mcp}`]) {
        assert.equal((await app().ask('GET', path)).status, 404, path);
        assert.equal((await app().ask('PUT', path, { body: createDocument('beside') })).status, 404, path);
        assert.equal((await app().ask('DELETE', path)).status, 404, path);
      }
      assert.equal((await app().ask('DELETE', `/api/apis/${mcp}`)).status, 404);
      for (const path of [`/api/mcps/${rest}`, `/gw/mcps/${rest}`]) {
        const read = await app().ask('GET', path);
        assert.deepEqual([read.status, read.text.includes('API is not an MCP Proxy')], [404, true], read.text);
        assert.equal((await app().ask('PUT', path, { body: createDocument('plain') })).status, 404, path);
        assert.equal((await app().ask('DELETE', path)).status, 404, path);
      }
      assert.equal((await app().ask('GET', `/api/mcps/${rest}/versions`)).status, 404);
      assert.equal((await app().ask('GET', `/api/apis/oas/${rest}`)).status, 200);
      assert.equal((await app().ask('GET', `/api/mcps/${mcp}`)).status, 200);
    });

    test('a document with the marker is sent to the operations of MCP proxies', async () => {
      const body = createDocument('marked', { info: { applicationProtocol: 'mcp' } });
      for (const path of ['/api/apis/oas', '/gw/apis/oas']) {
        const { status, text } = await app().ask('POST', path, { body });
        assert.deepEqual([status, text.includes('info.applicationProtocol')], [400, true], text);
      }
    });

    test('an id of the other kind is not replaced', async () => {
      const answer = await app().ask('POST', '/gw/mcps', { body: createDocument('plain', { info: { id: rest } }) });
      assert.equal(answer.status, 409, answer.text);
    });

    test('a version belongs to an MCP proxy as its base', async () => {
      const query = `?base_api_id=${mcp}&base_api_version_name=v1&new_version_name=v2`;
      const version = await app().ask('POST', `/api/mcps${query}`, { body: createDocument('beside-v2') });
      assert.equal(version.status, 200, version.text);
      const listed = await app().ask('GET', `/api/mcps/${version.body.ID}/versions`);
      assert.deepEqual(
        listed.body.apis.map((it: { versionName: string }) => it.versionName),
        ['v1', 'v2'],
      );
      const read = await app().ask('GET', `/api/mcps/${version.body.ID}`);
      assert.equal(read.headers.get('x-gw-base-api-id'), mcp);
    });
  });

  describe('permissions', () => {
    test('a user without the permission of MCP proxies sees and changes none, by any operation', async () => {
      const id = await create('guarded');
      const credential = await createUser({ apis: 'write', keys: 'write', policies: 'write' });
      for (const [method, path, body] of [
        ['GET', '/api/mcps'],
        ['GET', `/api/mcps/${id}`],
        ['PUT', `/api/mcps/${id}`, createDocument('guarded')],
        ['DELETE', `/api/mcps/${id}`],
        ['GET', `/api/apis/${id}`],
        ['GET', `/api/apis/${id}/status`],
        ['GET', `/api/apis/${id}/access`],
        ['PUT', `/api/apis/${id}/access`, { userIds: [] }],
        ['PUT', `/api/apis/${id}/actions/deactivate`],
        ['GET', `/api/apis/${id}/revisions`],
      ] as const) {
        const { status, text } = await app().ask(method, path, { credential, ...(body ? { body } : {}) });
        assert.ok(status === 403 || status === 404, `${method} ${path}: ${status} ${text}`);
      }
      assert.ok(!(await app().ask('GET', '/api/apis?p=-1', { credential })).text.includes(id));
      assert.equal((await app().ask('GET', `/api/mcps/${id}`)).status, 200);
    });

    test('a user with read permission reads and cannot change, also by operations of APIs', async () => {
      const id = await create('readable');
      const credential = await createUser({ apis: 'write', mcp: 'read' });
      assert.equal((await app().ask('GET', `/api/mcps/${id}`, { credential })).status, 200);
      assert.equal((await app().ask('GET', `/api/apis/${id}/access`, { credential })).status, 200);
      for (const [method, path, body] of [
        ['PUT', `/api/mcps/${id}`, createDocument('readable')],
        ['DELETE', `/api/mcps/${id}`],
        ['PUT', `/api/apis/${id}/access`, { userIds: [] }],
        ['PUT', `/api/apis/${id}/actions/deactivate`],
      ] as const) {
        const { status, text } = await app().ask(method, path, { credential, ...(body ? { body } : {}) });
        assert.equal(status, 403, `${method} ${path}: ${status} ${text}`);
      }
      const writer = await createUser({ apis: 'write', mcp: 'write' });
      const deactivated = await app().ask('PUT', `/api/apis/${id}/actions/deactivate`, { credential: writer });
      assert.equal(deactivated.status, 200, deactivated.text);
    });

    test('a secret of a primitive is masked for readers and stays when the mask is sent back', async () => {
      const header = { enabled: true, add: [{ name: 'X-Secret', value: 'very-secret-value' }] };
      const middleware = { mcpTools: { a: { transformRequestHeaders: header } } };
      const id = await create('sealed', { middleware });
      const credential = await createUser({ mcp: 'read' });
      const read = await app().ask('GET', `/api/mcps/${id}`, { credential });
      assert.ok(!read.text.includes('very-secret-value'), read.text);
      await app().ask('PUT', `/api/mcps/${id}`, { body: read.body });
      const whole = await app().ask('GET', `/gw/mcps/${id}`);
      assert.ok(whole.text.includes('very-secret-value'));
    });
  });

  test('a refused definition changes nothing', async () => {
    const body = createDocument('refused', { middleware: { mcpTools: { a: { urlRewrite: { enabled: true } } } } });
    const { status, text } = await app().ask('POST', '/api/mcps', { body });
    assert.equal(status, 400, text);
    assert.match(text, /mcpTools\.a\.urlRewrite: is not available for MCP proxies/);
    assert.deepEqual((await app().ask('GET', '/api/mcps?q=refused')).body.mcps, []);
  });

  test('a document without the extension, and one of Swagger 2.0', async () => {
    const { 'x-gw-api-gateway': _, ...plain } = createDocument('bare');
    for (const path of ['/api/mcps', '/gw/mcps']) {
      assert.match((await app().ask('POST', path, { body: plain })).text, /should contain x-gw-api-gateway/);
      assert.match((await app().ask('POST', path, { body: { swagger: '2.0' } })).text, /Swagger/);
    }
    const id = await create('extended');
    for (const path of [`/api/mcps/${id}`, `/gw/mcps/${id}`])
      assert.match((await app().ask('PUT', path, { body: plain })).text, /should contain x-gw-api-gateway/);
  });

  test('the schema of MCP proxies describes primitives and omits what is not available', async () => {
    const { status, body } = await app().ask('GET', '/api/schemas/apidefs/mcp');
    assert.equal(status, 200);
    const text = JSON.stringify(body);
    for (const name of ['mcpTools', 'mcpResources', 'mcpPrompts', 'scopeCheck']) assert.ok(text.includes(`"${name}"`));
    for (const name of ['batchProcessing', 'urlRewrite', 'mockResponse']) assert.ok(!text.includes(`"${name}"`), name);
    assert.equal((await app().ask('GET', '/api/schemas/apidefs/mcp?mcpVersion=9')).status, 404);
    assert.deepEqual((await app().ask('GET', '/api/schemas/apidefs')).body.schemas.mcp, body);
  });
});
