import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readSettings } from '#base/settings.ts';
import { createSignInLimit } from './sign-in-limit.ts';

describe('limit of failed sign-ins', () => {
  const settings = readSettings({
    flags: { 'sign_in.max_address_failures': '5', 'sign_in.max_account_failures': '3' },
  });
  const createLimit = () => createSignInLimit(settings, { now: () => 0 });
  const limited = /Too many failed sign-ins/;

  test('the networks of one IPv6 site have ten times the limit of one together', () => {
    const limit = createLimit();
    for (let index = 0; index < 50; index++) limit.beginFromAddress(`2001:db8:1:${index.toString(16)}::1`);
    assert.throws(() => limit.beginFromAddress('2001:db8:1:ffff::1'), limited);
    limit.beginFromAddress('2001:db8:2::1');
  });

  test('an attempt that succeeds counts in none of its counters', () => {
    const limit = createLimit();
    for (let index = 0; index < 100; index++) limit.begin('ann', '2001:db8::1').succeed();
    for (let index = 0; index < 3; index++) limit.begin('ann', '2001:db8::1');
    assert.throws(() => limit.begin('ann', '2001:db8::2'), limited);
    limit.begin('ann', '2001:db8:0:1::2');
  });

  test('an account alone counts without its address', () => {
    const limit = createLimit();
    for (let index = 0; index < 3; index++) limit.beginAccount('ann', '192.0.2.1');
    assert.throws(() => limit.beginAccount('ann', '::ffff:192.0.2.1'), limited);
    for (let index = 0; index < 5; index++) limit.beginFromAddress('192.0.2.1');
    assert.throws(() => limit.beginFromAddress('192.0.2.1'), limited);
  });
});
