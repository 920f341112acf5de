import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startChild } from './gw-process.ts';

/** A test file whose only test fails while its child runs. `tests/lifecycle/abandoned-child.test.ts` runs it. */
test('a failed assertion before the stop of a child', async () => {
  const child = await startChild({ directory: process.argv[2]! });
  console.log(`child ${child.process.pid}.`);
  assert.fail('before the child is stopped');
});
