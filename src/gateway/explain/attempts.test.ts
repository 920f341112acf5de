import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attemptLimit } from './attempts.ts';

test('after ten wrong secrets in a second nothing is looked at until the next, not even the right one', async () => {
  const clock = { ms: 5000, now: () => clock.ms };
  const attempt = attemptLimit(clock);
  let looked = 0;
  const wrong = async () => {
    looked++;
    return false;
  };
  for (let n = 0; n < 50; n++) assert.equal(await attempt(wrong), false);
  assert.equal(looked, 10);
  assert.equal(await attempt(async () => true), false);
  clock.ms += 1000;
  for (let n = 0; n < 50; n++) assert.equal(await attempt(async () => true), true);
});

test('many at once are not looked at all', async () => {
  const attempt = attemptLimit({ now: () => 0 });
  let looked = 0;
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const all = Array.from({ length: 100 }, () =>
    attempt(() => {
      looked++;
      return promise;
    }),
  );
  resolve(true);
  const right = (await Promise.all(all)).filter(Boolean);
  assert.deepEqual([looked, right.length], [16, 16]);
});
