import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problem } from './problems.ts';

test('every problem of people has the status of a client or server error', () => {
  for (const { code, status } of Object.values(problem)) assert.ok(status >= 400 && status <= 599, code);
});
