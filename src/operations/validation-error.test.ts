import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { formatPath } from '#base/json.ts';
import type { Problem } from '#base/problems.ts';
import { createInvalidProblem, validate } from './validation-error.ts';

const refusal = (work: () => unknown): Problem => {
  try {
    work();
  } catch (error) {
    return error as Problem;
  }
  return assert.fail('was not refused');
};

test('a path is formatted with dots and indexes', () => {
  assert.equal(formatPath(['access_rights', 'a1', 'versions', 2]), 'access_rights.a1.versions[2]');
});

test('every error is reported with its path, below the prefix', () => {
  const shape = z.object({ rate: z.number(), tags: z.array(z.string()) });
  const { message, detail } = refusal(() => validate(shape, { rate: '1', tags: [2] }, 'data'));
  const lines = ['data.rate: expected number, received string', 'data.tags[0]: expected string, received number'];
  assert.equal(message, lines.join('; '));
  assert.deepEqual(detail.lines, lines);
});

test('a missing member is reported as required with its description; text for a number as a wrong value', () => {
  const shape = z.object({
    start: z.coerce.number().int().describe('Unix seconds'),
    kind: z.enum(['a', 'b']),
    inner: z.object({ name: z.string() }),
  });
  assert.equal(
    refusal(() => validate(shape, { inner: {} })).message,
    'start: is required (unix seconds); kind: is required; inner.name: is required',
  );
  const wrong = refusal(() => validate(shape, { start: 'soon', kind: 'a', inner: { name: 'x' } }));
  assert.equal(wrong.message, 'start: must be a number');
});

test('the error text is bounded for many errors and for long names', () => {
  const many = createInvalidProblem(Array.from({ length: 1000 }, (_, at) => ({ path: `p${at}`, message: 'is wrong' })));
  assert.equal((many.detail.lines as string[]).at(-1), 'and 980 more');
  const { message } = refusal(() => validate(z.record(z.string(), z.number()), { ['n'.repeat(1_000_000)]: 'x' }));
  assert.equal(message.length, 501);
});
