import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Bench, errorBody, openBench, startMs } from '../../../tests/support/step-harness.ts';
import type { Api } from '../routing/api.ts';

const granted = { access_rights: { bench: { versions: ['v1'] } } };
const disallowed = errorBody('Access to this API has been disallowed');

describe('key state and access rights', () => {
  let bench: Bench;
  let api: Api;
  before(async () => {
    bench = await openBench();
    api = await bench.compile();
  });
  after(() => bench.close());
  const send = async (to: Api, keyId: string, target = '/', method = 'GET') => {
    const { status, body, events } = await bench.send(to, { target, method, headers: { Authorization: keyId } });
    return [status, body, events];
  };
  const keyExpired = (keyId: string, message: string) => [
    { event: 'KeyExpired', message, key: bench.services.keyCache.hashOf(keyId) },
  ];

  test('an inactive key gets 403 and an event', async () => {
    const keyId = await bench.key({ ...granted, is_inactive: true });
    assert.deepEqual(await send(api, keyId), [
      403,
      errorBody('Key is inactive, please renew'),
      keyExpired(keyId, 'Attempted access from inactive key.'),
    ]);
  });

  test('an expired key gets 401 and an event', async () => {
    const keyId = await bench.key({ ...granted, expires: startMs / 1000 - 1 });
    assert.deepEqual(await send(api, keyId), [
      401,
      errorBody('Key has expired, please renew'),
      keyExpired(keyId, 'Attempted access from expired key.'),
    ]);
    for (const expires of [0, -1, startMs / 1000 + 1])
      assert.equal((await send(api, await bench.key({ ...granted, expires })))[0], 0);
  });

  test('a key without access to the API gets 403', async () => {
    const keyId = await bench.key({ access_rights: { other: {} } });
    assert.deepEqual(await send(api, keyId), [403, disallowed, []]);
  });

  test('a key without rights may call every API where master keys are allowed', async () => {
    const lenient = await openBench({ 'keys.allow_master_keys': 'true' });
    const keyId = await lenient.key({});
    const { status } = await lenient.send(await lenient.compile(), { headers: { Authorization: keyId } });
    assert.equal(status, 0);
    await lenient.close();
  });

  test('versions of a definition are granted one by one', async () => {
    const versioned = await bench.compile({
      definition: { location: 'header', key: 'x-version' },
      version_data: { not_versioned: false, versions: { v1: { name: 'v1' }, v2: { name: 'v2' } } },
    });
    const asking = async (keyId: string, versionName: string) => {
      const { status, body, events } = await bench.send(versioned, {
        headers: { Authorization: keyId },
        change(call) {
          call.versionName = versionName;
        },
      });
      return [status, body, events];
    };
    const keyId = await bench.key(granted);
    assert.equal((await asking(keyId, 'v1'))[0], 0);
    assert.deepEqual(await asking(keyId, 'v2'), [403, disallowed, []]);
    assert.equal((await asking(await bench.key({ access_rights: { bench: {} } }), 'v1'))[0], 403);
  });

  const urls = (...allowed_urls: { url?: string; methods: string[] }[]) => ({
    access_rights: { bench: { allowed_urls } },
  });

  test('an endpoint or method outside allowed_urls gets 403', async () => {
    const keyId = await bench.key(
      urls({ url: '/a/{id}', methods: ['GET'] }, { url: '/b/.*', methods: ['GET', 'POST'] }),
    );
    const allowed = [
      ['/a/1', 'GET'],
      ['/b/x/y', 'POST'],
    ] as const;
    for (const [path, method] of allowed) assert.equal((await send(api, keyId, path, method))[0], 0, path);
    const refused = [
      ['/a/1', 'POST'],
      ['/a/1/2', 'GET'],
      ['/c/b/x', 'GET'],
      ['/', 'GET'],
      ['/b/x', 'DELETE'],
    ] as const;
    for (const [path, method] of refused)
      assert.deepEqual(await send(api, keyId, path, method), [
        403,
        errorBody('Access to this resource has been disallowed'),
        [],
      ]);
  });

  test('an invalid URL expression grants nothing', async () => {
    const keyId = await bench.key(urls({ url: '/[', methods: ['GET'] }));
    assert.equal((await send(api, keyId, '/['))[0], 403);
  });

  test('an entry without a URL grants nothing, an empty URL every path', async () => {
    const nameless = await bench.key(urls({ methods: ['GET'] }, { url: '/a', methods: ['GET'] }));
    assert.deepEqual([(await send(api, nameless, '/b'))[0], (await send(api, nameless, '/a'))[0]], [403, 0]);
    assert.equal((await send(api, await bench.key(urls({ methods: ['GET'] })), '/b'))[0], 403);
    assert.equal((await send(api, await bench.key(urls({ url: '', methods: ['GET'] })), '/b'))[0], 0);
  });

  test('granted endpoints match anywhere in the path where endpoint_match is loose', async () => {
    const loose = await openBench({ 'gateway.endpoint_match': 'loose' });
    const keyId = await loose.key(urls({ url: '/a', methods: ['GET'] }));
    const sent = { headers: { Authorization: keyId }, target: '/x/abc' };
    assert.equal((await loose.send(await loose.compile(), sent)).status, 0);
    await loose.close();
  });
});

describe('several auth methods', () => {
  let bench: Bench;
  let keyId: string;
  before(async () => {
    bench = await openBench();
    keyId = await bench.key(granted);
    await bench.key(
      { ...granted, basic_auth_data: { password: 'word', hash_type: '' } },
      { name: 'ann', kind: 'basic' },
    );
  });
  after(() => bench.close());
  const both = (base?: string) =>
    bench.compile({
      use_basic_auth: true,
      use_standard_auth: true,
      base_identity_provided_by: base ?? '',
      auth_configs: { authToken: { auth_header_name: 'X-Key' } },
    });
  const ann = `Basic ${Buffer.from('ann:word').toString('base64')}`;

  test('all auth methods must succeed', async () => {
    const api = await both();
    assert.equal((await bench.send(api, { headers: { 'X-Key': keyId } })).status, 401);
    assert.equal((await bench.send(api, { headers: { Authorization: ann } })).status, 401);
    assert.equal((await bench.send(api, { headers: { 'X-Key': 'wrong', Authorization: ann } })).status, 403);
    assert.equal((await bench.send(api, { headers: { 'X-Key': keyId, Authorization: ann } })).status, 0);
  });

  test('baseIdentityProvider gives the session; without it the last method does', async () => {
    const headers = { 'X-Key': keyId, Authorization: ann };
    for (const [base, from] of [
      ['', 'token'],
      ['auth_token', 'token'],
      ['basic_auth_user', 'basic'],
    ] as const)
      assert.equal((await bench.send(await both(base), { headers })).call.authMethod, from);
  });

  test('a disabled baseIdentityProvider leaves no session: 400', async () => {
    const { status, body, events } = await bench.send(await both('hmac_key'), {
      headers: { 'X-Key': keyId, Authorization: ann },
    });
    const message = 'Session state is missing or unset! Please make sure that auth headers are properly applied';
    assert.deepEqual([status, body, events], [400, errorBody(message), []]);
  });
});
