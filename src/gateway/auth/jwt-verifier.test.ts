import assert from 'node:assert/strict';
import { createSecretKey, type KeyObject } from 'node:crypto';
import { test } from 'node:test';
import { ecPair, edPair, mint, part, pemOf, rsaPair, signature } from '../../../tests/support/tokens.ts';
import { type KeyFamily, listAlgorithms, parseJwk, parseKey, parseKeySource } from './jwt-keys.ts';
import {
  createJwtVerifier,
  findTimeFault,
  isTokenFault,
  type JwtSigner,
  maxTokenChars,
  readClaim,
  readScopeClaims,
} from './jwt-verifier.ts';

const rsa = rsaPair();
const claims = { sub: 'ann', exp: 2_000_000_000 };
const broken: Error[] = [];

const checkOf = (family: KeyFamily, key: KeyObject) =>
  createJwtVerifier<JwtSigner>(
    listAlgorithms([family]),
    () => ({ key }),
    error => broken.push(error),
  );
const verdict = async (family: KeyFamily, key: KeyObject, text: string) => {
  const checked = await checkOf(family, key).verify(text);
  return isTokenFault(checked) ? checked : checked.token.claims.sub;
};
const byRsa = (text: string) => verdict('rsa', rsa.publicKey, text);

test('JWT: every algorithm of a family verifies with its key', async () => {
  const ec = ecPair();
  const ec384 = ecPair('P-384');
  const ed = edPair();
  const secret = createSecretKey(Buffer.from('a shared secret of some length..'));
  const good: [KeyFamily, KeyObject, string][] = [
    ['rsa', rsa.publicKey, mint(claims, rsa.privateKey)],
    ['rsa', rsa.publicKey, mint(claims, rsa.privateKey, { alg: 'PS256' })],
    ['ecdsa', ec.publicKey, mint(claims, ec.privateKey, { alg: 'ES256' })],
    ['ecdsa', ec384.publicKey, mint(claims, ec384.privateKey, { alg: 'ES384' })],
    ['eddsa', ed.publicKey, mint(claims, ed.privateKey, { alg: 'EdDSA' })],
    ['hmac', secret, mint(claims, secret, { alg: 'HS256' })],
    ['hmac', secret, mint(claims, secret, { alg: 'HS512' })],
  ];
  for (const [family, key, text] of good) assert.equal(await verdict(family, key, text), 'ann', text);
});

test('JWT: the alg header never selects the verification', async () => {
  const pem = pemOf(rsa.publicKey);
  const ec = ecPair();
  for (const text of [
    mint(claims, '', { alg: 'none' }),
    mint(claims, pem, { alg: 'HS256' }),
    mint(claims, ` \n${pem}`, { alg: 'HS256' }),
    mint(claims, pem.trim(), { alg: 'HS256' }),
    mint(claims, ec.privateKey, { alg: 'ES256' }),
    mint(claims, rsa.privateKey, { header: { alg: 'nOnE' } }),
    mint(claims, rsa.privateKey, { header: { alg: 'rs256' } }),
    mint(claims, rsa.privateKey, { header: { alg: 'RS256 ' } }),
  ])
    assert.equal(await byRsa(text), 'method', text);
  assert.equal(
    await verdict('rsa', ec.publicKey, mint(claims, ec.privateKey, { header: { alg: 'RS256' } })),
    'signature',
  );
});

test('JWT: jwk, jku and x5u headers are ignored', async () => {
  const mine = rsaPair();
  const header = {
    jwk: mine.publicKey.export({ format: 'jwk' }),
    jku: 'http://127.0.0.1:1/',
    x5u: 'http://127.0.0.1:1/',
  };
  assert.equal(await byRsa(mint(claims, mine.privateKey, { header })), 'signature');
  assert.equal(await byRsa(mint(claims, rsa.privateKey, { header })), 'ann');
});

test('JWT: a modified token and a foreign signature are refused', async () => {
  const [head, , tail] = mint(claims, rsa.privateKey).split('.');
  assert.equal(await byRsa(`${head}.${part({ ...claims, sub: 'bob' })}.${tail}`), 'signature');
  assert.equal(await byRsa(`${head}.${part(claims)}.`), 'signature');
  assert.equal(await byRsa(mint(claims, rsaPair().privateKey)), 'signature');
  const input = `${part({ alg: 'ES256' })}.${part(claims)}`;
  const ec = ecPair();
  assert.equal(await verdict('ecdsa', ec.publicKey, `${input}.${Buffer.alloc(64).toString('base64url')}`), 'signature');
});

test('JWT: a malformed token is refused before the key lookup', async () => {
  const asked: unknown[] = [];
  const { verify: check } = createJwtVerifier<JwtSigner>(
    listAlgorithms(['rsa']),
    token => {
      asked.push(token);
      return undefined;
    },
    error => broken.push(error),
  );
  const signRaw = (head: string, body: string) => {
    const input = `${part(head)}.${part(body)}`;
    return `${input}.${signature('RS256', input, rsa.privateKey)}`;
  };
  const sound = JSON.stringify(claims);
  for (const text of [
    '',
    'a',
    'a.b',
    'a.b.c',
    'a.b.c.d.e',
    `${mint(claims, rsa.privateKey)}.`,
    `${mint(claims, rsa.privateKey)} `,
    mint({ ...claims, pad: 'x'.repeat(maxTokenChars) }, rsa.privateKey),
    signRaw('[]', sound),
    signRaw('{"alg":["RS256"]}', sound),
    signRaw('{"alg":"RS256","alg":"RS256"}', sound),
    signRaw('{"alg":"RS256","crit":["exp"]}', sound),
    signRaw('{"alg":"RS256","b64":false}', sound),
    signRaw('{"alg":"RS256","kid":7}', sound),
    signRaw('{"alg":"RS256"}', '"ann"'),
    signRaw('{"alg":"RS256"}', '{"sub":"ann","sub":"bob"}'),
    signRaw('{"alg":"RS256"}', '{"sub":"ann","\\u0073ub":"bob"}'),
    signRaw('{"alg":"RS256"}', '{"iss":["https://good.example","https://evil.example"]}'),
    signRaw('{"alg":"RS256"}', '{"sub":7}'),
    signRaw('{"alg":"RS256"}', '{"sub":{"toString":"ann"}}'),
    signRaw('{"alg":"RS256"}', '{"aud":[1]}'),
    signRaw('{"alg":"RS256"}', '{"exp":"2000000000"}'),
    signRaw('{"alg":"RS256"}', '{"exp":1e999}'),
    signRaw('{"alg":"RS256"}', '{"nbf":null}'),
  ])
    assert.equal(await check(text), 'malformed', text.slice(0, 200));
  assert.deepEqual(asked, []);
});

test('JWT: a verified token is cached until its key changes', async () => {
  let signer: JwtSigner | undefined = { key: rsa.publicKey };
  const { verify: check } = createJwtVerifier<JwtSigner>(
    listAlgorithms(['rsa']),
    () => signer,
    error => broken.push(error),
  );
  const text = mint(claims, rsa.privateKey);
  const first = await check(text);
  assert.ok(!isTokenFault(first));
  const again = check(text);
  assert.ok(!(again instanceof Promise) && !isTokenFault(again), 'known at once');
  assert.equal(again.token, first.token);
  const more = ['bob', 'cid', 'dan', 'eve'].map(sub => mint({ ...claims, sub }, rsa.privateKey));
  for (const other of more) await check(other);
  for (const other of [text, ...more]) assert.ok(!(check(other) instanceof Promise), 'many are known at the same time');
  signer = { key: rsaPair().publicKey };
  assert.equal(await check(text), 'signature');
  signer = undefined;
  assert.equal(check(text), 'key');
});

test('JWT: exp, iat and nbf are exact to the second, with their clock skews', () => {
  const none = { expiresAtSkewSeconds: 0, issuedAtSkewSeconds: 0, notBeforeSkewSeconds: 0 };
  const at = 1_000_000;
  const fault = (given: object, skews: object = {}) => findTimeFault(given as never, at * 1000, { ...none, ...skews });
  assert.equal(fault({}), undefined);
  assert.equal(fault({ exp: at + 1, iat: at, nbf: at }), undefined);
  assert.equal(fault({ exp: at }), 'expired');
  assert.equal(fault({ exp: 0 }), 'expired');
  assert.equal(fault({ exp: at - 4 }, { expiresAtSkewSeconds: 5 }), undefined);
  assert.equal(fault({ exp: at - 5 }, { expiresAtSkewSeconds: 5 }), 'expired');
  assert.equal(fault({ iat: at + 1 }), 'before_issued');
  assert.equal(fault({ iat: at + 5 }, { issuedAtSkewSeconds: 5 }), undefined);
  assert.equal(fault({ nbf: at + 1 }), 'not_yet');
  assert.equal(fault({ nbf: at + 5 }, { notBeforeSkewSeconds: 5 }), undefined);
  assert.equal(fault({ nbf: at + 6 }, { notBeforeSkewSeconds: 5 }), 'not_yet');
});

test('JWT: claims are read by name, then by path, never from a prototype', () => {
  const given = { 'a.b': 1, a: { b: 2, c: { d: 'x' } }, scp: ['r', 7, 'w'], scope: ' r  w ' };
  assert.equal(readClaim(given, 'a.b'), 1);
  assert.equal(readClaim(given, 'a.c.d'), 'x');
  for (const path of ['constructor', '__proto__', 'a.constructor.name', 'a.c.d.length', 'z'])
    assert.equal(readClaim(given, path), undefined, path);
  assert.deepEqual(readScopeClaims(given, ['scope', 'scp']), ['r', 'w', 'r', 'w']);
});

test('a public key, as PEM or in a key set, is one of its own family and of no other', () => {
  const pairs = { rsa, ecdsa: ecPair(), eddsa: edPair() };
  for (const [own, { publicKey }] of Object.entries(pairs)) {
    for (const family of ['rsa', 'ecdsa', 'eddsa'] as const)
      assert.equal(
        parseKey(family, Buffer.from(pemOf(publicKey))) !== undefined,
        family === own,
        `${own} as ${family}`,
      );
    assert.equal(parseJwk(publicKey.export({ format: 'jwk' }))?.family, own);
  }
});

test('JWT: a PEM is no shared secret; weak keys and other families are refused', () => {
  const pem = pemOf(rsa.publicKey);
  for (const text of [pem, `\n\t ${pem}`, `x${pem}`]) assert.equal(parseKey('hmac', Buffer.from(text)), undefined);
  assert.equal(parseKey('hmac', Buffer.alloc(0)), undefined);
  assert.ok(parseKey('rsa', Buffer.from(pem)));
  assert.ok(parseKey('rsa', Buffer.from(Buffer.from(pem).toString('base64'))));
  assert.equal(parseKey('ecdsa', Buffer.from(pem)), undefined);
  assert.equal(parseKey('rsa', Buffer.from(pemOf(rsaPair(1024).publicKey))), undefined);
  assert.equal(parseKey('rsa', Buffer.from('-----BEGIN PUBLIC KEY-----\nnonsense')), undefined);
  const jwk = rsa.publicKey.export({ format: 'jwk' });
  assert.equal(parseJwk({ ...jwk, use: 'enc' }), undefined);
  assert.equal(parseJwk({ ...jwk, kty: 'oct' }), undefined);
  assert.equal(parseJwk({ ...jwk, n: 'AQAB' }), undefined);
  assert.equal(parseJwk(rsa.privateKey.export({ format: 'jwk' }))?.key.type, 'public');
});

test('JWT: a source is a URL, plain or base64, or a base64 key', () => {
  const toBase64 = (text: string) => Buffer.from(text).toString('base64');
  assert.deepEqual(parseKeySource(' https://a.example/jwks '), { url: 'https://a.example/jwks' });
  assert.deepEqual(parseKeySource(toBase64('https://a.example/jwks\n')), { url: 'https://a.example/jwks' });
  const bytes = Buffer.from([0xff, 0, 0xfe]);
  assert.deepEqual(parseKeySource(bytes.toString('base64')), { bytes });
  for (const text of ['', 'not base64!', 'abcde']) assert.equal(parseKeySource(text), undefined, text);
});
