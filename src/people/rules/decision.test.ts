import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DecisionError, readDenial } from './decision.ts';

describe('Decision of organisation rules', () => {
  const read = (values: Record<string, unknown>, ...names: string[]) => readDenial(new Set(names), values);

  test('an absent or false deny allows the request, true denies it with a reason of its own', () => {
    assert.deepEqual(read({}, 'deny'), []);
    assert.deepEqual(read({ deny: false }, 'deny'), []);
    assert.deepEqual(read({ deny: [] }, 'deny'), []);
    assert.deepEqual(read({ deny: true }, 'deny'), ['denied by the rules of the organisation']);
  });

  test('reasons are a text or a list, values that are no text are JSON, and at most ten are returned', () => {
    assert.deepEqual(read({ deny: 'no' }, 'deny'), ['no']);
    assert.deepEqual(read({ deny: ['no', { a: 1 }] }, 'deny'), ['no', '{"a":1}']);
    const numbers = Array.from({ length: 11 }, (_, at) => `${at}`);
    assert.deepEqual(read({ deny: numbers }, 'deny'), numbers.slice(0, 10));
  });

  test('allow must be true where the rules define it, and is not needed where they do not', () => {
    assert.deepEqual(read({ allow: true }, 'allow'), []);
    for (const values of [{ allow: false }, {}])
      assert.deepEqual(read(values, 'allow'), ['the rules of the organisation do not allow it']);
    assert.deepEqual(read({}), []);
  });

  test('deny counts before allow', () => {
    assert.deepEqual(read({ deny: ['no'], allow: true }, 'deny', 'allow'), ['no']);
    assert.deepEqual(read({ deny: [], allow: true }, 'deny', 'allow'), []);
  });

  test('values that are no decision are an error', () => {
    for (const values of [{ deny: { a: 1 } }, { deny: 1 }, { deny: null }, { allow: 'yes' }, { allow: null }])
      assert.throws(() => read(values, 'deny', 'allow'), DecisionError, JSON.stringify(values));
  });
});
