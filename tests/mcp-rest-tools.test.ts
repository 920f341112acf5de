import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createPublicId } from '#base/ids.ts';
import type { TestApp } from './support/app.ts';
import { waitUntilApplied } from './support/traffic.ts';
import type { Upstream } from './support/upstream.ts';
import { withSettings } from './support/with-settings.ts';

type Json = ReturnType<typeof JSON.parse>;

const echoed = { type: 'object', properties: { method: { type: 'string' }, url: { type: 'string' } } };
const json = (schema: object) => ({ 'application/json': { schema } });
const responses = { 200: { description: 'OK', content: json(echoed) } };

/** A REST API with an operation of each kind, in front of an upstream that echoes requests. */
const createPetApi = (id: string, upstream: Upstream, extension: Json = {}) => ({
  openapi: '3.0.3',
  info: { title: 'Pets', version: '7' },
  paths: {
    '/pets': {
      get: {
        operationId: 'listPets',
        summary: 'Lists pets',
        parameters: [{ in: 'query', name: 'tag', schema: { type: 'array', items: { type: 'string' } } }],
        responses,
      },
      post: { operationId: 'createPet', requestBody: { required: true, content: json({ type: 'object' }) }, responses },
    },
    '/pets/{id}': {
      parameters: [{ in: 'path', name: 'id', required: true, schema: { type: 'string' } }],
      get: { operationId: 'getPet', responses },
      delete: { operationId: 'deletePet', responses },
    },
    '/pets/internal': { get: { operationId: 'internalPet', responses } },
    '/hidden': { get: { operationId: 'hidden', responses } },
  },
  components: { securitySchemes: { keys: { type: 'apiKey', in: 'header', name: 'X-Pet-Key' } } },
  security: [{ keys: [] }],
  'x-gw-api-gateway': {
    info: { id, name: `Pets ${id}`, state: { active: true } },
    server: {
      listenPath: { value: `/${id}/`, strip: true },
      authentication: { enabled: true, securitySchemes: { keys: { enabled: true } } },
    },
    upstream: { url: upstream.url },
    middleware: { operations: { hidden: { block: { enabled: true } }, ...extension } },
  },
});

const createToolProxy = (id: string, url: string, more: Json = {}) => ({
  openapi: '3.0.3',
  info: { title: `Tools ${id}`, version: '1' },
  paths: {},
  ...more,
  'x-gw-api-gateway': {
    info: { id, name: `Tools ${id}`, state: { active: true } },
    upstream: { url },
    ...more['x-gw-api-gateway'],
    server: { listenPath: { value: `/${id}/`, strip: true }, ...more['x-gw-api-gateway']?.server },
  },
});

async function write(app: TestApp, path: string, body: unknown) {
  const made = await app.ask('POST', path, { body });
  assert.equal(made.status, 200, made.text);
  await waitUntilApplied(app);
}

async function createKey(app: TestApp, apiIds: readonly string[], limits: Json = {}): Promise<string> {
  const access_rights = Object.fromEntries(apiIds.map(id => [id, { api_id: id, api_name: id, versions: ['Default'] }]));
  const { body } = await app.ask('POST', '/api/keys', { body: { access_rights, ...limits } });
  await waitUntilApplied(app);
  return body.key_id;
}

async function withClient<T>(url: string, headers: Record<string, string>, use: (client: Client) => Promise<T>) {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

withSettings('REST API as MCP tools', {}, (app, upstream) => {
  /** A REST API and an MCP proxy over it; returns the URL of the proxy and a key for the API. */
  async function publishTools(more: Json = {}, operations: Json = {}) {
    const [petId, toolId] = [createPublicId(), createPublicId()];
    await write(app(), '/api/apis/oas', createPetApi(petId, upstream(), operations));
    await write(app(), '/api/mcps', createToolProxy(toolId, `gw://${petId}/mcp`, more));
    return { petId, toolId, url: `${app().url.gateway}/${toolId}/`, key: await createKey(app(), [petId]) };
  }

  test('the official client lists the operations of the API and calls them through its chain', async () => {
    const { url, key } = await publishTools();
    await withClient(url, { 'X-Pet-Key': key }, async client => {
      const { tools } = await client.listTools();
      assert.deepEqual(tools.map(({ name }) => name).sort(), [
        'createPet',
        'deletePet',
        'getPet',
        'internalPet',
        'listPets',
      ]);
      const listed = (await client.callTool({ name: 'listPets', arguments: { tag: ['a', 'b'] } })) as Json;
      assert.deepEqual([listed.structuredContent.method, listed.structuredContent.url], ['GET', '/pets?tag=a&tag=b']);
      assert.deepEqual(JSON.parse(listed.content[0].text), listed.structuredContent);
      const made = (await client.callTool({ name: 'createPet', arguments: { body: { name: 'Rex' } } })) as Json;
      assert.equal(made.structuredContent.body, '{"name":"Rex"}');
      assert.equal(made.structuredContent.headers['content-type'], 'application/json');
      assert.equal(made.structuredContent.headers['mcp-method'], undefined);
      const found = (await client.callTool({ name: 'getPet', arguments: { id: 'a/b' } })) as Json;
      assert.match(found.content[0].text, /a%2Fb|path|encoded/i);
    });
  });

  test('the API authenticates the client itself: without its key a call is an error of the tool', async () => {
    const { url } = await publishTools();
    await withClient(url, {}, async client => {
      const refused = (await client.callTool({ name: 'listPets', arguments: {} })) as Json;
      assert.deepEqual([refused.isError, /^HTTP 401/.test(refused.content[0].text)], [true, true]);
    });
  });

  /** Calls a tool without a session of a client, whose other messages would count too. */
  async function callTool(url: string, key: string, name: string, given: Json = {}): Promise<Json> {
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } };
    const headers = { 'content-type': 'application/json', ...(key && { 'X-Pet-Key': key }) };
    const reply = (await (await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })).json()) as Json;
    return reply.result ?? reply.error;
  }
  const statusOf = ({ isError, content }: Json) => (isError ? content[0].text.slice(0, 8) : 'HTTP 200');

  test('calls of tools count against the rate and the quota of the key, and each key has its own', async () => {
    const { url, petId } = await publishTools();
    for (const [limits, status] of [
      [{ rate: 2, per: 1000 }, 'HTTP 429'],
      [{ quota_max: 2, quota_renewal_rate: 1000 }, 'HTTP 403'],
    ] as const) {
      const key = await createKey(app(), [petId], limits);
      const seen: string[] = [];
      for (let at = 0; at < 3; at++) seen.push(statusOf(await callTool(url, key, 'listPets')));
      assert.deepEqual(seen, ['HTTP 200', 'HTTP 200', status]);
    }
    for (let at = 0; at < 3; at++) assert.equal(statusOf(await callTool(url, '', 'listPets')), 'HTTP 401');
    assert.equal(statusOf(await callTool(url, await createKey(app(), [petId]), 'listPets')), 'HTTP 200');
  });

  /** Guards the proxy by the same keys as the API. */
  const guardedProxy = {
    components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Pet-Key' } } },
    security: [{ key: [] }],
    'x-gw-api-gateway': {
      server: { authentication: { enabled: true, securitySchemes: { key: { enabled: true } } } },
    },
  };

  test('a call of a tool counts once against the rate and the quota of a key that proxy and API share', async () => {
    const { url, petId, toolId } = await publishTools(guardedProxy);
    for (const [limits, code] of [
      [{ rate: 2, per: 1000 }, -32003],
      [{ quota_max: 2, quota_renewal_rate: 1000 }, -32002],
    ] as const) {
      const key = await createKey(app(), [petId, toolId], limits);
      for (let at = 0; at < 2; at++) assert.equal(statusOf(await callTool(url, key, 'listPets')), 'HTTP 200');
      assert.equal((await callTool(url, key, 'listPets')).code, code);
    }
  });

  test('limits of a key for each API count a call of a tool each, the one of the API too', async () => {
    const { url, petId, toolId } = await publishTools(guardedProxy);
    const right = (id: string, rate: number) => ({ api_id: id, versions: ['Default'], limit: { rate, per: 1000 } });
    const { body } = await app().ask('POST', '/api/keys', {
      body: { access_rights: { [petId]: right(petId, 1), [toolId]: right(toolId, 2) } },
    });
    await waitUntilApplied(app());
    const seen: unknown[] = [];
    for (let at = 0; at < 3; at++) {
      const result = await callTool(url, body.key_id, 'listPets');
      seen.push(result.code ?? statusOf(result));
    }
    assert.deepEqual(seen, ['HTTP 200', 'HTTP 429', -32003]);
  });

  test('calls of tools count against the limits of an operation of the API, over all keys', async () => {
    const { url, petId } = await publishTools(
      {},
      { listPets: { rateLimit: { enabled: true, rate: 2, per: '1000s' } } },
    );
    const seen: string[] = [];
    for (let at = 0; at < 3; at++)
      seen.push(statusOf(await callTool(url, await createKey(app(), [petId]), 'listPets')));
    assert.deepEqual(seen, ['HTTP 200', 'HTTP 200', 'HTTP 429']);
    const key = await createKey(app(), [petId]);
    assert.equal(statusOf(await callTool(url, key, 'getPet', { id: '1' })), 'HTTP 200');
    const direct = await fetch(`${app().url.gateway}/${petId}/pets`, { headers: { 'X-Pet-Key': key } });
    assert.equal(direct.status, 429);
  });

  test('an API beyond the bounds of tools is refused as a source; a list of its tools is an error', async () => {
    const { url, key, petId, toolId } = await publishTools();
    const large = createPetApi(petId, upstream());
    const parameters = Array.from({ length: 101 }, (_, at) => ({ in: 'query', name: `q${at}`, schema: {} }));
    Object.assign(large.paths['/pets'].get, { parameters });
    const reason = /listPets has more than 100 parameters/;
    const changed = await app().ask('PUT', `/api/apis/oas/${petId}`, { body: large });
    assert.deepEqual([changed.status, reason.test(changed.text)], [400, true], changed.text);
    assert.equal((await app().ask('DELETE', `/api/apis/oas/${petId}?force=true`)).status, 200);
    await write(app(), '/api/apis/oas', large);
    const refused = await callTool(url, key, 'getPet', { id: '1' });
    assert.deepEqual([refused.code, reason.test(refused.message)], [-32603, true], JSON.stringify(refused));
    await assert.rejects(
      withClient(url, { 'X-Pet-Key': key }, client => client.listTools()),
      reason,
    );
    for (const { status, text } of [
      await app().ask('POST', '/api/mcps', { body: createToolProxy(createPublicId(), `gw://${petId}/mcp`) }),
      await app().ask('GET', `/api/mcps/${toolId}?expand=true`),
    ])
      assert.deepEqual([status, reason.test(text)], [400, true], text);
    const primitives = [{ source: { operationId: 'getPet' }, allow: true }];
    const selected = createToolProxy(createPublicId(), `gw://${petId}/mcp`, { 'x-gw-mcp-server': { primitives } });
    await write(app(), '/api/mcps', selected);
  });

  test('a path parameter of a tool does not reach an internal endpoint', async () => {
    const { url, key } = await publishTools({}, { internalPet: { internal: { enabled: true } } });
    assert.equal(statusOf(await callTool(url, key, 'getPet', { id: 'public' })), 'HTTP 200');
    assert.equal(statusOf(await callTool(url, key, 'getPet', { id: 'internal' })), 'HTTP 403');
  });

  test('wrong arguments are errors of the tool, an unknown or hidden tool is one of the protocol', async () => {
    const { url, key } = await publishTools();
    await withClient(url, { 'X-Pet-Key': key }, async client => {
      for (const [given, message] of [
        [{}, 'id: is required'],
        [{ id: '..' }, 'id: must be neither empty nor a dot segment'],
        [{ id: 'x', other: 1 }, 'other: no such argument'],
      ] as const) {
        const result = (await client.callTool({ name: 'deletePet', arguments: given })) as Json;
        assert.deepEqual([result.isError, result.content[0].text], [true, message]);
      }
      for (const name of ['hidden', 'nothing'])
        await assert.rejects(client.callTool({ name, arguments: {} }), /Unknown tool/);
    });
  });

  test('x-gw-mcp-server renames and selects tools; a change of the API changes them', async () => {
    const primitives = [{ source: { operationId: 'listPets' }, name: 'find_pets', allow: true }];
    const { url, key, petId } = await publishTools({ 'x-gw-mcp-server': { primitives } });
    const listNames = () =>
      withClient(url, { 'X-Pet-Key': key }, async client => (await client.listTools()).tools.map(({ name }) => name));
    assert.deepEqual(await listNames(), ['find_pets']);
    const changed = createPetApi(petId, upstream(), { listPets: { block: { enabled: true } } });
    assert.equal((await app().ask('PUT', `/api/apis/oas/${petId}`, { body: changed })).status, 200);
    await waitUntilApplied(app());
    assert.deepEqual(await listNames(), []);
  });

  test('messages that are no single JSON-RPC request, and other methods than POST, are refused', async () => {
    const { url } = await publishTools();
    const post = async (body: string, type = 'application/json') =>
      (await fetch(url, { method: 'POST', headers: { 'content-type': type }, body })).status;
    assert.equal(await post('{'), 400);
    assert.equal(await post('[]'), 400);
    assert.equal(await post('{"jsonrpc":"2.0","id":1,"method":"ping","method":"ping"}'), 400);
    assert.equal(await post('{}', 'text/plain'), 415);
    assert.equal((await fetch(url)).status, 405);
    assert.equal(await post('{"jsonrpc":"2.0","method":"notifications/initialized"}'), 202);
  });

  test('POST /api/apis/{id}/mcp makes a tool server of an API, which authenticates as the API does', async () => {
    const petId = createPublicId();
    await write(app(), '/api/apis/oas', createPetApi(petId, upstream()));
    const body = {
      listenPath: `/${petId}-tools/`,
      primitives: [{ source: { operationId: 'getPet' }, name: 'read_pet' }],
    };
    const made = await app().ask('POST', `/api/apis/${petId}/mcp`, { body });
    assert.equal(made.status, 200, made.text);
    assert.equal((await app().ask('POST', '/api/apis/unknown/mcp', { body })).status, 404);
    assert.equal((await app().ask('POST', `/api/apis/${made.body.ID}/mcp`, { body })).status, 400);
    await waitUntilApplied(app());
    const url = `${app().url.gateway}/${petId}-tools/`;
    const open = { 'content-type': 'application/json' };
    const list = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';
    assert.equal((await fetch(url, { method: 'POST', headers: open, body: list })).status, 401);
    const key = await createKey(app(), [petId, made.body.ID]);
    await withClient(url, { 'X-Pet-Key': key }, async client => {
      const { tools } = await client.listTools();
      assert.deepEqual(tools.map(({ name }) => name).sort(), [
        'createPet',
        'deletePet',
        'internalPet',
        'listPets',
        'read_pet',
      ]);
      const read = (await client.callTool({ name: 'read_pet', arguments: { id: '7' } })) as Json;
      assert.equal(read.structuredContent.url, '/pets/7');
    });
  });

  test('expand=true adds the tools with their schemas, and a write drops what follows from the API', async () => {
    const { toolId } = await publishTools();
    const expanded = await app().ask('GET', `/api/mcps/${toolId}?expand=true`);
    const { primitives } = expanded.body['x-gw-mcp-server'];
    const tool = primitives.find((it: Json) => it.name === 'listPets');
    assert.deepEqual(tool.parameterLocations, { tag: 'query' });
    assert.deepEqual(tool.outputSchema, echoed);
    assert.equal((await app().ask('PUT', `/api/mcps/${toolId}`, { body: expanded.body })).status, 200);
    const stored = (await app().ask('GET', `/gw/mcps/${toolId}`)).body['x-gw-mcp-server'].primitives;
    assert.deepEqual(Object.keys(stored[0]).sort(), ['annotations', 'description', 'name', 'source']);
    const wrong = await app().ask('GET', `/gw/mcps/${toolId}?expand=yes`);
    assert.deepEqual([wrong.status, /invalid expand query parameter/.test(wrong.text)], [400, true]);
  });

  test('an MCP proxy is refused without a REST API of its organisation in the OpenAPI format', async () => {
    const { petId, toolId } = await publishTools();
    const send = async (url: string, more: Json = {}, credential?: string) => {
      const body = createToolProxy(createPublicId(), url, more);
      const { status, text } = await app().ask('POST', '/api/mcps', { body, ...(credential && { credential }) });
      return [status, text] as const;
    };
    const source = { operationId: 'listPets' };
    const settings = (primitives: Json[]) => ({ 'x-gw-mcp-server': { primitives } });
    const { accessKey } = await app().stranger();
    await write(
      app(),
      '/api/mcps',
      createToolProxy(createPublicId(), `gw://${petId}/mcp`, settings([{ source, name: 'one' }])),
    );
    const other = { source: { operationId: 'getPet' }, name: 'one' };
    for (const [answer, status, reason] of [
      [await send('gw://nothing/mcp'), 400, /there is no API/],
      [await send('gw://nothing__mcp-server'), 400, /there is no API/],
      [await send(`gw://${petId}/mcp`, {}, accessKey), 403, /you do not own/],
      [await send(`gw://${toolId}/mcp`), 400, /OpenAPI format/],
      [await send('https://mcp.example', settings([{ source }])), 400, /needs an upstream/],
      [await send(`gw://${petId}/mcp`, settings([{ source: { operationId: 'no' } }])), 400, /no such operation/],
      [await send(`gw://${petId}/mcp`, settings([{ source }, { source }])), 400, /source of another entry/],
      [await send(`gw://${petId}/mcp`, settings([{ source, name: 'a b' }])), 400, /1 to 128/],
      [await send(`gw://${petId}/mcp`, settings([{ source: {} }])), 400, /operationId, or path and method/],
      [await send(`gw://${petId}/mcp`, settings([{ source, nane: 'x' }])), 400, /did you mean name/],
      [await send(`gw://${petId}/mcp`, settings([other])), 400, /another operation in another MCP proxy/],
    ] as const)
      assert.deepEqual([answer[0], reason.test(answer[1])], [status, true], answer[1]);
    const document = createPetApi(createPublicId(), upstream());
    const misplaced = await app().ask('POST', '/api/apis/oas', { body: { ...document, 'x-gw-mcp-server': {} } });
    assert.equal(misplaced.status, 400);
    const refused = await app().ask('DELETE', `/api/apis/oas/${petId}`);
    assert.deepEqual(
      [refused.status, /Other objects depend on it: apis Tools/.test(refused.text)],
      [409, true],
      refused.text,
    );
    assert.equal((await app().ask('DELETE', `/api/apis/oas/${petId}?force=true`)).status, 200);
  });
});
