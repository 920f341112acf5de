import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { every } from './repeat.ts';

const failOnError = (error: Error) => assert.fail(error);

describe('timer loop', () => {
  test('the work runs again and again until the loop is closed', async () => {
    const third = Promise.withResolvers<void>();
    let runs = 0;
    const loop = every(1, () => void (++runs === 3 && third.resolve()), { onError: failOnError });
    await third.promise;
    await loop.close();
    const runsAtClose = runs;
    await new Promise<void>(resolve => {
      const later = every(1, () => void (++runs >= runsAtClose + 3 && resolve(later.close())), {
        onError: failOnError,
      });
    });
    assert.equal(runs, runsAtClose + 3);
  });

  test('a run that throws or rejects is reported, and the next one comes', async () => {
    const errors: string[] = [];
    const second = Promise.withResolvers<void>();
    let runs = 0;
    const work = () => {
      if (++runs === 1) throw new Error('thrown');
      return Promise.reject(new Error('rejected'));
    };
    const onError = (error: Error) => {
      errors.push(error.message);
      if (errors.length === 2) second.resolve();
    };
    const loop = every(1, work, { onError });
    await second.promise;
    await loop.close();
    assert.deepEqual(errors.slice(0, 2), ['thrown', 'rejected']);
  });

  test('with runsAtStart the first run comes before the first interval', async () => {
    let runs = 0;
    const loop = every(3_600_000, () => void runs++, { onError: failOnError, runsAtStart: true, unref: true });
    await loop.close();
    assert.equal(runs, 1);
  });

  test('an interval that ends during a run is skipped, and close waits for that run', async () => {
    const gate = Promise.withResolvers<void>();
    const started = Promise.withResolvers<void>();
    let runs = 0;
    let ended = 0;
    const loop = every(
      1,
      async () => {
        runs++;
        started.resolve();
        await gate.promise;
        ended++;
      },
      { onError: failOnError },
    );
    await started.promise;
    // Another loop of the same interval counts the intervals that end meanwhile.
    await new Promise<void>(resolve => {
      let intervals = 0;
      const other = every(1, () => void (++intervals === 5 && resolve(other.close())), { onError: failOnError });
    });
    assert.equal(runs, 1);
    const closed = loop.close();
    assert.equal(ended, 0);
    gate.resolve();
    await closed;
    assert.deepEqual([runs, ended], [1, 1]);
  });
});
