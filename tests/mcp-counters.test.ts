import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { startApp, type TestApp } from './support/app.ts';
import { waitUntilApplied } from './support/traffic.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';

const open = (id: string, url: string, paths: object = {}, listenPath = `/${id}/`) => ({
  openapi: '3.0.3',
  info: { title: id, version: '1' },
  paths,
  'x-gw-api-gateway': {
    info: { id, name: id, state: { active: true } },
    upstream: { url },
    server: { listenPath: { value: listenPath, strip: true } },
  },
});
const paths = { '/pets': { get: { operationId: 'listPets', responses: { 200: { description: 'OK' } } } } };

describe('MCP proxies of one organisation', () => {
  let app: TestApp;
  let upstream: Upstream;
  before(async () => {
    const settings = { 'limits.organisations': 'true' };
    [app, upstream] = await Promise.all([startApp('sqlite', { settings }), startUpstream()]);
  });
  after(async () => {
    await app?.close();
    await upstream?.close();
  });

  const callTool = async (url: string) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'listPets' } });
    const reply = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    await reply.text();
    return reply.status;
  };

  for (const [what, limits, status] of [
    ['rate', { rate: 2, per: 1000 }, 403],
    ['quota', { quota_max: 2, quota_renewal_rate: 1000 }, 403],
  ] as const)
    test(`a call of a tool counts once against the ${what} of the organisation, which proxy and API share`, async () => {
      const { orgId, accessKey } = await app.stranger();
      const [petId, toolId] = [createPublicId(), createPublicId()];
      const send = async (path: string, body: object) => {
        const made = await app.ask('POST', path, { body, credential: accessKey });
        assert.equal(made.status, 200, made.text);
      };
      await send('/api/apis/oas', open(petId, upstream.url, paths));
      await send('/api/mcps', open(toolId, `gw://${petId}/mcp`));
      assert.equal((await app.ask('POST', `/gw/org/keys/${orgId}`, { body: limits })).status, 200);
      await waitUntilApplied(app);
      const url = `${app.url.gateway}/${toolId}/`;
      assert.deepEqual([await callTool(url), await callTool(url), await callTool(url)], [200, 200, status]);
      assert.equal((await fetch(`${app.url.gateway}/${petId}/pets`)).status, status);
    });

  test('a second MCP proxy at the same listen path is refused, and one below it gets its own requests', async () => {
    const [first, second, inner] = [createPublicId(), createPublicId(), createPublicId()];
    const create = (id: string, listenPath: string) =>
      app.ask('POST', '/api/mcps', { body: open(id, `${upstream.url}/${id}`, {}, listenPath) });
    assert.equal((await create(first, `/${first}/`)).status, 200);
    const refused = await create(second, `/${first}/`);
    assert.equal(refused.status, 409, refused.text);
    assert.equal((await create(inner, `/${first}/inner/`)).status, 200);
    await waitUntilApplied(app);
    for (const [path, id] of [
      [`/${first}/x`, first],
      [`/${first}/inner/x`, inner],
    ] as const) {
      assert.equal((await fetch(app.url.gateway + path)).status, 200);
      assert.equal(upstream.requests.at(-1)!.url, `/${id}/x`);
    }
  });
});
