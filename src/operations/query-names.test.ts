import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { z } from 'zod';
import { checkQueryNames } from './query-names.ts';

const schema = z.object({ authentication: z.string().optional(), apiID: z.string().optional() });
const writes = { unknownMembers: 'refuse', isMutation: true } as const;
const reads = { unknownMembers: 'refuse', isMutation: false } as const;

describe('Query parameters', () => {
  test('a misspelt parameter is refused with the closest declared name', () => {
    for (const rules of [writes, reads])
      assert.throws(() => checkQueryNames(schema, { authentcation: 'true', api_id: 'x' }, rules), {
        status: 400,
        message:
          'authentcation: no such parameter; did you mean authentication?; api_id: no such parameter; did you mean apiID?',
      });
  });

  test('an unknown parameter that resembles none is refused by reads, and passes writes', () => {
    assert.deepEqual(checkQueryNames(schema, { authentication: 'true', _: '1', trace: 'x' }, writes), []);
    assert.throws(() => checkQueryNames(schema, { authentication: 'true', trace: 'x' }, reads), {
      status: 400,
      message: 'trace: no such parameter',
    });
  });

  test('reads ignore the names that clients add to any of them', () => {
    assert.deepEqual(checkQueryNames(schema, { _: '1769936400', p: '-1', apiID: 'a' }, reads), []);
  });

  test('a long name is repeated in part', () => {
    assert.throws(() => checkQueryNames(schema, { ['x'.repeat(5000)]: '1' }, reads), {
      message: `${'x'.repeat(100)}: no such parameter`,
    });
  });

  test('with unknown_members warn an unknown parameter is a warning', () => {
    const rules = { unknownMembers: 'warn', isMutation: false } as const;
    assert.deepEqual(checkQueryNames(schema, { Authentication: 'true', trace: 'x' }, rules), [
      'Authentication: no such parameter; did you mean authentication? (ignored)',
      'trace: no such parameter (ignored)',
    ]);
  });

  test('an operation without declared parameters accepts any', () => {
    assert.deepEqual(checkQueryNames(undefined, { authentcation: 'true' }, reads), []);
  });
});
