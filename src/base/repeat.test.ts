import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { every, type RepeatedWork, repeat } from './repeat.ts';

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

  test('the pause is asked for after each run, also after one that throws', async () => {
    const steps: string[] = [];
    const third = Promise.withResolvers<void>();
    const pauseMs = () => steps.push('pause') && 1;
    const work = () => {
      steps.push('run');
      if (steps.length === 7) third.resolve();
      if (steps.length === 4) throw new Error('thrown');
    };
    const loop = repeat(pauseMs, work, { onError: ({ message }) => steps.push(message) && undefined });
    await third.promise;
    await loop.close();
    assert.deepEqual(steps.slice(0, 6), ['pause', 'run', 'pause', 'run', 'thrown', 'pause']);
  });

  test('work that stops its own loop does not run again', async () => {
    let runs = 0;
    const stopped = Promise.withResolvers<void>();
    const loop: RepeatedWork = repeat(
      () => 1,
      () => {
        runs++;
        loop.stop();
        stopped.resolve();
      },
      { onError: failOnError },
    );
    await stopped.promise;
    await loop.close();
    await loop.wake();
    await waitForTicks();
    assert.equal(runs, 1);
  });
});

/** Five runs of another loop of 1 ms. */
const waitForTicks = () =>
  new Promise<void>(resolve => {
    let ticks = 0;
    const loop = every(1, () => void (++ticks === 5 && resolve(loop.close())), { onError: failOnError });
  });

const hourMs = 3_600_000;
const starters: readonly [string, (work: () => unknown) => RepeatedWork][] = [
  ['every', work => every(hourMs, work, { onError: failOnError })],
  ['repeat', work => repeat(() => hourMs, work, { onError: failOnError })],
];

for (const [name, start] of starters)
  describe(`wake of a timer loop: ${name}`, () => {
    test('runs at once, and resolves after the run', async () => {
      let ended = 0;
      const loop = start(async () => {
        await waitForTicks();
        ended++;
      });
      await loop.wake();
      assert.equal(ended, 1);
      await loop.wake();
      assert.equal(ended, 2);
      await loop.close();
    });

    test('during a run leads to one more run after it, however many ask', async () => {
      const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      let runs = 0;
      let concurrent = 0;
      const loop = start(async () => {
        assert.equal(++concurrent, 1);
        await gates[runs++]?.promise;
        concurrent--;
      });
      const first = loop.wake();
      const others = [loop.wake(), loop.wake()];
      gates[0]!.resolve();
      await first;
      gates[1]!.resolve();
      await Promise.all(others);
      assert.equal(runs, 2);
      await loop.close();
    });

    test('a loop that closes meanwhile ends after the run in progress', async () => {
      const gate = Promise.withResolvers<void>();
      let runs = 0;
      const loop = start(() => {
        runs++;
        return gate.promise;
      });
      const asked = [loop.wake(), loop.wake()];
      const closed = loop.close();
      gate.resolve();
      await Promise.all([closed, ...asked]);
      await loop.wake();
      assert.equal(runs, 1);
    });
  });
