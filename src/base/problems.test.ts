import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Problem, problems } from './problems.ts';

const problem = problems('shop', {
  sold_out: { status: 409, message: '{what} is sold out until {until}' },
});

test('a problem has its code, status, detail and cause, and interpolates its message', () => {
  const cause = new Error('shelf');
  const made = problem.sold_out({ detail: { what: 'Tea', until: 5 }, cause });
  assert.ok(made instanceof Problem && made instanceof Error);
  assert.deepEqual(
    [made.name, made.code, made.status, made.message, made.detail, made.cause],
    ['Problem', 'shop.sold_out', 409, 'Tea is sold out until 5', { what: 'Tea', until: 5 }, cause],
  );
});

test('a placeholder without a detail stays as declared', () => {
  assert.equal(problem.sold_out().message, '{what} is sold out until {until}');
});

test('a value is interpolated literally, also when it looks like a replacement pattern', () => {
  assert.equal(
    problem.sold_out({ detail: { what: '$& {until}', until: '$1' } }).message,
    '$& {until} is sold out until $1',
  );
});

test('a thrown problem may override the message', () => {
  const made = problem.sold_out({ message: 'No tea today' });
  assert.deepEqual([made.message, made.code], ['No tea today', 'shop.sold_out']);
});

test('a problem factory has its declaration', () => {
  assert.deepEqual(
    [problem.sold_out.code, problem.sold_out.status, problem.sold_out.message],
    ['shop.sold_out', 409, '{what} is sold out until {until}'],
  );
});

test('an interpolated value is truncated', () => {
  const { message } = problem.sold_out({ detail: { what: 'x'.repeat(5_000_000), until: 5 } });
  assert.equal(message, `${'x'.repeat(300)}… is sold out until 5`);
});
