import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { withTimeout } from './redis-timeout.ts';

const settle = () => new Promise(resolve => setImmediate(resolve));

describe('Redis reply timeout', () => {
  test('a reply that never comes is an error after the timeout, not before', async ({ mock }) => {
    mock.timers.enable({ apis: ['setTimeout'] });
    let failure: Error | undefined;
    const waiting = withTimeout(new Promise(() => undefined), 500).catch(error => {
      failure = error;
    });
    for (let part = 1; part <= 5; part++) {
      mock.timers.tick(99);
      await settle();
      assert.equal(failure, undefined, `before the end of part ${part}`);
      mock.timers.tick(1);
      await settle();
    }
    await waiting;
    assert.match(String(failure), /Redis did not answer within 500 ms/);
  });

  test('a blocked event loop uses up one slice: a reply that arrived meanwhile is read', async ({ mock }) => {
    mock.timers.enable({ apis: ['setTimeout'] });
    const reply = Promise.withResolvers<string>();
    const waiting = withTimeout(reply.promise, 500);
    // One late timer, as after a block of ten seconds: mocked timers that it starts run in the next tick.
    mock.timers.tick(100);
    reply.resolve('PONG');
    assert.equal(await waiting, 'PONG');
  });

  test('a reply and an error are passed on, and leave no timer behind', async () => {
    const countTimers = () => process.getActiveResourcesInfo().filter(it => it === 'Timeout').length;
    const before = countTimers();
    assert.equal(await withTimeout(Promise.resolve('PONG'), 60_000), 'PONG');
    await assert.rejects(withTimeout(Promise.reject(new Error('OOM')), 60_000), /^Error: OOM$/);
    assert.equal(countTimers(), before);
  });
});
