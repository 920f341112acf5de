import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { createThreadsShared } from '#storage/shared/threads.ts';
import { bodyFromBytes } from '../http/body.ts';
import { HeaderList } from '../http/headers.ts';
import { Exchange } from '../pipeline/exchange.ts';
import { type BreakerOptions, createCircuitBreaker } from './circuit-breaker.ts';

const aCall = () =>
  new Exchange({
    method: 'GET',
    target: '/',
    path: '/',
    query: '',
    host: '',
    headers: new HeaderList(),
    body: bodyFromBytes(Buffer.alloc(0)),
    peer: { address: '', isTls: false, serverName: '', certificate: undefined },
    clientAddress: '',
    receivedAtMs: 0,
    startedAt: 0,
  });

describe('circuit breaker', () => {
  const shared = createThreadsShared({ fixedWindows: 1024, slidingWindows: 256 });
  after(() => shared.close());
  let made = 0;

  /** Two breakers of one name are one breaker seen by two threads. */
  function breakers(more: Partial<BreakerOptions> = {}) {
    const time = { nowMs: 1_900_000_000_000 };
    const events: string[] = [];
    const rules: BreakerOptions = {
      name: `test ${++made}`,
      threshold: 0.5,
      minSamples: 4,
      openMs: 60_000,
      isHalfOpenEnabled: false,
      onTrip: () => events.push('trip'),
      onReset: () => events.push('reset'),
      ...more,
    };
    const parts = { processCounters: shared.counters, clock: { now: () => time.nowMs } };
    return { one: createCircuitBreaker(rules, parts), other: createCircuitBreaker(rules, parts), events, time };
  }

  test('the breaker opens at its threshold for every thread, with one event', () => {
    const { one, other, events } = breakers();
    for (let at = 0; at < 3; at++) one.recordFailure(aCall());
    assert.equal(one.allows(aCall()), true);
    other.recordFailure(aCall());
    one.recordFailure(aCall());
    assert.deepEqual([one.allows(aCall()), other.allows(aCall()), events], [false, false, ['trip']]);
  });

  test('the breaker stays closed below its threshold, and old failures leave the window', () => {
    const { one, time, events } = breakers();
    for (let at = 0; at < 6; at++) one.recordSuccess(aCall());
    for (let at = 0; at < 5; at++) one.recordFailure(aCall());
    assert.deepEqual(events, []);
    time.nowMs += 11_000;
    for (let at = 0; at < 3; at++) one.recordFailure(aCall());
    assert.deepEqual(events, []);
    one.recordFailure(aCall());
    assert.deepEqual(events, ['trip']);
  });

  test('an open breaker closes after its open time', () => {
    const { one, time } = breakers();
    for (let at = 0; at < 4; at++) one.recordFailure(aCall());
    time.nowMs += 59_999;
    assert.equal(one.allows(aCall()), false);
    time.nowMs += 1;
    assert.equal(one.allows(aCall()), true);
  });

  test('a reset emits one event after the open time', async () => {
    let notify: () => void = () => undefined;
    const emitted = new Promise<void>(resolve => {
      notify = resolve;
    });
    const { one, events } = breakers({ openMs: 1, onReset: () => notify() });
    for (let at = 0; at < 4; at++) one.recordFailure(aCall());
    const keptAlive = setInterval(() => undefined, 1000);
    await emitted;
    clearInterval(keptAlive);
    assert.deepEqual(events, ['trip']);
  });

  test('a half-open breaker lets single probes through with backoff; a success closes it', () => {
    const { one, other, time, events } = breakers({ isHalfOpenEnabled: true });
    for (let at = 0; at < 4; at++) one.recordFailure(aCall());
    assert.equal(one.allows(aCall()), false);
    time.nowMs += 500;
    const first = aCall();
    assert.deepEqual([other.allows(first), one.allows(aCall())], [true, false]);
    other.recordFailure(first);
    time.nowMs += 500;
    assert.equal(one.allows(aCall()), false);
    time.nowMs += 250;
    const second = aCall();
    assert.equal(one.allows(second), true);
    one.recordSuccess(second);
    assert.deepEqual([one.allows(aCall()), other.allows(aCall()), events], [true, true, ['trip', 'reset']]);
  });

  test('a request that was in flight before the breaker opened does not close it', () => {
    const { one, events } = breakers({ isHalfOpenEnabled: true });
    const early = aCall();
    assert.equal(one.allows(early), true);
    for (let at = 0; at < 4; at++) one.recordFailure(aCall());
    one.recordSuccess(early);
    assert.deepEqual([one.allows(aCall()), events], [false, ['trip']]);
  });

  test('after a reset the breaker needs as many failures again', () => {
    const { one, time, events } = breakers({ isHalfOpenEnabled: true });
    for (let at = 0; at < 4; at++) one.recordFailure(aCall());
    time.nowMs += 500;
    const probe = aCall();
    one.allows(probe);
    one.recordSuccess(probe);
    for (let at = 0; at < 3; at++) one.recordFailure(aCall());
    assert.deepEqual(events, ['trip', 'reset']);
    one.recordFailure(aCall());
    assert.deepEqual(events, ['trip', 'reset', 'trip']);
  });
});
