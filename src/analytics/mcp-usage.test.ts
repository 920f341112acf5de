import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine, type TestApp } from '../../tests/support/app.ts';
import { batchOf, type GivenCall, someApi } from '../../tests/support/records.ts';
import { eventually, waitUntilApplied } from '../../tests/support/traffic.ts';
import { startUpstream, type Upstream } from '../../tests/support/upstream.ts';
import { anonymousKey, forEachCall } from './batch.ts';
import { createUsageRollUp } from './roll-up.ts';
import type { UsageItem } from './schema.ts';

const range = '1/6/2025/2/6/2025';
const at = Date.UTC(2025, 5, 1, 20);

async function store(app: TestApp, calls: readonly GivenCall[], orgId?: string): Promise<string> {
  const api = { ...someApi, id: createPublicId(), orgId: orgId ?? app.credentials.organisation_id };
  const made = createUsageRollUp({ rowsPerMinute: 10_000, normalisePaths: false });
  forEachCall(batchOf(calls.map(call => ({ atMs: at, ...call, api }))), made.add);
  await app.application.installation.services.usage.add(made.drain(0));
  return api.id;
}

const tool = (mcpPrimitiveName: string, more: GivenCall = {}): GivenCall => ({
  mcpMethod: 'tools/call',
  mcpPrimitiveType: 'tool',
  mcpPrimitiveName,
  ...more,
});
const prompt = (mcpPrimitiveName: string): GivenCall => ({
  mcpMethod: 'prompts/get',
  mcpPrimitiveType: 'prompt',
  mcpPrimitiveName,
});

onEveryEngine(
  'MCP usage',
  app => {
    let upstream: Upstream;
    before(async () => {
      upstream = await startUpstream();
    });
    after(() => upstream?.close());

    const list = async (path: string) => {
      const { status, body, text } = await app().ask('GET', path);
      assert.equal(status, 200, `${path}: ${text}`);
      return body.data as UsageItem[];
    };
    const format = ({ id, hits, error }: UsageItem) =>
      [id.mcp_method, id.mcp_primitive_type, id.mcp_primitive_name, hits, error].join('|');

    test('usage of MCP proxies counts requests with a message, and groups them by method and primitive', async () => {
      const apiId = await store(app(), [
        tool('a'),
        tool('a', { status: 500 }),
        prompt('a'),
        { mcpMethod: 'initialize' },
        {},
      ]);
      const other = await store(app(), [{}]);
      const path = `/api/usage/mcp/${range}?api_id=${apiId}`;
      const [item] = await list(path);
      assert.deepEqual([item!.id.api_id, item!.hits, item!.error], [apiId, 4, 1]);
      assert.deepEqual(await list(`/api/usage/mcp/${range}?api_id=${other}`), []);
      assert.ok((await list(`/api/usage/mcp/${range}?p=-1`)).every(({ id }) => id.api_id !== other));
      assert.deepEqual((await list(`${path}&group_by=mcp_method`)).map(format).sort(), [
        'initialize|||1|0',
        'prompts/get|||1|0',
        'tools/call|||2|1',
      ]);
      assert.deepEqual((await list(`${path}&group_by=mcp_primitive`)).map(format).sort(), [
        '|prompt|a|1|0',
        '|tool|a|2|1',
        '|||1|0',
      ]);
      const { text } = await app().ask('GET', `${path}&group_by=mcp_primitive&type=csv`);
      assert.match(text, /,mcp_method,mcp_primitive_type,mcp_primitive_name,tag,hits,/);
      assert.match(text, /,tool,a,,2,1,1,/);
    });

    test('primitives are counted by type and name, the most used first, filtered, and up to a limit', async () => {
      const complete = { ...prompt('b'), mcpMethod: 'completion/complete' };
      const calls = [tool('a'), tool('a'), tool('a', { status: 500 }), tool('b'), tool('b'), prompt('b'), complete];
      const apiId = await store(app(), [...calls, { mcpMethod: 'tools/list' }]);
      const read = async (query: string, part = '') =>
        (await list(`/api/activity/mcp/primitives${part}/${range}?api_id=${apiId}${query}`)).map(format);
      assert.deepEqual(await read(''), ['|tool|a|3|1', '|prompt|b|2|0', '|tool|b|2|0']);
      assert.deepEqual(await read('&group_by=mcp_primitive&limit=1'), ['|tool|a|3|1']);
      assert.deepEqual(await read('&limit=1&p=3'), ['|tool|b|2|0']);
      assert.deepEqual(await read('&mcp_primitive_type=prompt'), ['|prompt|b|2|0']);
      assert.deepEqual(await read('&mcp_method=prompts/get'), ['|prompt|b|1|0']);
      assert.deepEqual(await read('&mcp_primitive_name=b&by=hits&sort=1'), ['|prompt|b|2|0', '|tool|b|2|0']);
      assert.deepEqual(await read('', '/errors'), ['|tool|a|1|1']);
      assert.deepEqual(await read('&mcp_primitive_name=b', '/errors'), []);
      const csv = await app().ask('GET', `/api/activity/mcp/primitives/${range}?api_id=${apiId}&type=csv&limit=2`);
      assert.equal(csv.text.trimEnd().split('\r\n').length, 3);
    });

    test('primitives are counted by day of the time zone', async () => {
      const apiId = await store(app(), [tool('a')]);
      const path = `/api/activity/mcp/primitives/${range}?api_id=${apiId}&res=day`;
      assert.deepEqual(
        (await list(path)).map(({ id }) => id.day),
        [1],
      );
      assert.deepEqual(
        (await list(`${path}&tz=Asia/Kolkata`)).map(({ id }) => id.day),
        [2],
      );
    });

    test('the activity of a key is its requests by primitive; an unknown key is 404, one without requests is not', async () => {
      const hash = 'abcdef0123456789';
      const apiId = await store(app(), [tool('a', { keyHash: hash }), { keyHash: hash, mcpMethod: 'ping' }, tool('a')]);
      const ofKey = (key: string, query = '') => `/api/activity/mcp/keys/${key}/${range}?api_id=${apiId}${query}`;
      assert.deepEqual((await list(ofKey(hash.toUpperCase()))).map(format).sort(), ['|tool|a|1|0', '|||1|0']);
      assert.deepEqual((await list(ofKey(hash, '&mcp_method=ping'))).map(format), ['|||1|0']);
      assert.deepEqual((await list(ofKey(anonymousKey))).map(format), ['|tool|a|1|0']);
      assert.deepEqual(await list(ofKey(anonymousKey, '&mcp_method=ping')), []);
      const unknown = await app().ask('GET', ofKey('0000000000000001'));
      assert.deepEqual([unknown.status, unknown.body.Message], [404, 'Key not found']);
      const made = await createKeyOf(app(), await publishProxy(app(), upstream));
      assert.equal(made.status, 200, made.text);
      assert.deepEqual(await list(ofKey(made.body.key_hash)), []);
    });

    test('requests of another organisation are not counted', async () => {
      const hash = 'feedfeedfeedfeed';
      const apiId = await store(app(), [tool('foreign', { keyHash: hash })], createPublicId());
      assert.deepEqual(await list(`/api/usage/mcp/${range}?api_id=${apiId}`), []);
      assert.deepEqual(await list(`/api/activity/mcp/primitives/${range}?mcp_primitive_name=foreign`), []);
      assert.equal((await app().ask('GET', `/api/activity/mcp/keys/${hash}/${range}`)).status, 404);
    });

    test('wrong parameters are refused with the reason', async () => {
      for (const [path, message] of [
        [`/api/activity/mcp/primitives/${range}?mcp_primitive_type=tools`, /^mcp_primitive_type: /],
        [`/api/activity/mcp/primitives/${range}?limit=0`, /^limit: /],
        [`/api/activity/mcp/primitives/errors/${range}?limit=5`, /limit/],
        [`/api/activity/mcp/keys/xyz/${range}`, /^keyId: must be the hash of a key/],
        ['/api/usage/mcp/31/2/2025/1/3/2025', /^startDay: /],
      ] as const) {
        const { status, body } = await app().ask('GET', path);
        assert.equal(status, 400, path);
        assert.match(body.Message, message, path);
      }
    });

    test('a call of a tool through the gateway is counted by its name, a refused one as an error', async () => {
      const { id, url } = await publishProxy(app(), upstream);
      const send = (name: string) =>
        fetch(url, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name } }),
        });
      assert.equal((await send('echo')).status, 200);
      assert.equal((await send('danger')).status, 403);
      await eventually(async () =>
        assert.deepEqual(
          (await list(`/api/activity/mcp/primitives/1/1/2020/31/12/2099?api_id=${id}`)).map(format).sort(),
          ['|tool|danger|1|1', '|tool|echo|1|0'],
        ),
      );
    });
  },
  { settings: { 'analytics.retention_days': '0' } },
);

async function publishProxy(app: TestApp, upstream: Upstream) {
  const path = `/${createPublicId()}/`;
  const { status, body, text } = await app.ask('POST', '/api/mcps', {
    body: {
      openapi: '3.0.3',
      info: { title: 'Tools', version: '1' },
      paths: {},
      'x-gw-api-gateway': {
        info: { name: path, state: { active: true } },
        server: { listenPath: { value: path, strip: true } },
        upstream: { url: upstream.url },
        middleware: { global: { trafficLogs: { enabled: true } }, mcpTools: { danger: { block: { enabled: true } } } },
      },
    },
  });
  assert.equal(status, 200, text);
  await waitUntilApplied(app);
  return { id: body.ID as string, url: app.url.gateway + path };
}

const createKeyOf = (app: TestApp, { id }: { readonly id: string }) =>
  app.ask('POST', '/api/keys', {
    body: { access_rights: { [id]: { api_id: id, versions: ['Default'] } } },
  });
