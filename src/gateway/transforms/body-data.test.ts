import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TemplateFault } from '#base/templates/fault.ts';
import { bodyData } from './body-data.ts';

const read = (text: string) => bodyData(Buffer.from(text), 'json');
const isBound = (error: unknown) => error instanceof TemplateFault && error.isBound;

test('long whole numbers stay exact, as long as anybody has a use for them', () => {
  assert.equal(read('{"a": 12345678901234567890}').a, 12345678901234567890n);
  assert.equal(read(`{"a": -${'9'.repeat(900)}}`).a, BigInt(`-${'9'.repeat(900)}`));
  assert.throws(() => read(`{"a": ${'9'.repeat(1_000_000)}}`), isBound);
});

test('one long number does not make every other value slow', () => {
  assert.equal((read(`[${'1,'.repeat(100_000)}12345678901234567890]`).array as unknown[]).length, 100_001);
  assert.throws(() => read(`[${'1,'.repeat(300_000)}12345678901234567890]`), isBound);
  assert.equal((read(`[${'1,'.repeat(300_000)}1]`).array as unknown[]).length, 300_001);
});

test('what is no JSON is told without its text', () => {
  assert.throws(() => read('{"secret": 12345678901234567890'), { message: 'the body is not JSON' });
});
