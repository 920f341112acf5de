import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCoalescer, type InFlight } from './request-coalescing.ts';

const time = { ms: 0 };
const clock = { now: () => time.ms };
const open = (more: { waitTimeoutMs?: number; slowLeaderTimeoutMs?: number; maxWaiters?: number } = {}) =>
  createCoalescer<string>({ clock, waitTimeoutMs: 60_000, maxWaiters: 100, ...more });
const first = (joined: unknown): InFlight<string> => {
  assert.ok(joined && !(joined instanceof Promise), 'the first goes');
  return joined as InFlight<string>;
};

test('coalescing: one request goes upstream, its waiters get the result, the next request goes upstream again', async () => {
  const coalescer = open();
  const flight = first(coalescer.join('a'));
  const waiting = [coalescer.join('a'), coalescer.join('a')];
  first(coalescer.join('b'));
  flight.resolve('brought');
  assert.deepEqual(await Promise.all(waiting), ['brought', 'brought']);
  first(coalescer.join('a')).resolve(undefined);
  flight.resolve('too late');
  assert.deepEqual(await Promise.all(waiting), ['brought', 'brought']);
});

test('coalescing: after the wait timeout waiters go upstream and a new request takes the lead', async () => {
  const coalescer = open({ waitTimeoutMs: 1 });
  const flight = first(coalescer.join('a'));
  // The timer of a wait keeps no process alive; here somebody must.
  const alive = setInterval(() => undefined, 1000);
  assert.equal(await coalescer.join('a'), undefined);
  clearInterval(alive);
  const next = first(coalescer.join('a'));
  flight.resolve('late');
  assert.ok(coalescer.join('a') instanceof Promise, 'the late one does not end the flight of another');
  next.resolve(undefined);
});

test('coalescing: waiters leave a request whose client is slow to read, those that come later too', async () => {
  const coalescer = open({ slowLeaderTimeoutMs: 1 });
  const flight = first(coalescer.join('a'));
  const early = coalescer.join('a');
  flight.limitWait();
  const waiting = [early, coalescer.join('a')];
  const alive = setInterval(() => undefined, 1000);
  assert.deepEqual(await Promise.all(waiting), [undefined, undefined]);
  clearInterval(alive);
  const next = first(coalescer.join('a'));
  flight.limitWait();
  flight.resolve('late');
  assert.ok(coalescer.join('a') instanceof Promise, 'the slow one does not end the flight of another');
  next.resolve(undefined);
});

test('coalescing: requests beyond the maximum of waiters go upstream', () => {
  const coalescer = open({ maxWaiters: 2 });
  first(coalescer.join('a'));
  assert.ok(coalescer.join('a') instanceof Promise);
  assert.ok(coalescer.join('a') instanceof Promise);
  assert.equal(coalescer.join('a'), undefined);
});

test('coalescing: requests for an uncacheable key do not wait until its mark expires', () => {
  const coalescer = open();
  coalescer.markUncacheable('a');
  assert.equal(coalescer.join('a'), undefined);
  coalescer.clearUncacheable('a');
  first(coalescer.join('a')).resolve(undefined);
  coalescer.markUncacheable('a');
  time.ms += 10_000;
  first(coalescer.join('a'));
});

test('coalescing: the number of uncacheable keys is bounded', () => {
  const coalescer = open();
  for (let n = 0; n <= 1000; n++) coalescer.markUncacheable(`n${n}`);
  first(coalescer.join('n0'));
  assert.equal(coalescer.join('n1'), undefined);
});
