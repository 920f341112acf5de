import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nearest } from './closest-match.ts';

const known = ['start', 'config', 'migrate', 'credentials'];

test('a mistyped name finds the one that was meant', () => {
  for (const [typed, meant] of Object.entries({ strat: 'start', confg: 'config', migrates: 'migrate', start: 'start' }))
    assert.equal(nearest(typed, known), meant);
});

test('the closest wins, the first of equals', () => {
  assert.equal(nearest('abd', ['abc', 'abd', 'abe']), 'abd');
  assert.equal(nearest('abx', ['abc', 'abd']), 'abc');
});

test('a whole part of a name, and another case or separator, find the name', () => {
  assert.equal(nearest('Rate', ['Name', 'RateLimit', 'Per']), 'RateLimit');
  assert.equal(nearest('limits', ['trigger_limits']), 'trigger_limits');
  assert.equal(nearest('listenPath', ['list_path', 'listen_path']), 'listen_path');
  assert.equal(nearest('Urll', ['URL', 'Secret']), 'URL');
});

test('what resembles nothing finds nothing', () => {
  assert.equal(nearest('certificate', known), undefined);
  assert.equal(nearest('', known), undefined);
  assert.equal(nearest('on', ['b', 'id']), undefined);
  assert.equal(nearest('start', []), undefined);
});
