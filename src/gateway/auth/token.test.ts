import assert from 'node:assert/strict';
import { createHash, X509Certificate } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { type MadeCertificate, makeAuthority, makeClientCertificate } from '../../../tests/support/certificates.ts';
import { type Bench, errorBody, openBench, orgId, type Sent, startMs } from '../../../tests/support/step-harness.ts';
import type { Api } from '../routing/api.ts';

const rights = { access_rights: { bench: { versions: ['Default'] } } };
const authFailure = (key: string) => [{ event: 'AuthFailure', message: 'Auth Failure', key }];
const disallowed = errorBody('Access to this API has been disallowed');

describe('auth token', () => {
  let bench: Bench;
  let api: Api;
  before(async () => {
    bench = await openBench();
    api = await bench.compile();
  });
  after(() => bench.close());
  const hash = (text: string) => bench.services.keyCache.hashOf(text);

  test('a key authenticates, with or without the Bearer prefix', async () => {
    const keyId = await bench.key(rights);
    for (const value of [keyId, `Bearer ${keyId}`, `bearer ${keyId}`]) {
      const { status, call } = await bench.send(api, { headers: { Authorization: value } });
      assert.equal(status, 0);
      assert.equal(call.keyId, keyId);
      assert.equal(call.keyHash, hash(keyId));
      assert.equal(call.authMethod, 'token');
      assert.ok(call.session?.rights.has('bench'));
    }
  });

  test('a custom key is accepted by its name and by its full id', async () => {
    const keyId = await bench.key(rights, { name: 'custom-name' });
    const byName = await bench.send(api, { headers: { Authorization: 'custom-name' } });
    assert.equal(byName.call.keyId, keyId);
    assert.equal((await bench.send(api, { headers: { Authorization: keyId } })).call.session, byName.call.session);
  });

  test('without a key: 401', async () => {
    for (const headers of [{}, { Authorization: '' }, { Authorization: 'Bearer ' }] as Record<string, string>[]) {
      const { status, body, events } = await bench.send(api, { headers });
      assert.deepEqual([status, body, events], [401, errorBody('Authorization field missing'), []]);
    }
  });

  test('an unknown key, a short one and one that is too long: 403 and an event that does not show it', async () => {
    for (const given of ['nobody-has-this', 'ab', 'x'.repeat(5000)]) {
      const { status, body, events } = await bench.send(api, { headers: { Authorization: given } });
      assert.deepEqual([status, body, events], [403, disallowed, authFailure(hash(given))]);
    }
  });

  test('a key of another organisation, and the limits of an organisation, are unknown keys', async () => {
    await bench.key(rights, { name: 'limits-of-all', kind: 'organisation' });
    const other = await bench.compile({ org_id: 'ffffffffffffffffffffffff' });
    const keyId = await bench.key(rights);
    assert.equal((await bench.send(other, { headers: { Authorization: keyId } })).status, 403);
    assert.equal((await bench.send(api, { headers: { Authorization: 'limits-of-all' } })).status, 403);
  });

  test('the name of a Basic user is not a key', async () => {
    await bench.key(
      { ...rights, basic_auth_data: { password: 'x', hash_type: '' } },
      { name: 'some-user', kind: 'basic' },
    );
    await bench.key({ ...rights, basic_auth_data: { password: 'x', hash_type: '' } }, { name: 'other-user' });
    for (const given of ['some-user', 'other-user', `${orgId}some-user`]) {
      const { status, body, events } = await bench.send(api, { headers: { Authorization: given } });
      assert.deepEqual([status, body, events], [403, disallowed, authFailure(hash(given))]);
    }
  });

  test('a key without rights and without a policy is refused', async () => {
    const keyId = await bench.key({});
    assert.equal((await bench.send(api, { headers: { Authorization: keyId } })).status, 403);
  });

  test('a key that is deleted with its expiry is unknown from then on', async () => {
    const expires = startMs / 1000 + 60;
    const keyId = await bench.key({ ...rights, expires, post_expiry_action: 'delete' });
    const sent: Sent = { headers: { Authorization: keyId } };
    assert.equal((await bench.send(api, sent)).status, 0);
    bench.time.nowMs += 61_000;
    assert.deepEqual([(await bench.send(api, sent)).status, (await bench.send(api, sent)).body], [403, disallowed]);
    bench.time.nowMs = startMs;
  });

  test('a query parameter wins over the header, and a cookie over both', async () => {
    const [first, second, third] = await Promise.all([1, 2, 3].map(() => bench.key(rights)));
    const everywhere = await bench.compile({
      auth_configs: { authToken: { auth_header_name: 'X-Key', use_param: true, use_cookie: true, cookie_name: 'key' } },
    });
    const sent: Sent = { headers: { 'x-key': first! } };
    const keyOf = async () => (await bench.send(everywhere, sent)).call.keyId;
    assert.equal(await keyOf(), first);
    sent.target = '/?a=1&X-Key=';
    assert.equal(await keyOf(), first);
    sent.target = `/?a=1&X%2DKey=${second}`;
    assert.equal(await keyOf(), second);
    sent.headers = { ...sent.headers, Cookie: 'a=b; key=' };
    assert.equal(await keyOf(), second);
    sent.headers = { ...sent.headers, Cookie: `a=b; key="${third}"` };
    assert.equal(await keyOf(), third);
  });

  test('disabled credential sources are ignored', async () => {
    const keyId = await bench.key(rights);
    const queryOnly = await bench.compile({
      auth_configs: { authToken: { disable_header: true, use_param: true, param_name: 'key' } },
    });
    assert.equal((await bench.send(queryOnly, { headers: { Authorization: keyId } })).status, 401);
    assert.equal((await bench.send(queryOnly, { headers: { Cookie: `key=${keyId}` } })).status, 401);
    assert.equal((await bench.send(queryOnly, { target: `/?key=${keyId}` })).status, 0);
  });

  test('a loop to the same API is not authenticated again', async () => {
    const keyId = await bench.key(rights);
    const { call } = await bench.send(api, { headers: { Authorization: keyId } });
    const again = await bench.send(api, {
      change(looped) {
        looped.loopCount = 1;
        looped.session = call.session;
      },
    });
    assert.equal(again.status, 0);
    const stranger = await bench.send(api, {
      change(looped) {
        looped.loopCount = 1;
      },
    });
    assert.equal(stranger.status, 401);
  });
});

describe('auth token signature', () => {
  let bench: Bench;
  before(async () => {
    bench = await openBench();
  });
  after(() => bench.close());
  const signature = { algorithm: 'MasherySHA256', header: 'X-Signature', secret: 'shared', allowed_clock_skew: 2 };
  const apiWith = (more: object = {}) =>
    bench.compile({ auth_configs: { authToken: { validate_signature: true, signature: { ...signature, ...more } } } });
  const signKey = (keyId: string, hash = 'sha256', atSeconds = startMs / 1000, secret = 'shared') =>
    createHash(hash).update(`${keyId}${secret}${atSeconds}`).digest('hex');

  test('a valid signature passes: over the inner id, the name or the full key, within the clock skew', async () => {
    const api = await apiWith();
    const keyId = await bench.key(rights, { name: 'signing-key' });
    for (const given of [signKey('signing-key'), signKey(keyId), signKey(keyId, 'sha256', startMs / 1000 - 2)]) {
      const { status } = await bench.send(api, { headers: { Authorization: keyId, 'x-signature': given } });
      assert.equal(status, 0);
    }
    const md5 = await apiWith({ algorithm: 'MasheryMD5', use_param: true });
    const { status } = await bench.send(md5, {
      headers: { Authorization: keyId },
      target: `/?X-Signature=${signKey(keyId, 'md5')}`,
    });
    assert.equal(status, 0);
  });

  test('a missing or wrong signature: 401, or the status of the definition', async () => {
    const keyId = await bench.key(rights);
    const wrong = [
      undefined,
      '',
      'zz',
      signKey(keyId, 'md5'),
      signKey(keyId, 'sha256', startMs / 1000 - 3),
      signKey('x'),
    ];
    const api = await apiWith();
    const own = await apiWith({ error_code: 418, error_message: 'sign it' });
    for (const given of wrong) {
      const headers = { Authorization: keyId, ...(given === undefined ? {} : { 'X-Signature': given }) };
      const { status, body, events, call } = await bench.send(api, { headers });
      assert.deepEqual([status, body, events], [401, errorBody('Request signature verification failed'), []]);
      assert.equal(call.session, undefined);
      const refused = await bench.send(own, { headers });
      assert.deepEqual([refused.status, refused.body], [418, errorBody('sign it')]);
    }
  });

  test('an algorithm that does not exist: 500', async () => {
    const { status, body, events } = await bench.send(await apiWith({ algorithm: 'Unknown' }), {
      headers: { Authorization: await bench.key(rights) },
    });
    assert.deepEqual([status, body, events], [500, errorBody('internal server error'), []]);
  });

  test('the secret may be in the metadata of the key; a key without it cannot sign', async () => {
    const api = await apiWith({ secret: 'x$gw_meta.secret' });
    const bare = await apiWith({ secret: '$gw_meta.secret' });
    const own = await bench.key({ ...rights, meta_data: { secret: 'own' } });
    const none = await bench.key(rights);
    const sendSigned = async (to: typeof api, keyId: string, secret: string) => {
      const given = signKey(keyId, 'sha256', startMs / 1000, secret);
      return (await bench.send(to, { headers: { Authorization: keyId, 'X-Signature': given } })).status;
    };
    assert.deepEqual([await sendSigned(api, own, 'xown'), await sendSigned(api, own, 'shared')], [0, 401]);
    assert.deepEqual([await sendSigned(bare, own, 'own'), await sendSigned(bare, none, '')], [0, 401]);
  });

  test('the API is unavailable without a secret', async () => {
    assert.equal((await apiWith({ secret: '' })).unavailableReason, 'signature validation has no secret');
    const named = await apiWith({ secret: '$secret_conf.nobody' });
    assert.equal(named.unavailableReason, 'the secret $secret_conf.nobody is missing');
  });
});

const der = ({ certPem }: MadeCertificate) => new X509Certificate(certPem).raw;
const shows = (certificate: MadeCertificate): Sent['peer'] => ({ isTls: true, certificate: der(certificate) });

describe('auth token from a client certificate', () => {
  let bench: Bench;
  let api: Api;
  const authority = makeAuthority();
  const mine = makeClientCertificate(authority, 'mine');
  const bound = { auth_configs: { authToken: { use_certificate: true } } };
  before(async () => {
    bench = await openBench();
    api = await bench.compile(bound);
    await bench.certificate(mine.certPem);
    await bench.key({ ...rights, certificate: orgId + mine.fingerprint }, { name: mine.fingerprint });
  });
  after(() => bench.close());

  test('the certificate authenticates; a key sent with it is ignored', async () => {
    const { status, call } = await bench.send(api, { peer: shows(mine), headers: { Authorization: 'anything' } });
    assert.equal(status, 0);
    assert.equal(call.keyId, orgId + mine.fingerprint);
  });

  test('no certificate: 401', async () => {
    for (const peer of [{ isTls: true }, {}]) {
      const { status, body, events } = await bench.send(api, {
        peer,
        headers: { Authorization: orgId + mine.fingerprint },
      });
      assert.deepEqual([status, body, events], [401, errorBody('Client certificate required'), []]);
    }
  });

  test('an expired certificate: 403', async () => {
    const old = makeClientCertificate(authority, 'old', { notAfter: new Date(startMs - 1000) });
    const { status, body, events } = await bench.send(api, { peer: shows(old) });
    assert.deepEqual([status, body, events], [403, errorBody('Certificate has expired'), []]);
  });

  test('a certificate is valid in its time only, also with a key bound to it', async () => {
    const open = await bench.compile();
    const dates = { notBefore: new Date(startMs + 60_000), notAfter: new Date(startMs + 120_000) };
    const brief = makeClientCertificate(authority, 'brief', dates);
    const certificate = await bench.certificate(brief.certPem);
    await bench.key({ ...rights, certificate }, { name: brief.fingerprint });
    const keyId = await bench.key({ ...rights, certificate });
    const both = async (atMs: number) => {
      bench.time.nowMs = atMs;
      const beside = await bench.send(open, { peer: shows(brief), headers: { Authorization: keyId } });
      const alone = await bench.send(api, { peer: shows(brief) });
      return [alone.status, alone.body, beside.status, beside.body];
    };
    assert.deepEqual(await both(startMs), [401, disallowed, 401, disallowed]);
    assert.deepEqual(await both(startMs + 90_000), [0, '', 0, '']);
    const expired = errorBody('Certificate has expired');
    assert.deepEqual(await both(startMs + 121_000), [403, expired, 403, expired]);
    bench.time.nowMs = startMs;
  });

  test('a certificate without a key: 401', async () => {
    const { status, body, events } = await bench.send(api, { peer: shows(makeClientCertificate(authority)) });
    assert.deepEqual([status, body, events], [401, disallowed, []]);
  });

  test('a key bound to another certificate: 401 and an event', async () => {
    const other = makeClientCertificate(authority, 'other');
    const keyId = await bench.key({ ...rights, certificate: orgId + mine.fingerprint }, { name: other.fingerprint });
    const { status, body, events } = await bench.send(api, { peer: shows(other) });
    assert.deepEqual([status, body, events], [401, disallowed, authFailure(bench.services.keyCache.hashOf(keyId))]);
  });

  test('a certificate that is not in the store: 403 and an event', async () => {
    const lost = makeClientCertificate(authority, 'lost');
    const keyId = await bench.key(rights, { name: lost.fingerprint });
    const { status, body, events } = await bench.send(api, { peer: shows(lost) });
    assert.deepEqual([status, body, events], [403, disallowed, authFailure(bench.services.keyCache.hashOf(keyId))]);
  });

  test('the fingerprint of a certificate does not authenticate as a key', async () => {
    const keyId = orgId + mine.fingerprint;
    const { status, body, events } = await bench.send(await bench.compile(), { headers: { Authorization: keyId } });
    assert.deepEqual([status, body, events], [401, disallowed, authFailure(bench.services.keyCache.hashOf(keyId))]);
  });

  test('keys.token_for_certificate: key or certificate authenticates', async () => {
    const lenient = await openBench({ 'keys.token_for_certificate': 'true' });
    const keyId = await lenient.key({ ...rights, certificate: orgId + mine.fingerprint }, { name: mine.fingerprint });
    await lenient.certificate(mine.certPem);
    const either = await lenient.compile(bound);
    assert.equal((await lenient.send(either, { headers: { Authorization: keyId } })).status, 0);
    assert.equal((await lenient.send(either, { peer: shows(mine) })).status, 0);
    const other = makeClientCertificate(authority);
    assert.equal((await lenient.send(either, { headers: { Authorization: keyId }, peer: shows(other) })).status, 401);
    await lenient.close();
  });

  test('a key bound to certificates needs one of them, on APIs with mutual TLS', async () => {
    const listed = await bench.compile({ use_mutual_tls_auth: true, client_certificates: [orgId + mine.fingerprint] });
    const keyId = await bench.key({ ...rights, mtls_static_certificate_bindings: [orgId + mine.fingerprint] });
    const elsewhere = await bench.key({ ...rights, mtls_static_certificate_bindings: [orgId + 'f'.repeat(64)] });
    const createRequest = (key: string): Sent => ({ headers: { Authorization: key }, peer: shows(mine) });
    assert.equal((await bench.send(listed, createRequest(keyId))).status, 0);
    const { status, body, events } = await bench.send(listed, createRequest(elsewhere));
    assert.deepEqual([status, body, events], [401, disallowed, authFailure(bench.services.keyCache.hashOf(elsewhere))]);
  });
});
