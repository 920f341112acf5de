import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type TimeoutEntry, TimeoutQueue } from './timeout-queue.ts';

/** Entry that records its timeout. */
function createEntry(name: string, fired: string[], onFire: () => void = () => undefined): TimeoutEntry {
  return {
    expiresAtMs: 0,
    onTimeout() {
      fired.push(name);
      onFire();
    },
  };
}

describe('timeout queue', () => {
  test('entries time out once, in insertion order', async () => {
    const fired: string[] = [];
    const queue = new TimeoutQueue(5);
    await new Promise<void>(resolve => {
      queue.start(createEntry('first', fired));
      queue.start(createEntry('second', fired));
      queue.start(createEntry('last', fired, resolve));
      keepAlive(() => fired.length < 3);
    });
    assert.deepEqual(fired, ['first', 'second', 'last']);
    assert.equal(queue.size, 0);
  });

  test('a cleared entry does not time out, and a restarted one moves to the end', async () => {
    const fired: string[] = [];
    const queue = new TimeoutQueue(5);
    const cleared = createEntry('cleared', fired);
    await new Promise<void>(resolve => {
      const restarted = createEntry('restarted', fired, resolve);
      queue.start(cleared);
      queue.start(restarted);
      queue.start(createEntry('other', fired));
      queue.start(restarted);
      queue.clear(cleared);
      keepAlive(() => !fired.includes('restarted'));
    });
    assert.deepEqual(fired, ['other', 'restarted']);
  });

  test('an entry may restart in its own timeout', async () => {
    const fired: string[] = [];
    const queue = new TimeoutQueue(2);
    await new Promise<void>(resolve => {
      const it = createEntry('it', fired, () => (fired.length < 3 ? queue.start(it) : resolve()));
      queue.start(it);
      keepAlive(() => fired.length < 3);
    });
    assert.equal(fired.length, 3);
  });

  test('a timeout is capped at the maximum of setTimeout', () => {
    assert.equal(new TimeoutQueue(Number.MAX_SAFE_INTEGER).timeoutMs, 2 ** 31 - 1);
  });
});

/** The timers of a queue are unreferenced. */
function keepAlive(isOpen: () => boolean): void {
  const timer = setInterval(() => {
    if (!isOpen()) clearInterval(timer);
  }, 1);
}
