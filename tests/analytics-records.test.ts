import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { LoggedCall } from '#analytics/schema.ts';
import { createPublicId } from '#base/ids.ts';
import { startApp, type TestApp } from './support/app.ts';
import type { Published } from './support/both-formats.ts';
import { errorBody } from './support/step-harness.ts';
import { openApi, publish } from './support/traffic.ts';
import { keyFor, type Shaping, shape } from './support/transform-fixtures.ts';
import { eventually, startUpstream, type Upstream } from './support/upstream.ts';

const canary = 'canary-of-the-operator';

describe('Analytics records', () => {
  let app: TestApp;
  let upstream: Upstream;
  before(async () => {
    process.env.GW_SECRET_TESTED = 'canary-in-the-environment';
    const settings = { 'secrets.values': JSON.stringify({ upstream: canary }) };
    [app, upstream] = await Promise.all([startApp('sqlite', { settings }), startUpstream()]);
  });
  after(async () => {
    delete process.env.GW_SECRET_TESTED;
    await app?.close();
    await upstream?.close();
  });
  const shapeApi = (wish: Shaping) => shape(app, upstream, wish);
  const waitForLogs = ({ apiId }: Pick<Published, 'apiId'>) =>
    eventually(async () => {
      const { body } = await app.ask('GET', `/api/logs?start=0&end=9999999999&api_id=${apiId}`);
      assert.equal(body.data.length, 1);
      return body.data[0] as LoggedCall;
    });
  const text = (base64: string) => Buffer.from(base64, 'base64').toString('latin1');

  test('headers named by an API become tags in lower case', async () => {
    const apis = await shapeApi({
      classic: { tag_headers: ['X-Team', 'X-Absent'] },
      oas: { middleware: { global: { trafficLogs: { enabled: true, tagHeaders: ['X-Team', 'X-Absent'] } } } },
    });
    for (const api of apis) {
      await fetch(`${api.url}/a`, { headers: { 'x-team': 'blue' } });
      const { tags } = await waitForLogs(api);
      assert.deepEqual(
        tags.filter(tag => /^x-/i.test(tag)),
        ['x-team-blue'],
        api.format,
      );
    }
  });

  const secretly = { add: { 'X-Upstream': 'Bearer $secret_conf.upstream', 'X-Plain': 'yes' } };

  test('detailed recording of an API or a key stores request and response without secrets added by the gateway', async () => {
    const wish = { guarded: true, request: secretly, response: secretly };
    const asking = await shapeApi({
      ...wish,
      classic: { enable_detailed_recording: true },
      oas: {
        server: {
          authentication: { enabled: true, securitySchemes: { authToken: { enabled: true } } },
          detailedActivityLogs: { enabled: true },
        },
      },
    });
    const silent = await shapeApi(wish);
    const key = await keyFor(app, [...asking, ...silent]);
    const rights = Object.fromEntries(silent.map(({ apiId }) => [apiId, { api_id: apiId, versions: ['Default', ''] }]));
    const { body } = await app.ask('POST', '/api/keys', {
      body: { enable_detailed_recording: true, access_rights: rights },
    });
    for (const [apis, authorization] of [
      [asking, key],
      [silent, String(body.key_id)],
    ] as const)
      for (const api of apis) {
        const reply = await fetch(`${api.url}/a`, { headers: { authorization } });
        assert.equal(reply.headers.get('x-upstream'), `Bearer ${canary}`);
        const { raw_request, raw_response } = await waitForLogs(api);
        for (const raw of [raw_request, raw_response]) {
          assert.match(text(raw), /X-Upstream: \*\*\*\r\nX-Plain: yes/, api.format);
          assert.doesNotMatch(text(raw), /canary/);
        }
      }
    const [plain] = await shapeApi(wish);
    await fetch(`${plain!.url}/a`, { headers: { authorization: await keyFor(app, [plain!]) } });
    assert.equal((await waitForLogs(plain!)).raw_request, '');
  });

  test('a detailed record of a looped request has no credential of the API that it came through', async () => {
    const inner = openApi(upstream, { enable_detailed_recording: true });
    const outer = openApi(upstream, {
      use_keyless: false,
      use_standard_auth: true,
      auth_configs: { authToken: { auth_header_name: 'X-Outer' } },
      proxy: { target_url: `gw://${inner.api_id}` },
    });
    await publish(app, inner);
    const url = await publish(app, outer);
    const key = await keyFor(app, [{ apiId: outer.api_id }]);
    assert.equal((await fetch(`${url}/a`, { headers: { 'x-outer': key } })).status, 200);
    const raw = text((await waitForLogs({ apiId: inner.api_id })).raw_request);
    assert.match(raw, /^x-outer: \*\*\*\r$/im);
    assert.ok(!raw.includes(key));
  });

  test('a debug request shows the upstream request without secrets', async () => {
    const spec = {
      api_id: 'tested',
      name: 'Tested',
      use_keyless: true,
      proxy: { listen_path: '/tested/', target_url: upstream.url, strip_listen_path: true },
      version_data: {
        not_versioned: true,
        versions: {
          Default: {
            name: 'Default',
            global_headers: { ...secretly.add, 'X-Older': 'env://TESTED' },
            global_response_headers: secretly.add,
          },
        },
      },
    };
    const { status, text: shown } = await app.ask('POST', '/gw/debug', { body: { spec, request: { path: '/a' } } });
    assert.equal(status, 200, shown);
    assert.match(shown, /X-Upstream: Bearer \*{8}/);
    assert.doesNotMatch(shown, /canary/);
    const { 'x-upstream': sent, 'x-older': older } = upstream.requests.at(-1)!.headers;
    assert.deepEqual([sent, older], [`Bearer ${canary}`, 'canary-in-the-environment']);
  });

  test('an API with an expiry sends it in a response header, and refuses requests afterwards', async () => {
    const publishExpiring = async (expiration: string) => {
      const classic = openApi(upstream, { expiration });
      const id = createPublicId();
      const gateway = {
        info: { id, name: id, state: { active: true }, expiration },
        server: { listenPath: { value: `/${id}`, strip: true } },
        upstream: { url: upstream.url },
      };
      const document = { openapi: '3.0.3', info: { title: id, version: '1' }, paths: {} };
      const body = { ...document, 'x-gw-api-gateway': gateway };
      const { status, text: reply } = await app.ask('POST', '/gw/apis/oas', { body });
      assert.equal(status, 200, reply);
      return [await publish(app, classic), `${app.url.gateway}/${id}`];
    };
    for (const url of await publishExpiring('2999-01-02 03:04'))
      assert.equal((await fetch(url)).headers.get('x-gw-api-expires'), 'Wed, 02 Jan 2999 03:04:00 GMT');
    const over = 'API has expired, please check documentation or contact administrator';
    for (const url of await publishExpiring('2001-01-02 03:04')) {
      const reply = await fetch(url);
      assert.deepEqual([reply.status, await reply.text()], [403, errorBody(over)]);
    }
  });
});
