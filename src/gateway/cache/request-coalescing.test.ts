import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Flight, flights } from './request-coalescing.ts';

const time = { ms: 0 };
const clock = { now: () => time.ms };
const open = (more: { waitMs?: number; mostWaiting?: number } = {}) =>
  flights<string>({ clock, waitMs: 60_000, mostWaiting: 100, ...more });
const first = (boarded: unknown): Flight<string> => {
  assert.ok(boarded && !(boarded instanceof Promise), 'the first goes');
  return boarded as Flight<string>;
};

test('one goes, the others get what it brings, and the next one goes again', async () => {
  const flying = open();
  const flight = first(flying.board('a'));
  const waiting = [flying.board('a'), flying.board('a')];
  first(flying.board('b'));
  flight.land('brought');
  assert.deepEqual(await Promise.all(waiting), ['brought', 'brought']);
  first(flying.board('a')).land(undefined);
  flight.land('too late');
  assert.deepEqual(await Promise.all(waiting), ['brought', 'brought']);
});

test('nobody waits for ever: after a while they go on by themselves, and somebody else goes first', async () => {
  const flying = open({ waitMs: 1 });
  const flight = first(flying.board('a'));
  // The timer of a wait keeps no process alive; here somebody must.
  const alive = setInterval(() => undefined, 1000);
  assert.equal(await flying.board('a'), undefined);
  clearInterval(alive);
  const next = first(flying.board('a'));
  flight.land('late');
  assert.ok(flying.board('a') instanceof Promise, 'the late one does not end the flight of another');
  next.land(undefined);
});

test('only so many wait for one', () => {
  const flying = open({ mostWaiting: 2 });
  first(flying.board('a'));
  assert.ok(flying.board('a') instanceof Promise);
  assert.ok(flying.board('a') instanceof Promise);
  assert.equal(flying.board('a'), undefined);
});

test('where answers are not kept nobody waits for one, for a while', () => {
  const flying = open();
  flying.remember('a');
  assert.equal(flying.board('a'), undefined);
  flying.forget('a');
  first(flying.board('a')).land(undefined);
  flying.remember('a');
  time.ms += 10_000;
  first(flying.board('a'));
});

test('what is remembered is bounded', () => {
  const flying = open();
  for (let n = 0; n <= 1000; n++) flying.remember(`n${n}`);
  first(flying.board('n0'));
  assert.equal(flying.board('n1'), undefined);
});
