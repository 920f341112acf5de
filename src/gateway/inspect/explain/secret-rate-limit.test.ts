import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createSecretRateLimit } from './secret-rate-limit.ts';

describe('explain secret rate limit', () => {
  test('after ten wrong secrets in a second an address is rejected until the next, even with the right one', async () => {
    const clock = { ms: 5000, now: () => clock.ms };
    const attempt = createSecretRateLimit(clock);
    let looked = 0;
    const wrong = async () => {
      looked++;
      return false;
    };
    for (let n = 0; n < 50; n++) assert.equal(await attempt('192.0.2.1', wrong), false);
    assert.equal(looked, 10);
    assert.equal(await attempt('192.0.2.1', async () => true), false);
    assert.equal(await attempt('192.0.2.2', async () => true), true, 'another address is not held back');
    clock.ms += 1000;
    for (let n = 0; n < 50; n++) assert.equal(await attempt('192.0.2.1', async () => true), true);
  });

  test('concurrent checks are bounded per address', async () => {
    const attempt = createSecretRateLimit({ now: () => 0 });
    let looked = 0;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const look = () => {
      looked++;
      return promise;
    };
    const all = Array.from({ length: 100 }, () => attempt('192.0.2.1', look));
    const other = attempt('192.0.2.2', look);
    resolve(true);
    const right = (await Promise.all(all)).filter(Boolean);
    assert.deepEqual([looked, right.length, await other], [17, 16, true]);
    assert.equal(await attempt('192.0.2.1', async () => true), true, 'those that ended make room');
  });
});
