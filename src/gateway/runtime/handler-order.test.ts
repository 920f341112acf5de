import assert from 'node:assert/strict';
import { test } from 'node:test';
import { handlerOrder } from './handler-order.ts';

test('the order of the handlers before routing is pinned, each with its reason', () => {
  assert.deepEqual(
    handlerOrder.map(({ name }) => name),
    ['health-endpoints', 'control-api', 'tracing', 'explanations'],
  );
  for (const { name, why } of handlerOrder) assert.match(why, /\.$/, name);
});
