import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findSoakFaults, runSoak } from './support/soak.ts';

/** `npm run soak` is the long run of it. */
test('mixed requests, aborts, slow readers and reloads: counts agree, and nothing is left open', {
  timeout: 300_000,
}, async t => {
  const result = await runSoak(8000, 8);
  t.diagnostic(JSON.stringify({ sent: result.sent, received: result.received, recorded: result.recorded }));
  assert.deepEqual(findSoakFaults(result), []);
  assert.ok(result.reloads > 0 && Object.values(result.sent).every(count => count > 0));
});
