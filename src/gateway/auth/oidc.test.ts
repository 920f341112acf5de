import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, beforeEach, describe, test } from 'node:test';
import { formatKeyId } from '#access/keys/ids.ts';
import { type Bench, errorBody, openBench, orgId, startMs } from '../../../tests/support/step-harness.ts';
import { ecPair, jwkOf, mint, type Publisher, pemOf, rsaPair, startPublisher } from '../../../tests/support/tokens.ts';
import type { Api } from '../routing/api.ts';

const now = startMs / 1000;
const rights = { bench: { versions: ['Default'] } };
const md5 = (text: string) => createHash('md5').update(text).digest('hex');
const toBase64 = (text: string) => Buffer.from(text).toString('base64');
const rsa = rsaPair();
const ec = ecPair();

describe('OpenID Connect', () => {
  let bench: Bench;
  let one: Publisher;
  let two: Publisher;
  before(async () => {
    bench = await openBench();
    [one, two] = await Promise.all([startPublisher(), startPublisher()]);
    for (const id of ['shop-policy', 'read', 'write'])
      await bench.policy({ id, access_rights: rights, rate: 5, per: 1 });
    await bench.policy({ id: 'partly', partitions: { per_api: true, quota: true }, access_rights: rights });
    for (const it of [one, two]) {
      it.pages['/.well-known/openid-configuration'] = { issuer: it.url, jwks_uri: `${it.url}/keys` };
      it.pages['/keys'] = { keys: [jwkOf(rsa.publicKey, { kid: 'r' }), jwkOf(ec.publicKey, { kid: 'e' })] };
    }
  });
  after(async () => {
    await bench.close();
    await Promise.all([one.close(), two.close()]);
  });
  beforeEach(() => {
    bench.time.nowMs = startMs;
  });

  const clients = { shop: 'shop-policy', gone: 'no-policy', odd: 'partly' };
  const providers = () => [
    { issuer: one.url, client_ids: Object.fromEntries(Object.entries(clients).map(([id, to]) => [toBase64(id), to])) },
  ];
  const compile = (more: object = {}, options: object = {}) =>
    bench.compile({ use_openid: true, openid_options: { providers: providers(), ...options }, ...more });
  const idToken = (claims: object = {}, alg: 'RS256' | 'ES256' = 'RS256') =>
    mint(
      { iss: one.url, aud: 'shop', sub: 'ann', exp: now + 60, ...claims },
      alg === 'RS256' ? rsa.privateKey : ec.privateKey,
      { alg, header: { kid: alg === 'RS256' ? 'r' : 'e' } },
    );
  const send = (api: Api, token: string) => bench.send(api, { headers: { Authorization: `Bearer ${token}` } });

  test('an ID token authenticates its subject with the policy of its client', async () => {
    const api = await compile();
    for (const token of [idToken(), idToken({ aud: ['other', 'shop'] }), idToken({}, 'ES256')]) {
      const { status, call } = await send(api, token);
      assert.equal(status, 0);
      assert.equal(call.keyId, formatKeyId(orgId, md5('ann')));
      assert.equal(call.authMethod, 'oidc');
      assert.deepEqual([call.session?.alias, call.session?.policyIds], ['shop:ann', ['shop-policy']]);
      assert.deepEqual(call.session?.metaData, { GwJWTSessionID: call.keyId, ClientID: 'shop' });
    }
    const before = bench.queries();
    assert.equal((await send(api, idToken())).status, 0);
    assert.equal(bench.queries(), before);
  });

  test('segregateByClientId: a user has one session per client', async () => {
    const api = await compile({}, { segregate_by_client: true });
    assert.equal((await send(api, idToken())).call.keyId, formatKeyId(orgId, md5('shop') + md5('ann')));
  });

  test('scope policies replace the policy of the client', async () => {
    const api = await compile({
      scopes: { oidc: { scope_claim_name: 'scp', scope_to_policy: { r: 'read', w: 'write' } } },
    });
    assert.deepEqual((await send(api, idToken({ scp: 'w r x' }))).call.session?.policyIds, ['write', 'read']);
    assert.equal((await send(api, idToken({ scp: 'x' }))).status, 401);
    assert.equal((await send(api, idToken({ scp: 'r', aud: 'nobody' }))).status, 401);
  });

  test('an invalid ID token gets 401 and an event', async () => {
    const api = await compile();
    const hash = (text: string) => bench.services.keyCache.hashOf(text);
    const wrong: [sent: string, key: string][] = [
      ['', ''],
      ['Basic abc', ''],
      [idToken(), ''],
      ['Bearer nonsense', hash('nonsense')],
    ];
    const forged = [
      mint({ iss: one.url, aud: 'shop', sub: 'ann', exp: now + 60 }, '', { alg: 'none' }),
      mint({ iss: one.url, aud: 'shop', sub: 'ann', exp: now + 60 }, pemOf(rsa.publicKey), {
        alg: 'HS256',
        header: { kid: 'r' },
      }),
      mint({ iss: one.url, aud: 'shop', sub: 'ann', exp: now + 60 }, rsaPair().privateKey, { header: { kid: 'r' } }),
      idToken({ iss: two.url }),
      idToken({ iss: [one.url] }),
      idToken({ iss: undefined }),
      idToken({ iss: `${one.url}/` }),
    ];
    const unfit = [
      idToken({ aud: 'nobody' }),
      idToken({ aud: [] }),
      idToken({ aud: undefined }),
      idToken({ aud: '__proto__' }),
      idToken({ sub: '' }),
      idToken({ sub: undefined }),
      idToken({ exp: undefined }),
      idToken({ exp: now }),
      idToken({ nbf: now + 1 }),
    ];
    wrong.push(...forged.map(it => [`Bearer ${it}`, hash(it)] as [string, string]));
    wrong.push(...unfit.map(it => [`Bearer ${it}`, ''] as [string, string]));
    for (const [sent, key] of wrong) {
      const { status, body, events } = await bench.send(api, { headers: { Authorization: sent } });
      assert.deepEqual(
        [status, body, events],
        [401, errorBody('Key not authorised'), [{ event: 'AuthFailure', message: 'Auth Failure', key }]],
        sent,
      );
    }
    assert.deepEqual(two.asked, [], 'an issuer nobody configured is not asked');
  });

  test('a missing or inapplicable policy: 403', async () => {
    const api = await compile();
    const missing = await send(api, idToken({ aud: 'gone' }));
    const key = bench.services.keyCache.hashOf(formatKeyId(orgId, md5('ann')));
    assert.deepEqual(
      [missing.status, missing.body, missing.events],
      [
        403,
        errorBody('Key not authorized: no matching policy'),
        [{ event: 'AuthFailure', message: 'Auth Failure', key }],
      ],
    );
    const odd = await send(api, idToken({ aud: 'odd' }));
    assert.deepEqual(
      [odd.status, odd.body, odd.events],
      [403, errorBody('Key not authorized: could not apply new policy'), []],
    );
  });
});
