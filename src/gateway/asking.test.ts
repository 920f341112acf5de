import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Asked, asker, questionsAtOnce, replyTo } from './asking.ts';

/** Two ends joined by hand. */
function joined(asked: Asked) {
  const faults: unknown[] = [];
  const end = asker(question => void replyTo(asked, question, fault => faults.push(fault)).then(end.replied));
  return { ask: end.ask, faults };
}

test('what is asked is done at the other end, and its result comes back to whoever asked', async () => {
  const { ask } = joined({ double: async (given: number) => given * 2 });
  assert.deepEqual(await Promise.all([ask('double', 4), ask('double', 21)]), [8, 42]);
});

test('a failure is told to whoever asked, and its cause stays at the other end', async () => {
  const cause = new Error('no');
  const { ask, faults } = joined({ fail: () => Promise.reject(cause) });
  await assert.rejects(ask('fail', 1), { code: 'asking.failed' });
  await assert.rejects(ask('constructor', 1), { code: 'asking.failed' });
  assert.equal(faults[0], cause);
  assert.equal(faults.length, 2);
});

test('questions are bounded in number and time', async () => {
  const { ask, replied } = asker(() => undefined, 1);
  const waiting = Array.from({ length: questionsAtOnce }, () => ask('nothing', 0));
  await assert.rejects(ask('nothing', 0), { code: 'asking.too_busy' });
  for (const late of await Promise.allSettled(waiting)) assert.equal(late.status, 'rejected');
  replied({ kind: 'reply', id: 1, value: 'too late' });
});
