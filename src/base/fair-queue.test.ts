import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createFairQueue } from './fair-queue.ts';

const overload = () => new Error('overloaded');

/** A queue whose jobs end one at a time, on demand, and record their start. */
function createSteppedQueue(maxRunning: number, maxWaiting: number) {
  const queue = createFairQueue({ maxRunning, maxWaiting }, overload);
  const started: string[] = [];
  const running: (() => void)[] = [];
  const add = (name: string, client: string, account = '', isWanted = () => true) =>
    queue
      .run(
        { client, account, isWanted },
        () =>
          new Promise<string>(resolve => {
            started.push(name);
            running.push(() => resolve('done'));
          }),
      )
      .catch((error: Error) => error.message);
  const step = async () => {
    running.shift()!();
    await new Promise(setImmediate);
  };
  return { queue, started, add, step };
}

describe('fair queue', () => {
  test('a client with one job waits for one job of each other client, however many they have', async () => {
    const { started, add, step } = createSteppedQueue(1, 100);
    for (let n = 0; n < 20; n++) void add(`flood ${n}`, '192.0.2.1', 'ann');
    void add('single', '192.0.2.2', 'ann');
    await step();
    await step();
    assert.deepEqual(started, ['flood 0', 'flood 1', 'single']);
  });

  test('accounts of one client take turns', async () => {
    const { started, add, step } = createSteppedQueue(1, 100);
    for (let n = 0; n < 5; n++) void add(`guess ${n}`, '192.0.2.1', 'ann');
    void add('bob', '192.0.2.1', 'bob');
    await step();
    await step();
    assert.deepEqual(started, ['guess 0', 'guess 1', 'bob']);
  });

  test('no more jobs run at once than allowed, and all of them run', async () => {
    const queue = createFairQueue({ maxRunning: 2, maxWaiting: 100 }, overload);
    let running = 0;
    let most = 0;
    const work = async () => {
      most = Math.max(most, ++running);
      await new Promise(setImmediate);
      running--;
    };
    await Promise.all(Array.from({ length: 30 }, (_, n) => queue.run({ client: `c${n % 3}`, account: '' }, work)));
    assert.deepEqual([most, queue.waiting], [2, 0]);
  });

  test('a full queue drops the newest job of the client with the most, not the newcomer', async () => {
    const { queue, started, add, step } = createSteppedQueue(1, 3);
    const flood = [0, 1, 2, 3].map(n => add(`flood ${n}`, '192.0.2.1'));
    const single = add('single', '192.0.2.2');
    assert.equal(queue.waiting, 3);
    assert.equal(await flood[3], 'overloaded');
    assert.equal(await add('flood 4', '192.0.2.1'), 'overloaded', 'the client with the most gets no more room');
    for (let n = 0; n < 4; n++) await step();
    assert.equal(await single, 'done');
    assert.deepEqual(started, ['flood 0', 'flood 1', 'single', 'flood 2']);
  });

  test('jobs of clients that disconnected are not run, and free the room they took', async () => {
    const { queue, started, add, step } = createSteppedQueue(1, 2);
    void add('running', '192.0.2.1');
    let isConnected = true;
    const left = [add('left 1', '192.0.2.1', '', () => isConnected), add('left 2', '192.0.2.1', '', () => isConnected)];
    isConnected = false;
    void add('next', '192.0.2.1');
    assert.equal(queue.waiting, 1);
    await step();
    assert.deepEqual(started, ['running', 'next']);
    assert.deepEqual(await Promise.all(left), ['the client has disconnected', 'the client has disconnected']);
  });

  test('a job that fails frees its place', async () => {
    const queue = createFairQueue({ maxRunning: 1, maxWaiting: 1 }, overload);
    await assert.rejects(
      queue.run({ client: '', account: '' }, () => Promise.reject(new Error('broken'))),
      /broken/,
    );
    assert.equal(await queue.run({ client: '', account: '' }, async () => 'runs'), 'runs');
  });
});
