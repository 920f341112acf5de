import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { TestApp } from './support/app.ts';
import { walkOf } from './support/doc-commands.ts';
import { readLastAudit } from './support/last-audit.ts';
import { waitUntilApplied } from './support/traffic.ts';
import { withSettings } from './support/with-settings.ts';

type Era = 'handshake' | 'stateless';
type Json = ReturnType<typeof JSON.parse>;

/** The official client, with an access key, in one of the two eras of the protocol. */
async function connectClient(url: string, accessKey: string, era: Era): Promise<Client> {
  const versionNegotiation = era === 'stateless' ? { mode: { pin: '2026-07-28' } } : undefined;
  const client = new Client({ name: 'test', version: '1' }, versionNegotiation ? { versionNegotiation } : {});
  const requestInit = { headers: { authorization: `Bearer ${accessKey}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
  return client;
}

async function withClient<T>(
  url: string,
  accessKey: string,
  use: (client: Client) => Promise<T>,
  era: Era = 'handshake',
) {
  const client = await connectClient(url, accessKey, era);
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

async function listNames(client: Client): Promise<string[]> {
  const names: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.listTools(cursor === undefined ? {} : { cursor });
    names.push(...page.tools.map(tool => tool.name));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return names;
}

const callTool = async (client: Client, name: string, given: Record<string, unknown> = {}) => {
  const result = (await client.callTool({ name, arguments: given })) as Json;
  return { isError: result.isError === true, text: result.content[0].text as string, value: result.structuredContent };
};

const settings = { 'mcp.management.enabled': 'true', 'mcp.management.allow_writes': 'true' };

withSettings('management MCP server', { ...settings, 'management.max_body_bytes': '200000' }, (app, upstream) => {
  const url = (query = '') => `${app().url.dashboard}/mcp${query}`;
  const key = () => app().credentials.admin_access_key;
  const post = (body: unknown, headers: Record<string, string> = {}, query = '') =>
    fetch(url(query), {
      method: 'POST',
      headers: { authorization: key(), 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  const rpc = (method: string, params: object = {}) => ({ jsonrpc: '2.0', id: 1, method, params });

  for (const era of ['handshake', 'stateless'] as const)
    test(`the official client publishes an API, creates a key and finds out why a request is refused (${era})`, async () => {
      await withClient(url(), key(), client => publishAndExplain(client, app(), upstream().url, era), era);
    });

  test('mcp-management.md works as documented', async () => {
    const guide = walkOf('docs/guide/mcp-management.md');
    assert.ok(guide.promised.length >= 7, String(guide.promised.length));
    await guide.run({ DASHBOARD: app().url.dashboard, GATEWAY: app().url.gateway, DATA: app().directory });
  });

  test('tools follow the permissions of the caller, and calls get the refusals of the HTTP operation', async () => {
    const reader = await createReader(app());
    await withClient(url(), reader, async client => {
      const names = await listNames(client);
      assert.ok(names.includes('gw_list_apis') && !names.includes('gw_create_key') && !names.includes('gw_list_users'));
      const refused = await callTool(client, 'gw_create_key', { body: {} });
      assert.deepEqual([refused.isError, /^HTTP 403: .*keys:write/.test(refused.text)], [true, true], refused.text);
    });
  });

  test('objects of another organisation are not found', async () => {
    const { body } = await app().ask('POST', '/api/portal/policies', { body: { name: 'ours', access_rights: {} } });
    const { accessKey } = await app().stranger();
    await withClient(url(), accessKey, async client => {
      const found = await callTool(client, 'gw_get_policy', { policyId: body.Message });
      assert.match(found.text, /^HTTP 404/);
      assert.doesNotMatch((await callTool(client, 'gw_list_policies')).text, /ours/);
    });
  });

  test('read_only and tools offer less, and unknown groups and parameters are refused', async () => {
    await withClient(url('?read_only=true&tools=keys,policies'), key(), async client => {
      const { tools } = await client.listTools();
      const names = tools.map(tool => tool.name);
      assert.ok(names.includes('gw_get_key') && names.includes('gw_preview_key'));
      assert.ok(!names.includes('gw_create_key') && !names.includes('gw_list_apis'));
      assert.ok(tools.every(tool => tool.annotations?.readOnlyHint === true));
      for (const [name, reason] of [
        ['gw_create_key', /^.*Unknown tool: gw_create_key; it changes something, and tools are read-only here/],
        ['gw_list_apis', /Unknown tool: gw_list_apis; its group is apis, which the query parameter tools leaves out$/],
        ['gw_get_keys', /Unknown tool: gw_get_keys; did you mean gw_get_key\?$/],
        ['gw_nothing', /Unknown tool: gw_nothing$/],
      ] as const)
        await assert.rejects(client.callTool({ name, arguments: {} }), reason);
    });
    for (const [query, named] of [
      ['?tools=nothing', /must be some of analytics, apis/],
      ['?read_only=yes', /read_only/],
      ['?readonly=true', /readonly/],
    ] as const) {
      const reply = await post(rpc('tools/list'), {}, query);
      assert.equal(reply.status, 400);
      assert.match(await reply.text(), named);
    }
  });

  test('every tool has a unique name, a closed input schema of bounded size and hints', async () => {
    await withClient(url(), key(), async client => {
      const names = await listNames(client);
      assert.equal(new Set(names).size, names.length);
      assert.ok(names.length > 150, String(names.length));
      assert.ok(names.every(name => /^gw_[a-z_]{1,60}$/.test(name)));
      const { tools } = await client.listTools();
      for (const tool of tools) {
        assert.equal(tool.inputSchema.additionalProperties, false, tool.name);
        assert.ok(JSON.stringify(tool.inputSchema).length < 6200, tool.name);
      }
    });
  });

  test('gw_describe_tool returns the part of a schema that the list leaves out', async () => {
    await withClient(url(), key(), async client => {
      const path = ['properties', 'body', 'properties', 'access_rights'];
      const part = await callTool(client, 'gw_describe_tool', { name: 'gw_create_key', path });
      assert.match(part.text, /allowed_urls/);
      const whole = await callTool(client, 'gw_describe_tool', { name: 'gw_create_oas_api' });
      assert.ok(whole.text.length <= 100_000 && /x-gw-api-gateway/.test(whole.text));
      assert.equal((await callTool(client, 'gw_describe_tool', { name: 'gw_create_key', path: ['no'] })).isError, true);
      assert.equal((await callTool(client, 'gw_describe_tool', { name: 'gw_nothing' })).isError, true);
    });
  });

  test('arguments cannot change the route, and wrong ones are results that name them', async () => {
    const { body } = await app().ask('GET', '/api/users/me');
    await withClient(url(), key(), async client => {
      for (const keyId of ['', '.', '..']) {
        const refused = await callTool(client, 'gw_get_key_of_api', { apiId: keyId, keyId: 'x' });
        assert.deepEqual([refused.isError, refused.text], [true, 'apiId: must be neither empty nor a dot segment']);
      }
      const ended = await callTool(client, 'gw_end_session', { userId: body.id, sessionId: '' });
      assert.match(ended.text, /sessionId/);
      const escaped = await callTool(client, 'gw_get_key', { keyId: '../users/me?x=1#y' });
      assert.match(escaped.text, /^HTTP 404/);
      const wrong = await callTool(client, 'gw_get_key', { hash: true, body: {}, authorization: 'other', deep: {} });
      for (const name of ['keyId: is required', 'body: no such', 'authorization: no such', 'deep: no such'])
        assert.ok(wrong.text.includes(name), `${name}: ${wrong.text}`);
      const misplaced = await callTool(client, 'gw_create_key', { alias: 'x', wate: 'applied', body: '{}' });
      assert.deepEqual(misplaced.text.split('; '), [
        ...['alias: no such argument', 'did you mean body.alias?', 'wate: no such argument', 'did you mean wait?'],
        'body: must be the value itself, not its JSON text',
      ]);
    });
  });

  test('a write through a tool is audited as the operation of its caller', async () => {
    const body = { name: 'audited' };
    const made = await withClient(url(), key(), client => callTool(client, 'gw_create_policy', { body }));
    const { organisation_id: orgId } = app().credentials;
    assert.deepEqual(await readLastAudit(app()), ['createPolicy', made.value.Message, orgId, 200]);
  });

  test('a long response is cut and ends with a note, and a read with a version returns its entity tag', async () => {
    const meta_data = { text: 'x'.repeat(120_000) };
    const made = await app().ask('POST', '/api/portal/policies', { body: { name: 'long', meta_data } });
    await withClient(url(), key(), async client => {
      const { content, structuredContent } = (await client.callTool({
        name: 'gw_get_policy',
        arguments: { policyId: made.body.Message },
      })) as Json;
      assert.match(content[0].text, /\n\[cut: 100000 of \d+ characters; /);
      assert.equal(structuredContent, undefined);
      assert.match(content[1].text, /^ETag: "/);
      const [, etag] = content[1].text.split(': ');
      const body = { name: 'short' };
      const stale = { policyId: made.body.Message, body, 'if-match': '"other"' };
      assert.match((await callTool(client, 'gw_update_policy', stale)).text, /^HTTP 412/);
      const current = { policyId: made.body.Message, body, 'if-match': etag };
      assert.equal((await callTool(client, 'gw_update_policy', current)).isError, false);
    });
  });

  test('a request without an access key in Authorization is refused, with a session cookie too', async () => {
    const listed = rpc('tools/list');
    const refused = await fetch(url(), {
      method: 'POST',
      headers: { 'content-type': 'application/json', cookie: 'authorisation=anything' },
      body: JSON.stringify(listed),
    });
    assert.deepEqual([refused.status, refused.headers.get('www-authenticate')], [401, 'Bearer']);
    assert.equal((await post(listed, { authorization: 'wrong' })).status, 401);
    assert.equal((await post(listed, { authorization: `Bearer ${key()}` })).status, 200);
  });

  test('an Origin other than that of the dashboard is refused', async () => {
    const { port } = new URL(app().url.dashboard);
    const host = `attacker.example:${port}`;
    for (const origin of [`http://${host}`, 'null', 'https://127.0.0.1', 'not an origin'])
      assert.equal((await post(rpc('ping'), { origin })).status, 403, origin);
    assert.equal((await post(rpc('ping'), { origin: new URL(app().url.dashboard).origin })).status, 200);
  });

  test('messages that are not single JSON-RPC requests get errors of JSON-RPC', async () => {
    const cases: [body: unknown, status: number, code: number][] = [
      ['{', 400, -32_700],
      ['', 400, -32_700],
      ['{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}', 400, -32_700],
      [`${'['.repeat(200)}${']'.repeat(200)}`, 400, -32_700],
      [[rpc('ping')], 400, -32_600],
      [null, 400, -32_600],
      [{ ...rpc('ping'), jsonrpc: '1.0' }, 400, -32_600],
      [{ jsonrpc: '2.0', id: 1, result: {} }, 400, -32_600],
      [{ ...rpc('ping'), id: null }, 400, -32_600],
      [{ ...rpc('ping'), id: 'x'.repeat(300) }, 400, -32_600],
      [{ ...rpc('ping'), params: [] }, 400, -32_602],
      [rpc('initialize'), 200, -32_602],
      [rpc('tools/call'), 200, -32_602],
      [rpc('tools/call', { name: 'gw_get_me', arguments: [] }), 200, -32_602],
      [rpc('tools/list', { cursor: 'AAAA' }), 200, -32_602],
      [rpc('resources/list'), 200, -32_601],
      [rpc('server/discover'), 200, -32_601],
    ];
    for (const [body, status, code] of cases) {
      const reply = await post(body);
      const { error } = (await reply.json()) as Json;
      assert.deepEqual([reply.status, error.code], [status, code], JSON.stringify(body));
    }
    assert.equal((await post({ jsonrpc: '2.0', method: 'notifications/initialized' })).status, 202);
    assert.equal((await post('x'.repeat(250_000))).status, 413);
    assert.equal((await post(rpc('ping'), { 'content-type': 'text/plain' })).status, 415);
    const stream = await fetch(url(), { headers: { authorization: key(), accept: 'text/event-stream' } });
    assert.deepEqual([stream.status, stream.headers.get('allow')], [405, 'POST']);
  });

  test('revisions: a handshake negotiates a known one, and headers of the stateless one must repeat the body', async () => {
    const negotiate = async (protocolVersion: string) =>
      ((await (await post(rpc('initialize', { protocolVersion }))).json()) as Json).result.protocolVersion;
    assert.equal(await negotiate('2025-06-18'), '2025-06-18');
    assert.equal(await negotiate('1999-01-01'), '2025-11-25');
    const version = '2026-07-28';
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': version,
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const call = rpc('tools/call', { name: 'gw_get_me', _meta });
    const sent = { 'mcp-protocol-version': version, 'mcp-method': 'tools/call', 'mcp-name': 'gw_get_me' };
    const send = async (body: unknown, headers: Record<string, string>) => {
      const reply = await post(body, headers);
      const { error } = (await reply.json()) as Json;
      return [reply.status, error?.code];
    };
    assert.deepEqual(await send(call, sent), [200, undefined]);
    const name = Buffer.from('gw_get_me').toString('base64');
    assert.deepEqual(await send(call, { ...sent, 'mcp-name': `=?base64?${name}?=` }), [200, undefined]);
    assert.deepEqual(await send(call, { ...sent, 'mcp-name': 'gw_list_apis' }), [400, -32_020]);
    assert.deepEqual(await send(call, { ...sent, 'mcp-method': 'tools/list' }), [400, -32_020]);
    assert.deepEqual(await send(call, { 'mcp-protocol-version': '2025-11-25' }), [400, -32_020]);
    assert.deepEqual(await send(call, {}), [400, -32_020]);
    assert.deepEqual(await send(rpc('tools/list'), { 'mcp-protocol-version': version }), [400, -32_602]);
    assert.deepEqual(await send(rpc('ping'), { 'mcp-protocol-version': '2024-01-01' }), [400, -32_022]);
    const gone = { ...sent, 'mcp-method': 'initialize' };
    assert.deepEqual(await send(rpc('initialize', { _meta }), gone), [404, -32_601]);
  });
});

/** Publishes an API with a key through tools alone, calls it, and explains a request without the key. */
async function publishAndExplain(client: Client, app: TestApp, upstreamUrl: string, era: Era): Promise<void> {
  assert.match(client.getInstructions() ?? '', /gw_publish_openapi/);
  const document = {
    openapi: '3.0.3',
    info: { title: `Pets ${era}`, version: '1' },
    paths: { '/pets': { get: { operationId: 'listPets', responses: { 200: { description: 'ok' } } } } },
    components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } } },
    security: [{ key: [] }],
  };
  const apiID = `pets-${era}`;
  const published = await callTool(client, 'gw_publish_openapi', {
    body: document,
    upstreamURL: upstreamUrl,
    listenPath: `/pets-${era}/`,
    apiID,
    authentication: true,
    wait: 'applied',
  });
  assert.equal(published.isError, false, published.text);
  const rights = { [apiID]: { api_id: apiID, api_name: 'Pets', versions: ['Default'] } };
  const created = await callTool(client, 'gw_create_key', { body: { access_rights: rights }, wait: 'applied' });
  assert.equal(created.isError, false, created.text);
  await waitUntilApplied(app);
  const request = { method: 'GET', url: `${app.url.gateway}/pets-${era}/pets` };
  const served = await callTool(client, 'gw_call_api', {
    body: { ...request, headers: { 'X-Key': created.value.key_id } },
  });
  assert.equal(served.value.status_code, 200, served.text);
  const explained = await callTool(client, 'gw_explain', { body: request });
  assert.equal(explained.value.status_code, 401, explained.text);
  const { steps } = explained.value.explanation;
  assert.ok(
    steps.some((step: Json) => step.refusal !== undefined && step.about),
    explained.text,
  );
}

/** A user of the operator's organisation who may read APIs only. */
async function createReader(app: TestApp): Promise<string> {
  const { body } = await app.ask('POST', '/admin/users', {
    body: {
      org_id: app.credentials.organisation_id,
      email_address: 'mcp-reader@example.com',
      first_name: 'A',
      last_name: 'B',
      active: true,
      user_permissions: { apis: 'read' },
    },
  });
  return body.Message;
}

withSettings('management MCP server by its settings', { 'mcp.management.enabled': 'true' }, app => {
  test('tools change nothing unless mcp.management.allow_writes is on', async () => {
    await withClient(`${app().url.dashboard}/mcp`, app().credentials.admin_access_key, async client => {
      const names = await listNames(client);
      assert.ok(names.includes('gw_list_apis') && names.includes('gw_plan_configuration'));
      assert.ok(!names.some(name => /create|update|delete|apply|call_api/.test(name)), names.join(' '));
      await assert.rejects(
        client.callTool({ name: 'gw_create_key', arguments: { body: {} } }),
        /Unknown tool: gw_create_key; it changes something, .* mcp\.management\.allow_writes is off$/,
      );
    });
  });
});
