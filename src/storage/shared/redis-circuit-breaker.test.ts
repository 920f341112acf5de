import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, mock, test } from 'node:test';
import { createRedisCircuitBreaker, type RedisCircuitBreaker } from './redis-circuit-breaker.ts';

const settle = () => new Promise(resolve => setImmediate(resolve));

describe('Redis circuit breaker', () => {
  let breaker: RedisCircuitBreaker | undefined;
  let probes = 0;
  let closings = 0;
  let states: [state: string, cause: unknown][] = [];
  let probe: () => Promise<void>;

  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] });
    [probes, closings, states] = [0, 0, []];
    probe = () => Promise.reject(new Error('still unavailable'));
  });
  afterEach(() => {
    breaker?.stop();
    mock.timers.reset();
  });

  function open(): RedisCircuitBreaker {
    breaker = createRedisCircuitBreaker({
      probe() {
        probes += 1;
        return probe();
      },
      onClosed() {
        closings += 1;
      },
      onState: (state, cause) => void states.push([state, cause]),
    });
    return breaker;
  }

  /** Lets time pass up to the next probe, which must not come earlier. */
  async function waitForProbe(afterMs: number): Promise<void> {
    const before = probes;
    mock.timers.tick(afterMs - 1);
    assert.equal(probes, before, `no probe within ${afterMs - 1} ms`);
    mock.timers.tick(1);
    assert.equal(probes, before + 1, `a probe after ${afterMs} ms`);
    await settle();
  }

  async function close(): Promise<RedisCircuitBreaker> {
    probe = async () => undefined;
    const opened = open();
    await waitForProbe(50);
    assert.ok(opened.isClosed());
    return opened;
  }

  test('failed probes are repeated with exponential backoff up to a second, while the circuit is open', async () => {
    const opened = open();
    for (const pauseMs of [50, 100, 200, 400, 800, 1000, 1000]) await waitForProbe(pauseMs);
    assert.equal(opened.isClosed(), false);
    assert.deepEqual([closings, states], [0, []], 'starting open is no change of state');
  });

  test('the first successful probe closes the circuit, reports it once, and is the last one', async () => {
    const opened = await close();
    await opened.waitUntilClosed(1000);
    mock.timers.tick(60_000);
    await settle();
    assert.deepEqual([probes, closings, states], [1, 1, [['ok', undefined]]]);
  });

  test('waiting for the circuit ends at its timeout where it stays open', async () => {
    const opened = open();
    let isOver = false;
    const waiting = opened.waitUntilClosed(500).then(() => {
      isOver = true;
    });
    for (let part = 0; part < 5; part++) {
      await settle();
      assert.equal(isOver, false);
      mock.timers.tick(100);
    }
    await waiting;
    assert.equal(opened.isClosed(), false);
  });

  test('a failure opens the circuit and is reported with its cause, a second one is not', async () => {
    const opened = await close();
    const cause = new Error('reset by peer');
    opened.trip(cause);
    opened.trip(new Error('another'));
    assert.equal(opened.isClosed(), false);
    assert.deepEqual(states.slice(1), [['degraded', cause]]);
    await waitForProbe(50);
    assert.ok(opened.isClosed());
    assert.equal(closings, 2);
  });

  test('probeNow probes before the backoff has passed', async () => {
    const opened = open();
    probe = async () => undefined;
    opened.probeNow();
    await settle();
    assert.ok(opened.isClosed());
  });

  test('a stopped breaker neither probes nor reports, and a probe in progress does not close it', async () => {
    const reply = Promise.withResolvers<void>();
    probe = () => reply.promise;
    const opened = open();
    mock.timers.tick(50);
    opened.stop();
    reply.resolve();
    await settle();
    mock.timers.tick(60_000);
    await settle();
    opened.trip(new Error('late'));
    assert.equal(opened.isClosed(), false);
    assert.deepEqual([probes, closings, states], [1, 0, []]);
  });

  test('a stopped breaker starts no probe', async () => {
    open().stop();
    mock.timers.tick(60_000);
    await settle();
    assert.equal(probes, 0);
  });

  test('waiting for the next probe does not keep the process alive', () => {
    mock.timers.reset();
    const countTimers = () => process.getActiveResourcesInfo().filter(it => it === 'Timeout').length;
    const before = countTimers();
    open();
    assert.equal(countTimers(), before);
  });
});
