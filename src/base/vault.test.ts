import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { createDataKey, createVault, parseMasterKey, unwrapDataKey, wrapDataKey } from './vault.ts';

const vault = createVault(createDataKey());

test('any sealed text opens again', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (text, purpose) => {
      const sealed = vault.seal(text, purpose);
      assert.match(sealed, /^v1\.[\w-]+$/);
      assert.equal(vault.open(sealed, purpose), text);
    }),
    { numRuns: 50 },
  );
});

test('sealing one text twice gives different results', () => {
  assert.notEqual(vault.seal('secret', 'key'), vault.seal('secret', 'key'));
});

test('a sealed secret does not open for another purpose, with another key, or when a single bit changed', () => {
  const cannot = { code: 'vault.cannot_open' };
  const sealed = vault.seal('secret', 'user.access_key');
  assert.throws(() => vault.open(sealed, 'client.secret'), cannot);
  assert.throws(() => createVault(createDataKey()).open(sealed, 'user.access_key'), cannot);
  const body = Buffer.from(sealed.slice(3), 'base64url');
  for (let at = 0; at < body.length; at++) {
    const changed = Buffer.from(body);
    changed[at] = (changed[at] ?? 0) ^ 1;
    assert.throws(() => vault.open(`v1.${changed.toString('base64url')}`, 'user.access_key'), cannot);
  }
  for (const text of ['', 'v1.', 'secret', 'v1.AAAA', sealed.replace('v1.', 'v2.'), sealed.slice(0, -6)])
    assert.throws(() => vault.open(text, 'user.access_key'), cannot, text);
});

test('an error about a secret never quotes the secret', () => {
  assert.throws(
    () => vault.open('canary-secret', 'key'),
    (error: Error) => !`${error.message}${error.stack}${JSON.stringify(error)}`.includes('canary-secret'),
  );
});

test('digests are equal for equal secret, purpose and data key only', () => {
  const digest = vault.digest('secret', 'key');
  assert.match(digest, /^[0-9a-f]{64}$/);
  assert.equal(vault.digest('secret', 'key'), digest);
  assert.notEqual(vault.digest('secret', 'token'), digest);
  assert.notEqual(createVault(createDataKey()).digest('secret', 'key'), digest);
  assert.notEqual(vault.digest('c', 'ab'), vault.digest('bc', 'a'));
  assert.notEqual(vault.digest('b:c', 'a'), vault.digest('c', 'a:b'));
});

test('a data key opens under the master key that wrapped it and under no other', () => {
  const dataKey = createDataKey();
  const master = parseMasterKey(randomBytes(32).toString('hex'));
  const wrapped = wrapDataKey(dataKey, master);
  assert.deepEqual(unwrapDataKey(wrapped, master), dataKey);
  const wrong = { code: 'vault.wrong_master_key' };
  assert.throws(() => unwrapDataKey(wrapped, parseMasterKey(randomBytes(32).toString('hex'))), wrong);
  assert.throws(() => unwrapDataKey('', master), wrong);
  assert.throws(() => unwrapDataKey(createVault(master).seal('x'.repeat(32), 'data-key'), master), wrong);
});

test('one master key is the same key in hexadecimal, base64 and base64url', () => {
  const bytes = randomBytes(32);
  for (const encoding of ['hex', 'base64', 'base64url'] as const)
    assert.deepEqual(parseMasterKey(`${bytes.toString(encoding)}\n`), bytes);
});

test('longer keys and passphrases derive the same 32 bytes each time', () => {
  for (const text of [randomBytes(48).toString('base64'), 'correct horse battery staple, and some more of it']) {
    assert.equal(parseMasterKey(text).length, 32);
    assert.deepEqual(parseMasterKey(text), parseMasterKey(text));
  }
});

test('a master key below 32 bytes or characters is refused', () => {
  for (const text of ['', 'secret', 'x'.repeat(31), ` ${'y'.repeat(31)} `, randomBytes(16).toString('base64')])
    assert.throws(() => parseMasterKey(text), { code: 'vault.weak_master_key' }, text);
});
