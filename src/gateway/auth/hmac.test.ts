import assert from 'node:assert/strict';
import { createHmac, sign } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { makeCertificate } from '../../../tests/support/certificates.ts';
import { type Bench, errorBody, openBench, type Sent, startMs } from '../../../tests/support/step-harness.ts';
import type { Api } from '../routing/api.ts';
import { parseHttpDate, parseSignatureHeader } from './http-signature.ts';

const rights = { access_rights: { bench: {} } };
const signing = { ...rights, hmac_enabled: true, hmac_string: 'shared-secret' };
const date = (atMs = startMs) => new Date(atMs).toUTCString();
const refusal = errorBody('Authorization field missing, malformed or invalid');

interface Written {
  keyId: string;
  algorithm?: string;
  headers?: string;
  signature: string;
}
const header = ({ keyId, algorithm = 'hmac-sha256', headers = '(request-target) date', signature }: Written) =>
  `Signature keyId="${keyId}",algorithm="${algorithm}",headers="${headers}",signature="${signature}"`;
const signText = (text: string, hash = 'sha256', secret = 'shared-secret') =>
  encodeURIComponent(createHmac(hash, secret).update(text).digest('base64'));

describe('HTTP signatures', () => {
  let bench: Bench;
  let api: Api;
  let keyId: string;
  before(async () => {
    bench = await openBench();
    api = await bench.compile({ enable_signature_checking: true, hmac_allowed_clock_skew: 1000 });
    keyId = await bench.key(signing);
  });
  after(() => bench.close());
  const text = `(request-target): get /bench/a/b\ndate: ${date()}`;
  const createSigned = (more: Partial<Written> = {}, headers: Record<string, string> = {}): Sent => ({
    target: '/a/b?q=1',
    headers: { Date: date(), ...headers, Authorization: header({ keyId, signature: signText(text), ...more }) },
  });

  test('every HMAC algorithm verifies, over the path as sent without its query', async () => {
    for (const bits of ['1', '256', '384', '512']) {
      const { status, call } = await bench.send(
        api,
        createSigned({ algorithm: `hmac-sha${bits}`, signature: signText(text, `sha${bits}`) }),
      );
      assert.equal(status, 0, bits);
      assert.equal(call.keyId, keyId);
      assert.equal(call.authMethod, 'hmac');
    }
  });

  test('lower-case escapes and plain base64 verify', async () => {
    const signature = signText(text);
    for (const given of [signature.replaceAll(/%../g, it => it.toLowerCase()), decodeURIComponent(signature)])
      assert.equal((await bench.send(api, createSigned({ signature: given }))).status, 0);
  });

  test('header values are signed trimmed; without a list only the date is', async () => {
    const more = `x-one: 1, 2\n${text}`;
    const call = createSigned({ headers: 'x-one (request-target) date', signature: signText(more) });
    call.headers = { 'X-One': ' 1, 2 ', ...call.headers };
    assert.equal((await bench.send(api, call)).status, 0);
    const dateOnly = `Signature keyId="${keyId}",algorithm="hmac-sha256",signature="${signText(`date: ${date()}`)}"`;
    assert.equal((await bench.send(api, { headers: { Date: date(), Authorization: dateOnly } })).status, 0);
  });

  test('x-aux-date replaces the date', async () => {
    const auxiliary = `(request-target): get /bench/a/b\nx-aux-date: ${date()}`;
    const call = createSigned(
      { signature: signText(auxiliary) },
      { 'x-aux-date': date(), Date: date(startMs - 60_000) },
    );
    assert.equal((await bench.send(api, call)).status, 0);
  });

  test('an invalid signature gets 400 and an event', async () => {
    const silent = await bench.key(rights);
    const late = date(startMs - 1001);
    const wrong: Record<string, Sent> = {
      nothing: {},
      'another scheme': { headers: { Date: date(), Authorization: 'Basic abc' } },
      'unknown field': createSigned({ keyId: `${keyId}",extra="1` }),
      'field twice': createSigned({ keyId: `${keyId}",keyId="x` }),
      'no signature': createSigned({ signature: '' }),
      'not base64': createSigned({ signature: '*' }),
      'unknown key': createSigned({ keyId: 'nobody' }),
      'key that may not sign': createSigned({ keyId: silent }),
      'another secret': createSigned({ signature: signText(text, 'sha256', 'other') }),
      'another path': { ...createSigned(), target: '/a/c' },
      'another method': { ...createSigned(), method: 'POST' },
      'unknown algorithm': createSigned({ algorithm: 'hmac-md5' }),
      'no date': { ...createSigned(), headers: { Authorization: createSigned().headers!.Authorization! } },
      'unreadable date': createSigned({}, { Date: 'yesterday' }),
      'too late': createSigned({ signature: signText(text.replace(date(), late)) }, { Date: late }),
      'date not signed': createSigned({
        headers: '(request-target)',
        signature: signText('(request-target): get /bench/a/b'),
      }),
    };
    for (const [what, call] of Object.entries(wrong)) {
      const { status, body, events, call: after } = await bench.send(api, call);
      assert.deepEqual([status, body], [400, refusal], what);
      assert.deepEqual(
        events.map(({ event, message }) => [event, message]),
        [['AuthFailure', 'Auth Failure']],
      );
      assert.doesNotMatch(String(events[0]!.key), new RegExp(keyId));
      assert.equal(after.session, undefined);
    }
  });

  test('algorithms that are not allowed are refused', async () => {
    const strict = await bench.compile({ enable_signature_checking: true, hmac_allowed_algorithms: ['hmac-sha512'] });
    assert.equal((await bench.send(strict, createSigned())).status, 400);
    assert.equal(
      (await bench.send(strict, createSigned({ algorithm: 'hmac-sha512', signature: signText(text, 'sha512') })))
        .status,
      0,
    );
  });

  test('without a clock skew any valid date passes', async () => {
    const timeless = await bench.compile({ enable_signature_checking: true });
    const old = date(0);
    const call = createSigned({ signature: signText(text.replace(date(), old)) }, { Date: old });
    assert.equal((await bench.send(timeless, call)).status, 0);
    assert.equal((await bench.send(timeless, createSigned({}, { Date: 'never' }))).status, 400);
  });
});

describe('HTTP signatures with a certificate', () => {
  let bench: Bench;
  let api: Api;
  before(async () => {
    bench = await openBench();
    api = await bench.compile({ enable_signature_checking: true });
  });
  after(() => bench.close());
  const certifying = (id: string) =>
    bench.key({ ...rights, enable_http_signature_validation: true, rsa_certificate_id: id });
  const text = `(request-target): get /bench/\ndate: ${date()}`;
  const createRsaSigned = (keyId: string, keyPem: string): Sent => ({
    headers: {
      Date: date(),
      Authorization: header({
        keyId,
        algorithm: 'rsa-sha256',
        signature: sign('sha256', Buffer.from(text), keyPem).toString('base64'),
      }),
    },
  });

  test('the key’s certificate or public key verifies RSA signatures', async () => {
    const made = makeCertificate({ cn: 'signer', keyType: 'rsa' });
    for (const pem of [made.certPem, made.publicKeyPem]) {
      const keyId = await certifying(await bench.certificate(pem));
      assert.equal((await bench.send(api, createRsaSigned(keyId, made.keyPem))).status, 0);
      const other = makeCertificate({ cn: 'other', keyType: 'rsa' });
      const { status, body } = await bench.send(api, createRsaSigned(keyId, other.keyPem));
      assert.deepEqual([status, body], [400, refusal]);
    }
  });

  test('a certificate that is not in the store: 500', async () => {
    const made = makeCertificate({ cn: 'lost', keyType: 'rsa' });
    const { status, body, events } = await bench.send(api, createRsaSigned(await certifying('lost'), made.keyPem));
    assert.deepEqual([status, body, events], [500, errorBody('Certificate not found'), []]);
  });

  test('a certificate that is not RSA: 500', async () => {
    const made = makeCertificate({ cn: 'curve', keyType: 'ec' });
    const keyId = await certifying(await bench.certificate(made.certPem));
    const { status, body, events } = await bench.send(api, createRsaSigned(keyId, made.keyPem));
    assert.deepEqual([status, body, events], [500, errorBody("Certificate doesn't contain RSA Public key"), []]);
  });

  test('a key without a certificate: 400', async () => {
    const made = makeCertificate({ cn: 'x', keyType: 'rsa' });
    assert.equal((await bench.send(api, createRsaSigned(await bench.key(signing), made.keyPem))).status, 400);
  });
});

test('HTTP dates of several formats are parsed', () => {
  const at = Date.UTC(2006, 0, 2, 15, 4, 5);
  assert.equal(parseHttpDate('Mon, 02 Jan 2006 15:04:05 GMT'), at);
  assert.equal(parseHttpDate('Mon, 02 Jan 2006 15:04:05 MST'), at);
  assert.equal(parseHttpDate('Mon, 02 Jan 2006 15:04:05 -07'), at + 7 * 3_600_000);
  assert.equal(parseHttpDate('Mon, 02 Jan 2006 15:04:05 +0130'), at - 90 * 60_000);
  for (const text of ['', '2006-01-02', 'Mon, 42 Jan 2006 15:04:05 GMT', 'Mon, 02 Jan 2006 25:04:05 GMT'])
    assert.equal(parseHttpDate(text), undefined);
});

test('the Signature header is case-insensitive and strict', () => {
  const read = parseSignatureHeader('signature KEYID="k" , Headers="Date (Request-Target)",signature="YQ%3d%3D"');
  assert.deepEqual(read, {
    keyId: 'k',
    algorithm: 'hmac-sha1',
    headers: ['date', '(request-target)'],
    signature: 'YQ==',
  });
  for (const text of [
    '',
    'Signature',
    'Signature keyId=k',
    'Signature keyId="k",',
    'Signature keyId="k"x signature="YQ=="',
  ])
    assert.equal(parseSignatureHeader(text), undefined);
});
