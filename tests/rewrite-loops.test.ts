import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startApp, type TestApp } from './support/app.ts';
import { errorBody } from './support/step-harness.ts';
import { fetchForwarded, keyFor, type Shaping, shape } from './support/transform-fixtures.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';

describe('Internal loops (gw://)', () => {
  let app: TestApp;
  let upstream: Upstream;
  before(async () => {
    [app, upstream] = await Promise.all([startApp('sqlite'), startUpstream()]);
  });
  after(async () => {
    await app?.close();
    await upstream?.close();
  });
  const shapeApi = (wish: Shaping) => shape(app, upstream, wish);
  const rewrite = (pattern: string, to: string) =>
    shapeApi({ endpoints: [{ path: '/a/{rest}', rewrite: { pattern, to } }] });

  test('loops within an API and to others use the parameters of the target, never those of the client', async () => {
    const [inner] = await shapeApi({
      endpoints: [{ path: '/in/{x}', method: 'POST', request: { add: { 'X-Inner': '1' } } }],
      classic: { internal: true, name: 'Inner API #tag' },
    });
    const apis = await shapeApi({
      guarded: true,
      endpoints: [
        { path: '/self/{x}', rewrite: { pattern: '/self/(\\w+)', to: 'gw://self/hidden?y=$1' } },
        { path: '/hidden', internal: true, rewrite: { pattern: 'y=(.*)', to: '/found/$1' } },
        { path: '/id', rewrite: { pattern: '.*', to: `gw://${inner!.apiId}/in/1?a=1&method=POST` } },
        { path: '/name', rewrite: { pattern: '.*', to: 'gw://inner-api/in/1?method=post' } },
        { path: '/turned', toMethod: 'POST', rewrite: { pattern: '.*', to: `gw://${inner!.apiId}/in/1` } },
        { path: '/claims', rewrite: { pattern: '\\?(.*)', to: `gw://${inner!.apiId}/in/1?x=1&$1` } },
        { path: '/verb/{v}', rewrite: { pattern: '/verb/(.*)', to: `gw://${inner!.apiId}/in/1?method=$1` } },
        { path: '/nowhere', rewrite: { pattern: '.*', to: 'gw://nobody/x' } },
        { path: '/round', rewrite: { pattern: '.*', to: 'gw://self/round' } },
        { path: '/short', rewrite: { pattern: '.*', to: 'gw://self/short?loop_limit=2' } },
      ],
    });
    const headers = { authorization: await keyFor(app, apis) };
    for (const { format, url } of apis) {
      const got = async (path: string) => {
        const { url: target, method, headers: its } = await fetchForwarded(upstream, url + path, { headers });
        return [target, method, its['x-inner']];
      };
      const fetchRefusal = async (path: string) => {
        const reply = await fetch(url + path, { headers });
        return [reply.status, await reply.text()];
      };
      assert.deepEqual(await got('/self/z?q=1'), ['/found/z', 'GET', undefined], format);
      assert.deepEqual(await fetchRefusal('/hidden'), [403, errorBody('Requested endpoint is forbidden')], format);
      assert.deepEqual(await got('/id?mine=1'), ['/in/1?a=1', 'POST', '1'], format);
      assert.deepEqual(await got('/name'), ['/in/1', 'POST', '1'], format);
      assert.deepEqual(await got('/turned'), ['/in/1', 'POST', '1'], format);
      const claims = '/claims?method=DELETE&loop_limit=99&check_limits=true&b=2';
      assert.deepEqual(await got(claims), ['/in/1?x=1&b=2', 'GET', undefined], format);
      assert.deepEqual(await got('/verb/put'), ['/in/1', 'PUT', undefined], format);
      assert.deepEqual(await got('/verb/put&loop_limit=9'), ['/in/1', 'GET', undefined], format);
      assert.deepEqual(await fetchRefusal('/nowhere'), [500, errorBody("Can't detect loop target")], format);
      const deep = (limit: number) => `Loop level too deep. Found more than ${limit} loops in single request`;
      assert.deepEqual(await fetchRefusal('/round'), [500, errorBody(deep(5))], format);
      assert.deepEqual(await fetchRefusal('/short'), [500, errorBody(deep(2))], format);
    }
  });

  test('the target API of a loop authenticates the request itself', async () => {
    const [guarded] = await shapeApi({ guarded: true });
    for (const { format, url } of await rewrite('.*', `gw://${guarded!.apiId}/x`)) {
      const reply = await fetch(`${url}/a/x`);
      assert.deepEqual([reply.status, await reply.text()], [401, errorBody('Authorization field missing')], format);
      const headers = { authorization: await keyFor(app, [guarded!]) };
      assert.equal((await fetchForwarded(upstream, `${url}/a/x`, { headers })).url, '/x', format);
    }
  });

  test('limits are checked again in a loop only when the target requests it', async () => {
    const apis = await shapeApi({
      guarded: true,
      endpoints: [
        { path: '/free', rewrite: { pattern: '.*', to: 'gw://self/end' } },
        { path: '/counted', rewrite: { pattern: '.*', to: 'gw://self/end?check_limits=true' } },
      ],
    });
    const rights = Object.fromEntries(apis.map(({ apiId }) => [apiId, { api_id: apiId, versions: ['Default', ''] }]));
    for (const { format, url } of apis)
      for (const [path, expected] of [
        ['/free', [200, 200, 403]],
        ['/counted', [200, 403, 403]],
      ] as const) {
        const body = { quota_max: 2, quota_renewal_rate: 3600, access_rights: rights };
        const { key_id } = (await app.ask('POST', '/api/keys', { body })).body;
        const statuses: number[] = [];
        for (const _ of expected)
          statuses.push((await fetch(url + path, { headers: { authorization: key_id } })).status);
        assert.deepEqual(statuses, expected, `${format} ${path}`);
      }
  });
});
