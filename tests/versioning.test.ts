import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startApp, type TestApp } from './support/app.ts';
import { eventually, openApi, publish, waitUntilApplied } from './support/traffic.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';

interface Event {
  event?: string;
  api_id?: string;
  message?: string;
}

interface Asked {
  readonly path?: string;
  readonly headers?: Record<string, string>;
}

let app: TestApp;
let upstream: Upstream;
const events: Event[] = [];
before(async () => {
  const onLog = (line: string) => void events.push(JSON.parse(line));
  [app, upstream] = await Promise.all([startApp('sqlite', { onLog }), startUpstream()]);
});
after(async () => {
  await app.close();
  await upstream.close();
});

/** What a call reaches, as the upstream's path; or the status and words of its refusal. */
async function reaches(url: string, { path = '/x', headers = {} }: Asked = {}): Promise<string> {
  const reply = await fetch(url + path, { headers });
  const { url: reached, error } = (await reply.json()) as { url?: string; error?: string };
  return reached ?? `${reply.status} ${error}`;
}

async function failures(apiId: string, count: number): Promise<void> {
  const listFailures = () => events.filter(it => it.event === 'VersionFailure' && it.api_id === apiId);
  await eventually(() => assert.equal(listFailures().length, count));
  for (const { message } of listFailures()) assert.equal(message, 'Attempted access to disallowed version / path.');
}

const missing = '403 Version information not found';

describe('Versions of one definition', () => {
  const unknown = '403 This API version does not seem to exist';
  const versions = (target: string) => ({
    v1: { name: 'v1' },
    v2: { name: 'v2', override_target: `${target}/two` },
    old: { name: 'old', expires: '2020-01-01 00:00' },
  });
  const createVersionedApi = (definition: object, data: object = {}, proxy: object = {}) =>
    openApi(upstream, {
      definition: { key: 'x-v', ...definition },
      version_data: { not_versioned: false, versions: versions(upstream.url), ...data },
      proxy,
    });

  test('a header selects the version; a missing, unknown or expired one is refused and emits an event', async () => {
    const api = createVersionedApi({ location: 'header' });
    const url = await publish(app, api);
    assert.equal(await reaches(url, { headers: { 'x-v': 'v1' } }), '/x');
    assert.equal(await reaches(url, { headers: { 'X-V': 'v2' } }), '/two/x');
    assert.equal(await reaches(url), missing);
    assert.equal(await reaches(url, { headers: { 'x-v': 'v3' } }), unknown);
    assert.equal(
      await reaches(url, { headers: { 'x-v': 'old' } }),
      '403 Api Version has expired, please check documentation or contact administrator',
    );
    await failures(api.api_id, 3);
  });

  test('a query parameter selects the version, and is stripped when configured', async () => {
    const kept = await publish(app, createVersionedApi({ location: 'url-param', key: 'v' }));
    assert.equal(await reaches(kept, { path: '/x?a=1&v=v2&b=2' }), '/two/x?a=1&v=v2&b=2');
    const stripped = await publish(
      app,
      createVersionedApi({ location: 'url-param', key: 'v', strip_versioning_data: true }),
    );
    assert.equal(await reaches(stripped, { path: '/x?a=1&v=v2&b=2' }), '/two/x?a=1&b=2');
    assert.equal(await reaches(stripped, { path: '/x?%76=v2' }), '/two/x');
    assert.equal(await reaches(stripped, { path: '/x?va=v2' }), missing);
  });

  test('the version header is stripped when configured', async () => {
    const readForwardedVersion = async (strip_versioning_data: boolean) => {
      const url = await publish(app, createVersionedApi({ location: 'header', strip_versioning_data }));
      await reaches(url, { headers: { 'x-v': 'v1' } });
      return upstream.requests.at(-1)!.headers['x-v'];
    };
    assert.deepEqual([await readForwardedVersion(true), await readForwardedVersion(false)], [undefined, 'v1']);
  });

  test('the first path segment selects the version, also after the slug, and is stripped when configured', async () => {
    const kept = await publish(app, createVersionedApi({ location: 'url' }));
    assert.equal(await reaches(kept, { path: '/v2/x' }), '/two/v2/x');
    const stripped = await publish(app, createVersionedApi({ location: 'url', strip_versioning_data: true }));
    assert.equal(await reaches(stripped, { path: '/v2/x/' }), '/two/x/');
    assert.equal(await reaches(stripped, { path: '/v2' }), '/two');
    assert.equal(await reaches(stripped, { path: '/v1?q=1' }), '/?q=1');
    assert.equal(await reaches(stripped, { path: '/' }), missing);
    const slug = { ...createVersionedApi({ location: 'url', strip_versioning_data: true }), slug: 'shop' };
    assert.equal(await reaches(await publish(app, slug), { path: '/shop/v2/x' }), '/two/shop/x');
  });

  test('the version segment is stripped although the listen path is kept', async () => {
    const api = createVersionedApi({ location: 'url', strip_versioning_data: true }, {}, { strip_listen_path: false });
    const url = await publish(app, api);
    assert.equal(await reaches(url, { path: '/v1/x' }), `${api.proxy.listen_path}/x`);
  });

  test('a request without a version gets the default, one with an unknown version only with fallback', async () => {
    const data = { default_version: 'v2' };
    const url = await publish(app, createVersionedApi({ location: 'header' }, data));
    assert.equal(await reaches(url), '/two/x');
    assert.equal(await reaches(url, { headers: { 'x-v': 'v3' } }), unknown);
    const falling = await publish(app, createVersionedApi({ location: 'header', fallback_to_default: true }, data));
    assert.equal(await reaches(falling, { headers: { 'x-v': 'v3' } }), '/two/x');
  });

  test('the legacy member for stripping the segment still works', async () => {
    assert.equal(
      await reaches(await publish(app, createVersionedApi({ location: 'url', strip_path: true })), { path: '/v2/x' }),
      '/two/x',
    );
  });

  test('the target of a version overrides load balancing, and applies only to versioned APIs', async () => {
    const balanced = { enable_load_balancing: true, target_list: [`${upstream.url}/turns`] };
    const url = await publish(app, createVersionedApi({ location: 'header' }, {}, balanced));
    assert.equal(await reaches(url, { headers: { 'x-v': 'v2' } }), '/two/x');
    assert.equal(await reaches(url, { headers: { 'x-v': 'v1' } }), '/turns/x');
    const only = { Default: { name: 'Default', override_target: `${upstream.url}/two` } };
    const unversioned = openApi(upstream, { version_data: { not_versioned: true, versions: only } });
    assert.equal(await reaches(await publish(app, unversioned)), '/x');
  });

  test('responses carry the expiry of the version, or of the API without versions', async () => {
    const data = { versions: { v1: { name: 'v1' }, v2: { name: 'v2', expires: '2040-01-01 00:00' } } };
    const url = await publish(app, {
      ...createVersionedApi({ location: 'header' }, data),
      expiration: '2020-01-01 00:00',
    });
    const ends = async (name: string) => {
      const reply = await fetch(url, { headers: { 'x-v': name } });
      return [reply.status, reply.headers.get('x-gw-api-expires')];
    };
    assert.deepEqual(await ends('v2'), [200, 'Sun, 01 Jan 2040 00:00:00 GMT']);
    assert.deepEqual(await ends('v1'), [200, null]);
    const ended = openApi(upstream, { expiration: '2020-01-01 00:00' });
    assert.equal(
      await reaches(await publish(app, ended)),
      '403 API has expired, please check documentation or contact administrator',
    );
    await failures(ended.api_id, 1);
    assert.match(await reaches(await publish(app, openApi(upstream, { expiration: 'some day' }))), /^403 API has exp/);
    assert.equal(await reaches(await publish(app, openApi(upstream, { expiration: '-1' }))), '/x');
  });

  test('fallback strips a segment only if it looks like a version', async () => {
    const rules = { location: 'url', fallback_to_default: true, strip_versioning_data: true };
    const data = { default_version: 'v2' };
    const plain = await publish(app, createVersionedApi(rules, data));
    assert.equal(await reaches(plain, { path: '/orders/7' }), '/two/orders/7');
    const pattern = await publish(app, createVersionedApi({ ...rules, url_versioning_pattern: '^v[0-9]+$' }, data));
    assert.equal(await reaches(pattern, { path: '/orders/7' }), '/two/orders/7');
    assert.equal(await reaches(pattern, { path: '/v9/orders/7' }), '/two/orders/7');
    assert.equal(await reaches(pattern, { path: '/v1/orders/7' }), '/orders/7');
  });

  test('an unversioned API uses its only or Default entry, and gets 403 when there is none', async () => {
    const entries = (...names: string[]) => Object.fromEntries(names.map(name => [name, { name }]));
    const createUnversionedApi = (versions: object) =>
      openApi(upstream, { version_data: { not_versioned: true, versions } });
    assert.equal(await reaches(await publish(app, createUnversionedApi(entries('only')))), '/x');
    assert.equal(await reaches(await publish(app, createUnversionedApi(entries('a', 'Default')))), '/x');
    const several = createUnversionedApi(entries('default', 'Default'));
    assert.equal(
      await reaches(await publish(app, several)),
      '403 Ambiguous default API version for this non-versioned API',
    );
    await failures(several.api_id, 1);
    const none = createUnversionedApi(entries('a', 'b'));
    assert.equal(
      await reaches(await publish(app, none)),
      '403 No default API version for this non-versioned API found',
    );
    await failures(none.api_id, 1);
  });

  test('access rights of keys name versions, including the default', async () => {
    const api = createVersionedApi({ location: 'header' }, { default_version: 'v2' });
    const url = await publish(app, { ...api, use_keyless: false });
    const access_rights = { [api.api_id]: { api_id: api.api_id, versions: ['v1'] } };
    const { body } = await app.ask('POST', '/api/keys', { body: { access_rights } });
    await waitUntilApplied(app);
    const headers = { authorization: body.key_id };
    assert.equal(await reaches(url, { headers: { ...headers, 'x-v': 'v1' } }), '/x');
    const refused = '403 Access to this API has been disallowed';
    assert.equal(await reaches(url, { headers: { ...headers, 'x-v': 'v2' } }), refused);
    assert.equal(await reaches(url, { headers }), refused);
  });
});

describe('Versions as separate APIs', () => {
  const unknown = '404 This API version does not seem to exist';
  const child = (name: string, more: object = {}) =>
    openApi(upstream, { internal: true, proxy: { target_url: `${upstream.url}/${name}` }, ...more });
  const base = (definition: object) =>
    openApi(upstream, {
      definition: { enabled: true, name: 'base', location: 'header', key: 'x-v', default: 'self', ...definition },
      proxy: { target_url: `${upstream.url}/base` },
    });

  test('the base API serves its own name, self and the default; other versions get the whole request', async () => {
    const two = child('two');
    await publish(app, two);
    const api = base({ versions: { v2: two.api_id } });
    const url = await publish(app, api);
    for (const headers of [{}, { 'x-v': 'base' }, { 'x-v': 'self' }])
      assert.equal(await reaches(url, { headers: headers as Record<string, string> }), '/base/x');
    assert.equal(await reaches(url, { headers: { 'x-v': 'v2' } }), '/two/x');
    assert.equal(await reaches(url, { headers: { 'x-v': 'v3' } }), unknown);
    await failures(api.api_id, 0);
  });

  test('an inactive child API is not a version', async () => {
    const off = child('off', { active: false });
    await publish(app, off);
    const api = base({ versions: { v2: off.api_id } });
    const url = await publish(app, api);
    assert.equal(await reaches(url, { headers: { 'x-v': 'v2' } }), unknown);
    const falling = base({ versions: { v2: off.api_id }, default: 'v2' });
    assert.equal(await reaches(await publish(app, falling)), '500 Internal Server Error');
    await app.ask('PUT', `/api/apis/${off.api_id}`, { body: { api_definition: { ...off, active: true } } });
    await waitUntilApplied(app);
    assert.equal(await reaches(url, { headers: { 'x-v': 'v2' } }), '/off/x');
  });

  test('the listen path of the base is stripped for a child, also for one that keeps its own', async () => {
    const keeping = child('kept', { proxy: { target_url: `${upstream.url}/kept`, strip_listen_path: false } });
    await publish(app, keeping);
    const versions = { v2: keeping.api_id };
    const byHeader = await publish(app, base({ versions }));
    assert.equal(await reaches(byHeader, { headers: { 'x-v': 'v2' } }), '/kept/x');
    const bySegment = await publish(app, base({ versions, location: 'url', strip_versioning_data: true }));
    assert.equal(await reaches(bySegment, { path: '/v2/x' }), '/kept/x');
  });

  test('a child API requires its own key, independent of the base', async () => {
    const two = child('two', { use_keyless: false });
    await publish(app, two);
    const url = await publish(app, base({ versions: { v2: two.api_id } }));
    const { body } = await app.ask('POST', '/api/keys', { body: { access_rights: { [two.api_id]: {} } } });
    await waitUntilApplied(app);
    assert.equal(await reaches(url, { headers: { 'x-v': 'v2' } }), '401 Authorization field missing');
    assert.equal(await reaches(url, { headers: { 'x-v': 'v2', authorization: body.key_id } }), '/two/x');
  });

  test('an API of another organisation is not a version, also when it is internal', async () => {
    const theirs = child('theirs', { internal: true });
    const { accessKey } = await app.stranger();
    const made = await app.ask('POST', '/api/apis', { credential: accessKey, body: { api_definition: theirs } });
    assert.equal(made.status, 200, made.text);
    const url = await publish(app, base({ versions: { v2: theirs.api_id } }));
    assert.equal(await reaches(url, { headers: { 'x-v': 'v2' } }), unknown);
    assert.equal(await reaches(url, { headers: { 'x-v': 'constructor' } }), unknown);
  });

  test('a query parameter or a segment selects the version, stripped when configured', async () => {
    const two = child('two');
    await publish(app, two);
    const shared = { versions: { v2: two.api_id }, strip_versioning_data: true };
    const query = await publish(app, base({ ...shared, location: 'url-param', key: 'v' }));
    assert.equal(await reaches(query, { path: '/x?v=v2&a=1' }), '/two/x?a=1');
    const segment = await publish(app, base({ ...shared, location: 'url' }));
    assert.equal(await reaches(segment, { path: '/v2/x' }), '/two/x');
    assert.equal(await reaches(segment, { path: '/base/x' }), '/base/x');
  });

  test('without a default the request gets 403, with another version as default it is served, with a deleted one 500', async () => {
    const two = child('two');
    await publish(app, two);
    const versions = { v2: two.api_id };
    assert.equal(await reaches(await publish(app, base({ versions, default: '' }))), missing);
    const falling = await publish(app, base({ versions, default: 'v2', fallback_to_default: true }));
    assert.equal(await reaches(falling), '/two/x');
    assert.equal(await reaches(falling, { headers: { 'x-v': 'v9' } }), '/two/x');
    const gone = base({ versions: { v2: 'nobody' }, default: 'v2', fallback_to_default: true });
    const url = await publish(app, gone);
    assert.equal(await reaches(url, { headers: { 'x-v': 'v9' } }), '500 Internal Server Error');
    assert.equal(await reaches(url, { headers: { 'x-v': 'v2' } }), unknown);
  });
});
