import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashPassword } from '#base/passwords.ts';
import { passwordCheck } from './password-check.ts';

const cheap = { N: 2, r: 1, p: 1 };

test('a right password is remembered as long as asked, a wrong one never', async () => {
  const time = { nowMs: 0 };
  const check = passwordCheck({ now: () => time.nowMs });
  const stored = { hash: await hashPassword('word', cheap), hashType: 'scrypt' };
  assert.equal(await check.matches('ann', stored, 'word', 1000), true);
  assert.equal(check.matches('ann', stored, 'word', 1000), true, 'answers at once');
  assert.ok(check.matches('ann', stored, 'word', 0) instanceof Promise, 'asked not to remember');
  time.nowMs = 1000;
  assert.ok(check.matches('ann', stored, 'word', 1000) instanceof Promise);
  assert.equal(await check.matches('ann', stored, 'wrong', 1000), false);
  assert.equal(await check.matches('ann', stored, 'wrong', 1000), false);
});

test('one answer is never taken for another user, password or stored hash', async () => {
  const check = passwordCheck({ now: () => 0 });
  const plain = (hash: string) => ({ hash, hashType: '' });
  assert.equal(await check.matches('ann', plain('b:c'), 'b:c', 1000), true);
  assert.equal(await check.matches('bob', plain('x'), 'b:c', 1000), false);
  assert.equal(await check.matches('ann', plain('b'), 'c', 1000), false);
  assert.equal(await check.matches('ann', plain('b:c2'), 'b:c', 1000), false);
  assert.equal(await check.matches('ann', undefined, 'b:c', 1000), false);
});

test('the same question asked at once is worked out once', async () => {
  const check = passwordCheck({ now: () => 0 });
  const stored = { hash: await hashPassword('word', cheap), hashType: 'scrypt' };
  const first = check.matches('ann', stored, 'word', 1000);
  assert.equal(check.matches('ann', stored, 'word', 1000), first);
  assert.notEqual(check.matches('ann', stored, 'other', 1000), first);
  assert.equal(await first, true);
});
