import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCoalescer, type InFlight } from './request-coalescing.ts';

const time = { ms: 0 };
const clock = { now: () => time.ms };
const open = (more: { waitMs?: number; mostWaiting?: number } = {}) =>
  createCoalescer<string>({ clock, waitTimeoutMs: 60_000, maxWaiters: 100, ...more });
const first = (boarded: unknown): InFlight<string> => {
  assert.ok(boarded && !(boarded instanceof Promise), 'the first goes');
  return boarded as InFlight<string>;
};

test('one goes, the others get what it brings, and the next one goes again', async () => {
  const flying = open();
  const flight = first(flying.join('a'));
  const waiting = [flying.join('a'), flying.join('a')];
  first(flying.join('b'));
  flight.resolve('brought');
  assert.deepEqual(await Promise.all(waiting), ['brought', 'brought']);
  first(flying.join('a')).resolve(undefined);
  flight.resolve('too late');
  assert.deepEqual(await Promise.all(waiting), ['brought', 'brought']);
});

test('nobody waits for ever: after a while they go on by themselves, and somebody else goes first', async () => {
  const flying = open({ waitMs: 1 });
  const flight = first(flying.join('a'));
  // The timer of a wait keeps no process alive; here somebody must.
  const alive = setInterval(() => undefined, 1000);
  assert.equal(await flying.join('a'), undefined);
  clearInterval(alive);
  const next = first(flying.join('a'));
  flight.resolve('late');
  assert.ok(flying.join('a') instanceof Promise, 'the late one does not end the flight of another');
  next.resolve(undefined);
});

test('only so many wait for one', () => {
  const flying = open({ mostWaiting: 2 });
  first(flying.join('a'));
  assert.ok(flying.join('a') instanceof Promise);
  assert.ok(flying.join('a') instanceof Promise);
  assert.equal(flying.join('a'), undefined);
});

test('where answers are not kept nobody waits for one, for a while', () => {
  const flying = open();
  flying.markUncacheable('a');
  assert.equal(flying.join('a'), undefined);
  flying.clearUncacheable('a');
  first(flying.join('a')).resolve(undefined);
  flying.markUncacheable('a');
  time.ms += 10_000;
  first(flying.join('a'));
});

test('what is remembered is bounded', () => {
  const flying = open();
  for (let n = 0; n <= 1000; n++) flying.markUncacheable(`n${n}`);
  first(flying.join('n0'));
  assert.equal(flying.join('n1'), undefined);
});
