import assert from 'node:assert/strict';
import { test } from 'node:test';
import { closestMatch } from './closest-match.ts';

const known = ['start', 'config', 'migrate', 'credentials'];

test('a mistyped name matches the intended one', () => {
  for (const [typed, meant] of Object.entries({ strat: 'start', confg: 'config', migrates: 'migrate', start: 'start' }))
    assert.equal(closestMatch(typed, known), meant);
});

test('the closest name matches, the first of equal ones', () => {
  assert.equal(closestMatch('abd', ['abc', 'abd', 'abe']), 'abd');
  assert.equal(closestMatch('abx', ['abc', 'abd']), 'abc');
});

test('a whole part of a name, and another case or separator, find the name', () => {
  assert.equal(closestMatch('Rate', ['Name', 'RateLimit', 'Per']), 'RateLimit');
  assert.equal(closestMatch('limits', ['trigger_limits']), 'trigger_limits');
  assert.equal(closestMatch('listenPath', ['list_path', 'listen_path']), 'listen_path');
  assert.equal(closestMatch('Urll', ['URL', 'Secret']), 'URL');
});

test('a name that resembles none has no match', () => {
  assert.equal(closestMatch('certificate', known), undefined);
  assert.equal(closestMatch('', known), undefined);
  assert.equal(closestMatch('on', ['b', 'id']), undefined);
  assert.equal(closestMatch('start', []), undefined);
});
