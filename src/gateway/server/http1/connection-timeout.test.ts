import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TimeoutQueue } from '#base/timeout-queue.ts';
import { ConnectionTimeout } from './connection-timeout.ts';

describe('timeout of a connection', () => {
  const queues = () => [new TimeoutQueue(60_000), new TimeoutQueue(60_000)] as const;

  test('started in another queue, it leaves the first one', () => {
    const [head, keepAlive] = queues();
    const timeout = new ConnectionTimeout(() => undefined);
    timeout.start(head);
    timeout.start(keepAlive);
    assert.deepEqual([head.size, keepAlive.size, timeout.isStarted], [0, 1, true]);
  });

  test('expired, it calls its listener and is in no queue', async () => {
    const queue = new TimeoutQueue(1);
    await new Promise<void>(resolve => new ConnectionTimeout(resolve).start(queue));
    assert.equal(queue.size, 0);
  });

  test('cleared, it is in no queue', () => {
    const [head, keepAlive] = queues();
    const timeout = new ConnectionTimeout(() => undefined);
    for (const queue of [head, keepAlive, keepAlive]) timeout.start(queue);
    timeout.clear();
    assert.deepEqual([head.size, keepAlive.size, timeout.isStarted], [0, 0, false]);
  });
});
