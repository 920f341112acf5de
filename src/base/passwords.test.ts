import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  defaultPasswordCost,
  findPasswordFaults,
  hashDummyPassword,
  hashPassword,
  maxConcurrentHashes,
  maxPasswordBytes,
  maxWaitingHashes,
  verifyPassword,
} from './passwords.ts';
import { Problem } from './problems.ts';

const cheap = { N: 16, r: 1, p: 1 };

test('a password matches its own hash and no other', async () => {
  const stored = await hashPassword('correct horse');
  assert.match(stored, /^scrypt\$16384\$8\$5\$[\w-]{22}\$[\w-]{43}$/);
  assert.equal(await verifyPassword('correct horse', stored), true);
  assert.equal(await verifyPassword('correct horse ', stored), false);
  assert.equal(await verifyPassword('', stored), false);
});

test('two hashes of one password differ, so that a stolen table does not show who shares one', async () => {
  assert.notEqual(await hashPassword('same', cheap), await hashPassword('same', cheap));
});

test('a hash keeps its own cost when the default rises', async () => {
  const stored = await hashPassword('old', cheap);
  assert.notDeepEqual(cheap, defaultPasswordCost);
  assert.equal(await verifyPassword('old', stored), true);
});

test('a password matches in composed and decomposed Unicode', async () => {
  assert.equal(await verifyPassword('cafe\u0301', await hashPassword('caf\u00e9', cheap)), true);
});

test('a stored text that is no hash, or that requires absurd memory, matches nothing and does not throw', async () => {
  const salt = 'AAAAAAAAAAAAAAAAAAAAAA';
  const hash = 'A'.repeat(43);
  for (const stored of [
    '',
    'plain',
    '$2b$10$abcdefghijklmnopqrstuv',
    `scrypt$3$8$1$${salt}$${hash}`,
    `scrypt$0$8$1$${salt}$${hash}`,
    `scrypt$536870912$8$1$${salt}$${hash}`,
    `scrypt$16384$8$999$${salt}$${hash}`,
    `scrypt$16384$8$1$${salt}$`,
  ]) {
    assert.equal(await verifyPassword('', stored), false, stored);
  }
  assert.equal(await hashDummyPassword('anything'), false);
});

test('a password beyond the bound is refused when set, and matches nothing', async () => {
  const long = 'x'.repeat(maxPasswordBytes + 1);
  await assert.rejects(hashPassword(long, cheap), { code: 'passwords.too_long', status: 400 });
  const stored = await hashPassword('x'.repeat(maxPasswordBytes), cheap);
  assert.equal(await verifyPassword(long, stored), false);
});

test('a flood of sign-ins is queued up to the bound, the rest is refused, and the queue drains', async () => {
  const room = maxConcurrentHashes + maxWaitingHashes;
  const all = await Promise.allSettled(Array.from({ length: room + 5 }, () => hashPassword('flood', cheap)));
  const refused = all.filter(one => one.status === 'rejected');
  assert.equal(refused.length, 5);
  for (const { reason } of refused) assert.ok(reason instanceof Problem && reason.status === 503);
  assert.equal(await verifyPassword('flood', await hashPassword('flood', cheap)), true);
});

test('a policy reports every violation, and none for a valid password', () => {
  const strict = { minLength: 8, multiCase: true, minNumeric: 2, minSpecial: 1, disableSequential: true };
  assert.deepEqual(findPasswordFaults('Tr0ub4dor&3', strict), []);
  assert.equal(findPasswordFaults('aaa', strict).length, 5);
  for (const run of ['xabcx', 'x321x', 'x111x', 'xAbCx'])
    assert.match(findPasswordFaults(run, { minLength: 1, disableSequential: true }).join(), /three consecutive/);
  for (const fine of ['abdabd', '1a2b3c', 'aabbcc'])
    assert.deepEqual(findPasswordFaults(fine, { minLength: 1, disableSequential: true }), []);
});

test('six characters are enough by default, counted in code points', () => {
  assert.deepEqual(findPasswordFaults('secret'), []);
  assert.deepEqual(findPasswordFaults('😀😀😀'), ['Password must have at least 6 characters']);
});
