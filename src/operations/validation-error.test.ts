import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import type { Problem } from '#base/problems.ts';
import { createInvalidProblem, pathText, validate } from './validation-error.ts';

const refusal = (work: () => unknown): Problem => {
  try {
    work();
  } catch (error) {
    return error as Problem;
  }
  return assert.fail('was not refused');
};

test('a place reads as one would write it', () => {
  assert.equal(pathText(['access_rights', 'a1', 'versions', 2]), 'access_rights.a1.versions[2]');
});

test('every fault is told with its place, below the place of the whole', () => {
  const shape = z.object({ rate: z.number(), tags: z.array(z.string()) });
  const { message, detail } = refusal(() => validate(shape, { rate: '1', tags: [2] }, 'data'));
  const lines = ['data.rate: expected number, received string', 'data.tags[0]: expected string, received number'];
  assert.equal(message, lines.join('; '));
  assert.deepEqual(detail.lines, lines);
});

test('a missing member is required, with its description; a text in place of a number is a wrong value', () => {
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

test('neither many faults nor long names make a long answer', () => {
  const many = createInvalidProblem(Array.from({ length: 1000 }, (_, at) => ({ path: `p${at}`, message: 'is wrong' })));
  assert.equal((many.detail.lines as string[]).at(-1), 'and 980 more');
  const { message } = refusal(() => validate(z.record(z.string(), z.number()), { ['n'.repeat(1_000_000)]: 'x' }));
  assert.equal(message.length, 501);
});
