import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { checkQueryNames } from './query-names.ts';

const schema = z.object({ authentication: z.string().optional(), apiID: z.string().optional() });

test('a misspelt query parameter is rejected with the closest declared name', () => {
  assert.throws(() => checkQueryNames(schema, { authentcation: 'true', api_id: 'x', _: '1' }, 'refuse'), {
    status: 400,
    message:
      'authentcation: no such parameter; did you mean authentication?; api_id: no such parameter; did you mean apiID?',
  });
});

test('declared and unrelated parameters pass, and with unknown_members warn a misspelt one is a warning', () => {
  assert.deepEqual(checkQueryNames(schema, { authentication: 'true', _: '1', trace: 'x' }, 'refuse'), []);
  assert.deepEqual(checkQueryNames(schema, { Authentication: 'true' }, 'warn'), [
    'Authentication: no such parameter; did you mean authentication? (ignored)',
  ]);
  assert.deepEqual(checkQueryNames(undefined, { authentcation: 'true' }, 'refuse'), []);
});
