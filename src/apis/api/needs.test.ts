import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { waitUntilApplied } from '../../../tests/support/traffic.ts';

onEveryEngine('incomplete definitions', app => {
  const target_url = 'http://127.0.0.1:9/';
  const write = (method: string, path: string, body: object) => app().ask(method, path, { body });

  test('a definition without a listen path or an upstream is rejected, and nothing is stored', async () => {
    const before = (await app().ask('GET', '/gw/apis')).text;
    const both = 'proxy.listen_path: is required; proxy.target_url: is required';
    const bare = await write('POST', '/gw/apis', { name: 'X' });
    assert.deepEqual([bare.status, bare.body.message], [400, both]);
    const wrapped = await write('POST', '/api/apis', { api_definition: { name: 'X', proxy: { target_url } } });
    assert.deepEqual([wrapped.status, wrapped.body.Message], [400, 'api_definition.proxy.listen_path: is required']);
    const { body } = await write('POST', '/admin/apis/import', { apis: [{ api_definition: { api_id: 'bare' } }] });
    assert.match(body.Errors.bare, /^apis\[0\]\.api_definition\.proxy\.listen_path: is required; /);
    assert.equal((await app().ask('GET', '/gw/apis')).text, before);
  });

  test('an update that removes the upstream is rejected', async () => {
    const api_id = createPublicId();
    const whole = { api_id, name: 'X', proxy: { listen_path: `/${api_id}/`, target_url } };
    assert.equal((await write('POST', '/gw/apis', whole)).status, 200);
    const { status, body } = await write('PUT', `/gw/apis/${api_id}`, { ...whole, proxy: { listen_path: '/x/' } });
    assert.deepEqual([status, body.message], [400, 'proxy.target_url: is required']);
    assert.equal((await app().ask('GET', `/gw/apis/${api_id}`)).body.proxy.target_url, target_url);
  });

  test('a version needs no listen path when it is created or updated', async () => {
    const base = {
      api_id: createPublicId(),
      name: 'Base',
      proxy: { listen_path: `/${createPublicId()}/`, target_url },
    };
    await write('POST', '/gw/apis', base);
    const query = `base_api_id=${base.api_id}&base_api_version_name=v1&new_version_name=v2`;
    const child = { api_id: createPublicId(), name: 'Child', proxy: { target_url } };
    assert.equal((await write('POST', `/gw/apis?${query}`, child)).status, 200);
    assert.equal((await write('PUT', `/gw/apis/${child.api_id}`, { ...child, slug: 's' })).status, 200);
    const bare = await write('PUT', `/gw/apis/${child.api_id}`, { ...child, proxy: {} });
    assert.deepEqual([bare.status, bare.body.message], [400, 'proxy.target_url: is required']);
  });

  test('mock responses are served without an upstream, and other requests are rejected', async () => {
    const id = createPublicId();
    const mocked = { path: '/mocked', method: 'GET', code: 200, body: 'from a mock' };
    const extended_paths = { mock_response: [mocked] };
    const definition = {
      api_id: id,
      name: 'Mocks',
      active: true,
      use_keyless: true,
      proxy: { listen_path: `/${id}/`, strip_listen_path: true },
      version_data: {
        not_versioned: true,
        versions: { Default: { name: 'Default', use_extended_paths: true, extended_paths } },
      },
    };
    const made = await write('POST', '/gw/apis', definition);
    assert.equal(made.status, 200, made.text);
    await waitUntilApplied(app());
    const reply = await fetch(`${app().url.gateway}/${id}/mocked`);
    assert.deepEqual([reply.status, await reply.text()], [200, 'from a mock']);
    assert.equal((await fetch(`${app().url.gateway}/${id}/other`)).status, 503);
    assert.equal((await app().ask('GET', `/gw/apis/${id}/status`)).body.served, true);
  });
});
