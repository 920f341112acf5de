import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Bench, errorBody, openBench } from '../../../tests/support/step-harness.ts';
import { jwkOf, mint, type Publisher, pemOf, rsaPair, startPublisher } from '../../../tests/support/tokens.ts';
import type { Api } from '../routing/api.ts';

const rights = { bench: { versions: ['Default'] } };
const rsa = rsaPair();

const jwksApi = { enable_jwt: true, jwt_signing_method: 'rsa', jwt_default_policies: ['base'] };

describe('JWT with JWKS', () => {
  let bench: Bench;
  let publisher: Publisher;
  before(async () => {
    bench = await openBench();
    publisher = await startPublisher();
    await bench.policy({ id: 'base', access_rights: rights, rate: 5, per: 1 });
  });
  after(async () => {
    await bench.close();
    await publisher.close();
  });
  const send = (api: Api, token: string) => bench.send(api, { headers: { Authorization: token } });

  test('kid selects the key; rotation is followed; a removed key is refused', async () => {
    const next = rsaPair();
    const old = jwkOf(rsa.publicKey, { kid: 'old' });
    publisher.pages['/jwks'] = { keys: [old] };
    const url = `${publisher.url}/jwks`;
    for (const jwt_source of [url, Buffer.from(url).toString('base64')]) {
      const api = await bench.compile({ ...jwksApi, jwt_source });
      const token = mint({ sub: 'r' }, rsa.privateKey, { header: { kid: 'old' } });
      assert.equal((await send(api, token)).status, 0);
      const unknown = await send(api, mint({ sub: 'r' }, next.privateKey, { header: { kid: 'new' } }));
      assert.deepEqual([unknown.status, unknown.body], [403, errorBody('Key not authorized')]);
      publisher.pages['/jwks'] = { keys: [jwkOf(next.publicKey, { kid: 'new' }), old] };
      bench.time.nowMs += 10_000;
      assert.equal((await send(api, mint({ sub: 'r' }, next.privateKey, { header: { kid: 'new' } }))).status, 0);
      assert.equal((await send(api, token)).status, 0);
      publisher.pages['/jwks'] = { keys: [jwkOf(next.publicKey, { kid: 'new' })] };
      bench.time.nowMs += 240_000;
      assert.equal((await send(api, token)).status, 403);
      publisher.pages['/jwks'] = { keys: [old] };
      bench.time.nowMs += 240_000;
    }
  });

  test('several key sets are tried in order, each with its own TTL', async () => {
    const other = rsaPair();
    publisher.pages['/first'] = { keys: [jwkOf(rsa.publicKey, { kid: 'a' })] };
    publisher.pages['/second'] = { keys: [jwkOf(other.publicKey, { kid: 'b' })] };
    const sets = ['/first', '/second'].map(path => ({ url: publisher.url + path, cache_timeout: '30s' }));
    const api = await bench.compile({ ...jwksApi, jwt_jwks_uris: sets });
    const token = mint({ sub: 'm' }, other.privateKey, { header: { kid: 'b' } });
    assert.equal((await send(api, token)).status, 0);
    assert.equal((await send(api, mint({ sub: 'm' }, rsa.privateKey, { header: { kid: 'a' } }))).status, 0);
    publisher.pages['/second'] = { keys: [] };
    bench.time.nowMs += 29_999;
    assert.equal((await send(api, token)).status, 0);
    bench.time.nowMs += 1;
    assert.equal((await send(api, token)).status, 403);
  });

  test('a public key of the set does not verify HMAC', async () => {
    publisher.pages['/mixed'] = { keys: [jwkOf(rsa.publicKey, { kid: 'k' }), { kty: 'oct', kid: 'k', k: 'c2VjcmV0' }] };
    const api = await bench.compile({ ...jwksApi, jwt_source: `${publisher.url}/mixed` });
    const token = mint({ sub: 'r' }, 'secret', { alg: 'HS256', header: { kid: 'k' } });
    assert.equal((await send(api, token)).body, errorBody('Key not authorized: Unexpected signing method'));
  });
});

describe('JWT with a key source per key', () => {
  let bench: Bench;
  let api: Api;
  const own = { enable_jwt: true, jwt_signing_method: 'hmac' };
  before(async () => {
    bench = await openBench();
    api = await bench.compile(own);
  });
  after(() => bench.close());
  const secret = 'the secret of one caller';
  const send = (to: Api, token: string) => bench.send(to, { headers: { Authorization: token } });
  const hs = (claims: object, header: object = {}, text = secret) => mint(claims, text, { alg: 'HS256', header });

  test('the key that the token names verifies it and is the session', async () => {
    const keyId = await bench.key({ access_rights: rights, jwt_data: { secret } }, { name: 'caller-1' });
    for (const token of [hs({}, { kid: keyId }), hs({ sub: 'x' }, { kid: 'caller-1' }), hs({ sub: 'caller-1' })]) {
      const { status, call } = await send(api, token);
      assert.deepEqual([status, call.keyId, call.authMethod], [0, keyId, 'jwt']);
    }
    const unnamed = await bench.compile({ ...own, jwt_skip_kid: true, jwt_identity_base_field: 'me' });
    assert.equal((await send(unnamed, hs({ me: 'caller-1' }, { kid: 'other' }))).call.keyId, keyId);
    assert.equal((await send(unnamed, hs({ sub: 'caller-1' }, { kid: 'other' }))).call.keyId, keyId);
  });

  test('an unknown key, one without a secret, or another secret: 403', async () => {
    await bench.key({ access_rights: rights }, { name: 'no-secret' });
    await bench.key({ access_rights: rights, jwt_data: { secret: pemOf(rsa.publicKey) } }, { name: 'published' });
    for (const token of [
      hs({}, { kid: 'nobody' }),
      hs({}, { kid: 'no-secret' }),
      hs({}, { kid: 'no-secret' }, ''),
      hs({}, { kid: 'caller-1' }, 'another secret'),
      hs({}, { kid: 'published' }, pemOf(rsa.publicKey)),
      hs({}, { kid: '../../../dev/null' }, ''),
      hs({}, { kid: "x' union select 'secret" }, 'secret'),
      hs({}),
    ]) {
      const { status, body, events } = await send(api, token);
      const key = bench.services.keyCache.hashOf(token);
      assert.deepEqual(
        [status, body, events],
        [403, errorBody('Key not authorized'), [{ event: 'AuthFailure', message: 'Auth Failure', key }]],
      );
    }
  });

  test('a new secret applies at once', async () => {
    const keyId = await bench.key({ access_rights: rights, jwt_data: { secret } }, { name: 'rotates' });
    const token = hs({ sub: 'rotates' });
    assert.equal((await send(api, token)).status, 0);
    const stored = (await bench.keys.getAnywhere(keyId))!;
    await bench.keys.change(stored, async key => ({ key: { ...key, jwt_data: { secret: 'new' } }, policyIds: [] }));
    bench.invalidateAll();
    assert.equal((await send(api, token)).status, 403);
    assert.equal((await send(api, hs({ sub: 'rotates' }, {}, 'new'))).status, 0);
  });
});
