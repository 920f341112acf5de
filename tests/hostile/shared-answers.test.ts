import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { type Definition, openApi, publish, waitUntilApplied } from '../support/traffic.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const cache_options = { enable_cache: true, cache_timeout: 60, cache_all_safe_requests: true };

describe('Cached responses across clients', () => {
  let app: TestApp;
  let upstream: Upstream;
  before(async () => {
    upstream = await startUpstream();
    app = await startApp('sqlite', { settings: { 'log.level': 'error', 'gateway.trusted_proxies': '127.0.0.0/8' } });
  });
  after(async () => {
    await app?.close();
    await upstream?.close();
  });

  async function keyFor({ api_id }: Definition, meta_data: object): Promise<string> {
    const access_rights = { [api_id]: { api_id, api_name: api_id, versions: ['Default'] } };
    const { body, text } = await app.ask('POST', '/api/keys', { body: { meta_data, access_rights } });
    assert.ok(body?.key_id, text);
    return body.key_id;
  }

  test('forwarded client headers are part of the cache key', async () => {
    const url = await publish(app, openApi(upstream, { cache_options }));
    for (const [name, values] of Object.entries({
      'x-forwarded-proto': ['http', 'https'],
      'x-forwarded-host': ['a.example', 'b.example'],
      'x-forwarded-for': ['192.0.2.1', '192.0.2.2'],
    })) {
      const seen = [];
      for (const value of [...values, ...values]) {
        const reply = await fetch(`${url}/${name}`, { headers: { [name]: value } });
        const { headers } = (await reply.json()) as { headers: Record<string, string> };
        seen.push([headers[name]!.split(',')[0], reply.headers.get('x-gw-cached-response')]);
      }
      const [one, other] = values;
      assert.deepEqual(seen, [
        [one, null],
        [other, null],
        [one, '1'],
        [other, '1'],
      ]);
    }
  });

  test('a keyless API behind another API caches responses per client of that API', async () => {
    const name = `inner${createPublicId()}`;
    const inner = openApi(upstream, { name, internal: true, cache_options });
    await app.ask('POST', '/api/apis', { body: { api_definition: inner } });
    const versions = { Default: { name: 'Default', global_headers: { 'X-User': '$gw_meta.user' } } };
    const outer = openApi(upstream, {
      use_keyless: false,
      use_standard_auth: true,
      auth: { auth_header_name: 'X-Key' },
      strip_auth_data: true,
      proxy: { target_url: `gw://${name}/` },
      version_data: { not_versioned: true, versions },
    });
    const url = await publish(app, outer);
    const keys = await Promise.all(['ann', 'bob'].map(user => keyFor(outer, { user })));
    await waitUntilApplied(app);
    const seen = [];
    for (const key of [...keys, ...keys]) {
      const reply = await fetch(`${url}/mine`, { headers: { 'X-Key': key } });
      const { headers } = (await reply.json()) as { headers: Record<string, string> };
      seen.push([headers['x-user'], reply.headers.get('x-gw-cached-response')]);
    }
    assert.deepEqual(seen, [
      ['ann', null],
      ['bob', null],
      ['ann', '1'],
      ['bob', '1'],
    ]);
  });
});
