import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTrace } from './trace.ts';

const trace = () => createTrace({ now: () => 0 }, { id: 'api', name: 'Api', orgId: 'org' });
const line = { level: 'info', type: 'request', msg: 'passed' } as const;

test('the trace of a looping request is bounded in lines', () => {
  const { note, text } = trace();
  for (let n = 0; n < 2000; n++) note(line);
  assert.equal(text().split('\n').length, 500);
});

test('a too long trace line is shortened and stays valid JSON', () => {
  const { note, text } = trace();
  note({ ...line, msg: 'x'.repeat(100_000) });
  note({ ...line, settings: 'y'.repeat(100_000) });
  const [long, other] = text().split('\n');
  assert.ok(long!.length < 4096 && other!.length < 4096);
  assert.match(JSON.parse(long!).msg, /^x+…$/);
  assert.match(JSON.parse(other!).msg, /^passed/);
});
