import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { coalesceRuns } from './coalesce-runs.ts';

describe('coalesced runs', () => {
  test('calls during a run lead to one further run, also after a failure', async () => {
    const runs: PromiseWithResolvers<void>[] = [];
    const errors: string[] = [];
    const request = coalesceRuns(
      () => {
        const run = Promise.withResolvers<void>();
        runs.push(run);
        return run.promise;
      },
      error => errors.push(error.message),
    );
    for (let call = 0; call < 100; call++) request();
    assert.equal(runs.length, 1);
    runs[0]!.reject(new Error('slow'));
    await nextTurn();
    assert.deepEqual([runs.length, errors], [2, ['slow']]);
    runs[1]!.resolve();
    await nextTurn();
    assert.equal(runs.length, 2, 'no call came during the second run');
    request();
    assert.equal(runs.length, 3);
  });
});
