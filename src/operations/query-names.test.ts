import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { checkQueryNames } from './query-names.ts';

const schema = z.object({ authentication: z.string().optional(), apiID: z.string().optional() });

test('a misspelt query parameter is refused with the name that was meant', () => {
  assert.throws(() => checkQueryNames(schema, { authentcation: 'true', api_id: 'x', _: '1' }, 'refuse'), {
    status: 400,
    message:
      'authentcation: no such parameter; did you mean authentication?; api_id: no such parameter; did you mean apiID?',
  });
});

test('declared parameters and those of another kind pass, and a warning replaces the refusal where one is asked for', () => {
  assert.deepEqual(checkQueryNames(schema, { authentication: 'true', _: '1', trace: 'x' }, 'refuse'), []);
  assert.deepEqual(checkQueryNames(schema, { Authentication: 'true' }, 'warn'), [
    'Authentication: no such parameter; did you mean authentication? (ignored)',
  ]);
  assert.deepEqual(checkQueryNames(undefined, { authentcation: 'true' }, 'refuse'), []);
});
