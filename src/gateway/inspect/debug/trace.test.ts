import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTrace } from './trace.ts';

const trace = () => createTrace({ now: () => 0 }, { id: 'api', name: 'Api', orgId: 'org' });
const line = { level: 'info', type: 'request', msg: 'passed' } as const;

test('a call that goes round and round leaves so many lines and no more', () => {
  const { note, text } = trace();
  for (let n = 0; n < 2000; n++) note(line);
  assert.equal(text().split('\n').length, 500);
});

test('a line that is too long says what it can, and is JSON all the same', () => {
  const { note, text } = trace();
  note({ ...line, msg: 'x'.repeat(100_000) });
  note({ ...line, settings: 'y'.repeat(100_000) });
  const [long, other] = text().split('\n');
  assert.ok(long!.length < 4096 && other!.length < 4096);
  assert.match(JSON.parse(long!).msg, /^x+…$/);
  assert.match(JSON.parse(other!).msg, /^passed/);
});
