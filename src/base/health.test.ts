import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toHealthReport } from './health.ts';

const nowMs = Date.parse('2026-03-04T05:06:07Z');

test('a health report passes, warns or fails by how many parts work, and describes the failing ones', () => {
  const report = (parts: Record<string, string>) => toHealthReport(parts, '1.2.3', 'the gateway', nowMs);
  const working = { status: 'pass', componentType: 'datastore', time: '2026-03-04T05:06:07Z' };
  const failing = { ...working, status: 'fail', output: 'no answer' };
  const base = { version: '1.2.3', description: 'the gateway' };
  assert.deepEqual(report({}), { ...base, status: 'pass', details: {} });
  assert.deepEqual(report({ database: '' }), { ...base, status: 'pass', details: { database: working } });
  assert.deepEqual(report({ database: '', redis: 'no answer' }), {
    ...base,
    status: 'warn',
    details: { database: working, redis: failing },
  });
  assert.deepEqual(report({ redis: 'no answer' }), { ...base, status: 'fail', details: { redis: failing } });
});
