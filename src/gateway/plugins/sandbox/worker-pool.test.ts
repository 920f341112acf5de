import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { checkCall } from './guest.ts';
import { createWorkerPool } from './worker-pool.ts';

/** Niceness of the threads of this process, in `/proc` of Linux. */
const listNiceness = (): number[] =>
  readdirSync('/proc/self/task').map(id => {
    const text = readFileSync(`/proc/self/task/${id}/stat`, 'utf8');
    return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[16]);
  });

const createPool = () =>
  createWorkerPool({
    limits: { maxMemoryBytes: 16 << 20, maxOutputBytes: 1 << 20, maxLogBytes: 1000 },
    maxWorkers: 1,
    maxWaiting: 1,
    createOverload: () => new Error('overload'),
  });
const empty = { id: 1, owner: 'org', files: [], hooks: [], data: {} };
const check = { head: `1\n${checkCall}`, body: '', nowMs: 0, results: [], sliceMs: 10_000, minCpuMs: 0 };
const noObserver = { onStarted: () => undefined };

test('a worker of plugins has a lower priority than the thread that waits for it', async () => {
  const before = Math.max(...listNiceness());
  const pool = createPool();
  try {
    const outcome = await pool.run(empty, check, noObserver);
    assert.equal(outcome.kind, 'result');
    assert.equal(listNiceness().filter(niceness => niceness > before).length, 1);
  } finally {
    await pool.close();
  }
});

test('a call of another API does not wait for the endless loop that has the last worker', async () => {
  const pool = createPool();
  const files = [{ name: 'p.js', source: 'var mw = { DoProcessRequest: () => { for (;;); } };' }];
  // Longer than the test may take: it ends with its worker.
  const loop = {
    ...check,
    head: ['1', 'request', 'mw', 'GET', '/', '/', 'http', '', 0, 0, 0].join('\n'),
    sliceMs: 600_000,
  };
  const spinning = pool.run({ ...empty, id: 2, files, hooks: ['mw'] }, loop, noObserver);
  try {
    assert.equal((await pool.run(empty, check, noObserver)).kind, 'result');
  } finally {
    await pool.close();
  }
  assert.equal((await spinning).kind, 'interrupted');
});
