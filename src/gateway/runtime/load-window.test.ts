import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createLoadWindow } from './load-window.ts';

describe('Load of a process', () => {
  test('a process without samples, or with one, has no rate', () => {
    const window = createLoadWindow();
    assert.deepEqual(window.read(), { requestsPerSecond: 0, eventLoopDelayMs: 0 });
    window.add({ atMs: 1000, requests: 50, delayMs: 2 });
    assert.deepEqual(window.read(), { requestsPerSecond: 0, eventLoopDelayMs: 2 });
  });

  test('rate and delay are those of the last minute', () => {
    const window = createLoadWindow();
    window.add({ atMs: 0, requests: 0, delayMs: 900 });
    window.add({ atMs: 1000, requests: 6000, delayMs: 30 });
    assert.deepEqual(window.read(), { requestsPerSecond: 6000, eventLoopDelayMs: 900 });
    for (let second = 2; second <= 61; second++)
      window.add({ atMs: second * 1000, requests: 6000 + (second - 1) * 10, delayMs: 1 });
    assert.deepEqual(window.read(), { requestsPerSecond: 10, eventLoopDelayMs: 30 });
  });
});
