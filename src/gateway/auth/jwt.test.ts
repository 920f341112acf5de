import assert from 'node:assert/strict';
import { createHash, createSecretKey } from 'node:crypto';
import { after, before, beforeEach, describe, test } from 'node:test';
import { formatKeyId } from '#access/keys/ids.ts';
import { type Bench, errorBody, openBench, orgId, startMs, stepsOf } from '../../../tests/support/step-harness.ts';
import { mint, pemOf, rsaPair } from '../../../tests/support/tokens.ts';
import type { Api } from '../routing/api.ts';

const rights = { bench: { versions: ['Default'] } };
const rsa = rsaPair();
const now = startMs / 1000;
const sessionId = (identity: string) => formatKeyId(orgId, createHash('md5').update(identity).digest('hex'));
const source = Buffer.from(pemOf(rsa.publicKey)).toString('base64');
const central = { enable_jwt: true, jwt_signing_method: 'rsa', jwt_source: source, jwt_default_policies: ['base'] };

describe('JWT with a shared key source', () => {
  let bench: Bench;
  before(async () => {
    bench = await openBench();
    for (const id of ['base', 'gold', 'read', 'write'])
      await bench.policy({ id, access_rights: rights, rate: 5, per: 1, tags: [id], key_expires_in: 0 });
    await bench.policy({ id: 'partly', partitions: { per_api: true, quota: true }, access_rights: rights });
  });
  after(() => bench.close());
  beforeEach(() => {
    bench.time.nowMs = startMs;
  });

  const signClaims = (claims: object, header: object = {}) => mint(claims, rsa.privateKey, { header });
  const send = (api: Api, token: string) => bench.send(api, { headers: { Authorization: `Bearer ${token}` } });
  const compile = (more: object = {}) => bench.compile({ ...central, ...more });

  /** Status, text and event of a refusal. */
  async function expectRefusal(api: Api, token: string, status: number, message: string, key?: string): Promise<void> {
    const given = await send(api, token);
    const events = key === undefined ? [] : [{ event: 'AuthFailure', message: 'Auth Failure', key }];
    assert.deepEqual([given.status, given.body, given.events], [status, errorBody(message), events]);
  }
  const hash = (text: string) => bench.services.keyCache.hashOf(text);

  test('a JWT authenticates its subject with the policies of the API', async () => {
    const api = await compile();
    const { status, call } = await send(api, signClaims({ sub: 'ann', exp: now + 60, client_id: 'app' }));
    assert.equal(status, 0);
    assert.equal(call.keyId, sessionId('ann'));
    assert.equal(call.keyHash, hash(call.keyId));
    assert.equal(call.authMethod, 'jwt');
    const { session } = call;
    assert.deepEqual(
      [session?.alias, session?.expires, session?.policyIds, session?.oauthClientId, session?.metaData],
      ['ann', now + 60, ['base'], 'app', { GwJWTSessionID: call.keyId }],
    );
    assert.ok(session?.rights.has('bench'));
  });

  test('a repeated JWT costs no query and no verification', async () => {
    const api = await compile();
    const token = signClaims({ sub: 'again', exp: now + 60 });
    const first = await send(api, token);
    const before = bench.queries();
    const [step] = stepsOf(api, new Set(['jwt']));
    assert.ok(!(step!(first.call) instanceof Promise), 'known at once');
    assert.equal((await send(api, token)).call.session, first.call.session);
    assert.equal(bench.queries(), before);
  });

  test('without a token: 400', async () => {
    const api = await compile();
    for (const headers of [{}, { Authorization: '' }, { Authorization: 'Bearer ' }] as Record<string, string>[]) {
      const { status, body, events } = await bench.send(api, { headers });
      assert.deepEqual(
        [status, body, events],
        [400, errorBody('Authorization field missing'), [{ event: 'AuthFailure', message: 'Auth Failure', key: '' }]],
      );
    }
  });

  test('malformed JWTs, foreign signatures and other algorithms get 403', async () => {
    const api = await compile();
    for (const token of ['nonsense', mint({ sub: 'ann' }, rsaPair().privateKey), signClaims({ sub: ['ann'] })])
      await expectRefusal(api, token, 403, 'Key not authorized', hash(token));
    for (const token of [
      mint({ sub: 'ann' }, '', { alg: 'none' }),
      mint({ sub: 'ann' }, pemOf(rsa.publicKey), { alg: 'HS256' }),
    ])
      await expectRefusal(api, token, 403, 'Key not authorized: Unexpected signing method', hash(token));
  });

  test('an expired or not yet valid JWT gets 401 without an event, within the clock skew it passes', async () => {
    const strict = await compile();
    await expectRefusal(strict, signClaims({ sub: 'ann', exp: now }), 401, 'Key not authorized: token has expired');
    await expectRefusal(
      strict,
      signClaims({ sub: 'ann', iat: now + 9 }),
      401,
      'Key not authorized: token used before issued',
    );
    await expectRefusal(
      strict,
      signClaims({ sub: 'ann', nbf: now + 9 }),
      401,
      'Key not authorized: token is not valid yet',
    );
    const tolerant = await compile({
      jwt_expires_at_validation_skew: 10,
      jwt_issued_at_validation_skew: 10,
      jwt_not_before_validation_skew: 10,
    });
    const token = signClaims({ sub: 'late', exp: now - 9, iat: now + 9, nbf: now + 9 });
    assert.equal((await send(tolerant, token)).status, 0);
    bench.time.nowMs += 1000;
    await expectRefusal(tolerant, token, 401, 'Key not authorized: token has expired');
  });

  test('a cached JWT expires', async () => {
    const api = await compile();
    const token = signClaims({ sub: 'ends', exp: now + 10 });
    assert.equal((await send(api, token)).status, 0);
    bench.time.nowMs += 10_000;
    await expectRefusal(api, token, 401, 'Key not authorized: token has expired');
  });

  test('a JWT without an identity claim gets 403', async () => {
    const api = await compile({ jwt_identity_base_field: 'user.id' });
    await expectRefusal(api, signClaims({ exp: now + 9 }), 403, 'no suitable claims for user ID were found', '');
    await expectRefusal(api, signClaims({ sub: '' }), 403, 'found an empty user ID in sub claim', '');
    const empty = 'found an empty user ID in predefined base claim, claim: user.id';
    await expectRefusal(api, signClaims({ sub: 'ann', user: { id: '' } }), 403, empty, '');
    await expectRefusal(
      api,
      signClaims({ sub: 'ann', user: { id: 7 } }),
      403,
      'no suitable claims for user ID were found',
      '',
    );
    assert.equal((await send(api, signClaims({ sub: 'ann', user: { id: 'deep' } }))).call.keyId, sessionId('deep'));
    assert.equal(
      (await send(api, signClaims({ sub: 'a', 'user.id': 'flat', user: { id: 'b' } }))).call.keyId,
      sessionId('flat'),
    );
    assert.equal((await send(api, signClaims({ sub: 'only' }))).call.keyId, sessionId('only'));
  });

  test('the policy comes from the claim, else the client, else the defaults', async () => {
    const api = await compile({
      jwt_policy_field_name: 'pol',
      jwt_client_base_field: 'azp',
      jwt_default_policies: ['base', 'read'],
    });
    const policiesOf = async (claims: object) =>
      (await send(api, signClaims({ sub: 'p', ...claims }))).call.session?.policyIds;
    await bench.key({ apply_policies: ['gold', 'write'] }, { name: 'the-client' });
    assert.deepEqual(await policiesOf({ pol: 'gold', azp: 'the-client' }), ['gold']);
    assert.deepEqual(await policiesOf({ azp: 'the-client' }), ['gold']);
    assert.deepEqual(await policiesOf({ azp: 'no-client' }), ['base', 'read']);
    assert.deepEqual(await policiesOf({}), ['base', 'read']);
  });

  test('no policy, an unknown or inapplicable one: 403', async () => {
    const bare = { jwt_default_policies: [], jwt_policy_field_name: 'pol' };
    const api = await compile(bare);
    const key = hash(sessionId('ann'));
    await expectRefusal(api, signClaims({ sub: 'ann' }), 403, 'key not authorized: no matching policy found', key);
    await expectRefusal(
      api,
      signClaims({ sub: 'ann', pol: 'none' }),
      403,
      'key not authorized: no matching policy',
      key,
    );
    await expectRefusal(
      api,
      signClaims({ sub: 'ann', pol: ['gold'] }),
      403,
      'key not authorized: no matching policy',
      key,
    );
    await expectRefusal(
      api,
      signClaims({ sub: 'ann', pol: 'partly' }),
      403,
      'key not authorized: could not apply new policy',
      key,
    );
    const scoped = await compile({ ...bare, scopes: { jwt: { scope_to_policy: { r: 'partly', w: 'write' } } } });
    const several = 'key not authorized: could not apply several policies';
    await expectRefusal(scoped, signClaims({ sub: 'ann', scope: 'r w' }), 403, several, key);
    const unmatched = 'key not authorized: no matching policy found in scope claim';
    await expectRefusal(scoped, signClaims({ sub: 'ann', scope: 'x __proto__' }), 403, unmatched, key);
    await expectRefusal(
      scoped,
      signClaims({ sub: 'ann' }),
      403,
      'key not authorized: no scope or policy in token',
      key,
    );
  });

  test('scope policies add to the policy of the token and replace the defaults', async () => {
    const scopes = { jwt: { scope_claim_name: 'access.scp', scope_to_policy: { r: 'read', w: 'write' } } };
    const api = await compile({ jwt_policy_field_name: 'pol', scopes });
    const policiesOf = async (claims: object) =>
      (await send(api, signClaims({ sub: 's', ...claims }))).call.session?.policyIds;
    assert.deepEqual(await policiesOf({ pol: 'gold', access: { scp: ['r', 'w', 'x'] } }), ['gold', 'read', 'write']);
    assert.deepEqual(await policiesOf({ access: { scp: 'w r' } }), ['write', 'read']);
    assert.deepEqual(await policiesOf({ access: { scp: 'x' } }), ['base']);
    const older = await compile({ jwt_scope_claim_name: 'scp', jwt_scope_to_policy_mapping: { r: 'read' } });
    assert.deepEqual((await send(older, signClaims({ sub: 's', scp: 'r' }))).call.session?.policyIds, ['read']);
  });

  test('a stored key supplies what the token leaves open; the later expiry wins', async () => {
    const api = await compile();
    await bench.key(
      { apply_policies: ['gold'], tags: ['kept'], expires: now + 500, meta_data: { plan: 'x' } },
      { name: createHash('md5').update('kept').digest('hex') },
    );
    const { session } = (await send(api, signClaims({ sub: 'kept', exp: now + 60 }))).call;
    assert.deepEqual([session?.policyIds, session?.tags, session?.expires], [['base'], ['kept', 'base'], now + 500]);
    assert.equal(session?.metaData.plan, 'x');
  });

  test('a changed policy applies at once to a cached JWT', async () => {
    const api = await compile({ jwt_default_policies: ['moving'] });
    const policy = await bench.policy({ id: 'moving', access_rights: rights, rate: 1, per: 1 });
    const token = signClaims({ sub: 'moved' });
    assert.equal((await send(api, token)).call.session?.limits.rate?.rate, 1);
    await bench.policies.change(orgId, policy.id, it => ({ ...it, rate: 9 }));
    bench.invalidateAll();
    assert.equal((await send(api, token)).call.session?.limits.rate?.rate, 9);
    await bench.policies.remove(orgId, policy.id);
    bench.invalidateAll();
    await expectRefusal(api, token, 403, 'key not authorized: no matching policy', hash(sessionId('moved')));
  });

  test('metadata of the token’s client are set without its policies, unless the API disables it', async () => {
    const client = {
      id: 'c1',
      org_id: orgId,
      api_id: 'bench',
      client_id: 'app-7',
      secret: 's',
      meta_data: { team: 'a', policies: [{ id: 'embedded', access_rights: { other: { api_id: 'other' } } }] },
    };
    const more = {
      created_at: '2030-01-01T00:00:00Z',
      description: '',
      client_name: '',
      policy_id: '',
      redirect_uri: '',
    };
    await bench.oauthClients.insert({ ...client, ...more });
    bench.invalidateAll();
    const claims = { sub: 'c', cid: 'app-7', client_id: 'other' };
    const mapped = (await send(await compile(), signClaims(claims))).call.session;
    const { team, policies } = mapped?.metaData ?? {};
    assert.deepEqual([mapped?.oauthClientId, team, policies], ['app-7', 'a', undefined]);
    const unmapped = (await send(await compile({ idp_client_id_mapping_disabled: true }), signClaims(claims))).call
      .session;
    assert.deepEqual([unmapped?.oauthClientId, unmapped?.metaData.team], [undefined, undefined]);
  });

  test('claims are context variables where the API enables them', async () => {
    const api = await compile();
    const token = signClaims({ sub: 'ctx', role: 'r' }, { kid: 'k' });
    const context: Record<string, unknown> = {};
    await bench.send(api, {
      headers: { Authorization: token },
      change(call) {
        call.context = context;
      },
    });
    assert.deepEqual(
      [context.jwt_claims_sub, context.jwt_claims_role, context.jwt_claims_kid, context.token],
      ['ctx', 'r', 'k', token],
    );
  });

  test('a missing key or one of another family makes the API unavailable', async () => {
    for (const [more, reason] of [
      [{ jwt_signing_method: 'ecdsa' }, /contains no ecdsa key/],
      [{ jwt_signing_method: 'hmac' }, /contains no hmac key/],
      [{ jwt_signing_method: 'rot13' }, /the signing method rot13 is unknown/],
      [{ jwt_source: '***' }, /neither a URL nor base64/],
    ] as const)
      assert.match((await compile(more)).unavailableReason, reason);
  });

  test('a binary shared secret verifies', async () => {
    const secret = Buffer.from([0xff, 0x00, 0xfe, ...Buffer.alloc(29, 7)]);
    const api = await compile({ jwt_signing_method: '', jwt_source: secret.toString('base64') });
    const token = mint({ sub: 'h' }, createSecretKey(secret), { alg: 'HS256' });
    assert.equal((await send(api, token)).status, 0);
  });
});
