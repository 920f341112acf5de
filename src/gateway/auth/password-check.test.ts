import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { hashPassword } from '#base/passwords.ts';
import { createPasswordCheck, type PasswordAttempt, type PasswordCheck } from './password-check.ts';

const ask = (
  check: PasswordCheck,
  user: string,
  stored: PasswordAttempt['stored'],
  password: string,
  rememberMs: number,
  more: Partial<PasswordAttempt> = {},
) => check.matches({ user, stored, password, cacheMs: rememberMs, client: '192.0.2.1', ...more });
const cheap = { N: 2, r: 1, p: 1 };

test('password cache: a correct password is cached for its time, a wrong one never', async () => {
  const time = { nowMs: 0 };
  const check = createPasswordCheck({ now: () => time.nowMs }, 0, cheap);
  const stored = { hash: await hashPassword('word', cheap), hashType: 'scrypt' };
  assert.equal(await ask(check, 'ann', stored, 'word', 1000), true);
  assert.equal(ask(check, 'ann', stored, 'word', 1000), true, 'answers at once');
  assert.ok(ask(check, 'ann', stored, 'word', 0) instanceof Promise, 'asked not to remember');
  time.nowMs = 1000;
  assert.ok(ask(check, 'ann', stored, 'word', 1000) instanceof Promise);
  assert.equal(await ask(check, 'ann', stored, 'wrong', 1000), false);
  assert.equal(await ask(check, 'ann', stored, 'wrong', 1000), false);
});

test('the right passwords of many users are cached at the same time', async () => {
  const check = createPasswordCheck({ now: () => 0 }, 0, cheap);
  const stored = { hash: await hashPassword('word', cheap), hashType: 'scrypt' };
  const users = ['ann', 'bob', 'cid', 'dan'];
  for (const user of users) assert.equal(await ask(check, user, stored, 'word', 1000), true);
  for (const user of users) assert.equal(ask(check, user, stored, 'word', 1000), true, user);
});

test('password cache: results are per user, password and stored hash', async () => {
  const check = createPasswordCheck({ now: () => 0 }, 0, cheap);
  const plain = (hash: string) => ({ hash, hashType: '' });
  assert.equal(await ask(check, 'ann', plain('b:c'), 'b:c', 1000), true);
  assert.equal(await ask(check, 'bob', plain('x'), 'b:c', 1000), false);
  assert.equal(await ask(check, 'ann', plain('b'), 'c', 1000), false);
  assert.equal(await ask(check, 'ann', plain('b:c2'), 'b:c', 1000), false);
  assert.equal(await ask(check, 'ann', undefined, 'b:c', 1000), false);
});

test('password check: concurrent checks of the same password run once', async () => {
  const check = createPasswordCheck({ now: () => 0 }, 0, cheap);
  const stored = { hash: await hashPassword('word', cheap), hashType: 'scrypt' };
  const first = ask(check, 'ann', stored, 'word', 1000);
  assert.equal(ask(check, 'ann', stored, 'word', 1000), first);
  assert.notEqual(ask(check, 'ann', stored, 'other', 1000), first);
  assert.equal(await first, true);
});

describe('limit on wrong passwords', () => {
  const clock = { ms: 0, now: () => clock.ms };
  const stored = { hash: 'word', hashType: '' };
  const from = (client: string) => ({ client });

  test('a user at an address is limited after the maximum, at other addresses and later not', async () => {
    const check = createPasswordCheck(clock, 3, cheap);
    for (let n = 0; n < 3; n++) assert.equal(await ask(check, 'ann', stored, `wrong ${n}`, 0), false);
    assert.equal(ask(check, 'ann', stored, 'word', 0), 'limited');
    assert.equal(check.retryAfterSeconds('192.0.2.1', 'ann'), 60);
    assert.equal(await ask(check, 'ann', stored, 'word', 0, from('192.0.2.2')), true, 'from another address');
    assert.equal(await ask(check, 'bob', stored, 'word', 0), true, 'another user at the address');
    clock.ms += 60_000;
    assert.equal(await ask(check, 'ann', stored, 'word', 0), true, 'a minute later');
  });

  test('the wrong passwords of many users and addresses are counted at the same time', async () => {
    const check = createPasswordCheck(clock, 2, cheap);
    const users = ['ann', 'bob', 'cid', 'dan'];
    for (const _ of [1, 2])
      for (const user of users) assert.equal(await ask(check, user, stored, 'wrong', 0, from(`of ${user}`)), false);
    for (const user of users) assert.equal(ask(check, user, stored, 'word', 0, from(`of ${user}`)), 'limited', user);
  });

  test('those who signed in from an address are known at the same time', async () => {
    const check = createPasswordCheck(clock, 1, cheap);
    const users = ['ann', 'bob', 'cid', 'dan'];
    for (const user of users) assert.equal(await ask(check, user, stored, 'word', 0), true);
    for (let n = 0; n < 10; n++) assert.equal(await ask(check, `guess ${n}`, undefined, 'word', 0), false);
    for (const user of users) assert.equal(await ask(check, user, stored, 'word', 0), true, user);
  });

  test('a correct password resets the count', async () => {
    const check = createPasswordCheck(clock, 2, cheap);
    for (let n = 0; n < 5; n++) {
      assert.equal(await ask(check, 'ann', stored, 'wrong', 0), false);
      assert.equal(await ask(check, 'ann', stored, 'word', 0), true);
    }
  });

  test('an address that tries many users is limited, except for users that signed in from it', async () => {
    const check = createPasswordCheck(clock, 1, cheap);
    assert.equal(await ask(check, 'ann', stored, 'word', 0), true);
    for (let n = 0; n < 10; n++) assert.equal(await ask(check, `guess ${n}`, undefined, 'word', 0), false);
    assert.equal(ask(check, 'bob', stored, 'word', 0), 'limited');
    assert.equal(await ask(check, 'ann', stored, 'word', 0), true);
  });

  test('a limit of 0 disables it', async () => {
    const check = createPasswordCheck(clock, 0, cheap);
    for (let n = 0; n < 20; n++) assert.equal(await ask(check, 'ann', stored, 'wrong', 0), false);
  });

  test('a check runs while one of its clients is connected', async () => {
    const check = createPasswordCheck(clock);
    const scrypt = { hash: await hashPassword('word', { N: 2 ** 14, r: 8, p: 1 }), hashType: 'scrypt' };
    const busy = [1, 2].map(n => ask(check, `busy ${n}`, scrypt, 'word', 0));
    const gone = { isConnected: () => false };
    const left = ask(check, 'ann', scrypt, 'word', 0, gone);
    const shared = [ask(check, 'bob', scrypt, 'word', 0, gone), ask(check, 'bob', scrypt, 'word', 0)];
    assert.deepEqual(await Promise.all(busy), [true, true]);
    assert.equal(await left, 'abandoned');
    assert.deepEqual(await Promise.all(shared), [true, true]);
  });
});
