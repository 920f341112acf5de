import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseLoopControls } from './loops.ts';

test('a gw:// URL without parameters has no loop controls', () => {
  assert.deepEqual(parseLoopControls(''), { query: '', method: '', limit: 0, checksLimits: false });
});

test('loop controls are removed from the query, other parameters stay verbatim', () => {
  assert.deepEqual(parseLoopControls('a=1&method=post&loop_limit=3&check_limits=true&b=%20x'), {
    query: 'a=1&b=%20x',
    method: 'POST',
    limit: 3,
    checksLimits: true,
  });
});

test('parameters that resemble loop controls stay in the query', () => {
  assert.deepEqual(parseLoopControls('methods=x&method=a b&loop_limit=-1&check_limits=yes'), {
    query: 'methods=x',
    method: '',
    limit: 0,
    checksLimits: false,
  });
});
