import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type TimeoutEntry, TimeoutQueue } from './timeout-queue.ts';

/** Something that writes down when it was told. */
function timed(name: string, told: string[], onLate: () => void = () => undefined): TimeoutEntry {
  return {
    expiresAtMs: 0,
    onTimeout() {
      told.push(name);
      onLate();
    },
  };
}

describe('timeout queue', () => {
  test('entries time out once, in insertion order', async () => {
    const told: string[] = [];
    const deadlines = new TimeoutQueue(5);
    await new Promise<void>(resolve => {
      deadlines.start(timed('first', told));
      deadlines.start(timed('second', told));
      deadlines.start(timed('last', told, resolve));
      keepAlive(() => told.length < 3);
    });
    assert.deepEqual(told, ['first', 'second', 'last']);
    assert.equal(deadlines.size, 0);
  });

  test('a cleared entry does not time out, and a restarted one moves to the end', async () => {
    const told: string[] = [];
    const deadlines = new TimeoutQueue(5);
    const ended = timed('ended', told);
    await new Promise<void>(resolve => {
      const renewed = timed('renewed', told, resolve);
      deadlines.start(ended);
      deadlines.start(renewed);
      deadlines.start(timed('other', told));
      deadlines.start(renewed);
      deadlines.clear(ended);
      keepAlive(() => !told.includes('renewed'));
    });
    assert.deepEqual(told, ['other', 'renewed']);
  });

  test('an entry may restart in its own timeout', async () => {
    const told: string[] = [];
    const deadlines = new TimeoutQueue(2);
    await new Promise<void>(resolve => {
      const it = timed('it', told, () => (told.length < 3 ? deadlines.start(it) : resolve()));
      deadlines.start(it);
      keepAlive(() => told.length < 3);
    });
    assert.equal(told.length, 3);
  });

  test('a timeout is capped at the maximum of setTimeout', () => {
    assert.equal(new TimeoutQueue(Number.MAX_SAFE_INTEGER).timeoutMs, 2 ** 31 - 1);
  });
});

/** Deadlines alone keep no process alive. */
function keepAlive(isOpen: () => boolean): void {
  const timer = setInterval(() => {
    if (!isOpen()) clearInterval(timer);
  }, 1);
}
