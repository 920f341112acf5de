import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { attempt, type MaybePromise } from './maybe-promise.ts';

interface Subject {
  readonly seen: unknown[];
  readonly run: () => MaybePromise<number>;
}
const run = (run: Subject['run']) => {
  const subject: Subject = { seen: [], run };
  attempt(
    subject,
    it => it.run(),
    (it, value) => it.seen.push(['next', value]),
    (it, error) => it.seen.push(['fail', (error as Error).message]),
  );
  return subject.seen;
};
const fail = () => {
  throw new Error('broken');
};

describe('attempt', () => {
  test('a value continues in the same tick, and a throw fails in it', () => {
    assert.deepEqual(
      run(() => 1),
      [['next', 1]],
    );
    assert.deepEqual(run(fail), [['fail', 'broken']]);
  });

  test('a promise continues when it resolves, and a rejection fails', async () => {
    const resolved = run(async () => 2);
    const rejected = run(async () => fail());
    assert.deepEqual([resolved, rejected], [[], []]);
    await new Promise(resolve => setImmediate(resolve));
    assert.deepEqual(resolved, [['next', 2]]);
    assert.deepEqual(rejected, [['fail', 'broken']]);
  });
});
