import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseLoopControls } from './loops.ts';

test('an address without parameters asks nothing', () => {
  assert.deepEqual(parseLoopControls(''), { query: '', method: '', limit: 0, checksLimits: false });
});

test('controls are taken out, other parameters stay as they are written', () => {
  assert.deepEqual(parseLoopControls('a=1&method=post&loop_limit=3&check_limits=true&b=%20x'), {
    query: 'a=1&b=%20x',
    method: 'POST',
    limit: 3,
    checksLimits: true,
  });
});

test('what is no control is no control', () => {
  assert.deepEqual(parseLoopControls('methods=x&method=a b&loop_limit=-1&check_limits=yes'), {
    query: 'methods=x',
    method: '',
    limit: 0,
    checksLimits: false,
  });
});
