import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { UserPreferences } from '../../session/preferences.ts';
import { findExampleFault, type StoredExample } from './example-bounds.ts';

const example: StoredExample = { api_id: 'a', name: 'One', method: 'POST', path: '/', headers: '', body: '' };
const findFault = (...tried_examples: StoredExample[]) => findExampleFault({ tried_examples } as UserPreferences);
const list = (length: number, some: Partial<StoredExample> = {}) =>
  Array.from({ length }, (_, place) => ({ ...example, ...some, name: String(place) }));

describe('Bounds of saved examples', () => {
  test('each part of the added example has its bound', () => {
    for (const [part, max] of Object.entries({ path: 2000, headers: 8000, body: 8000 })) {
      assert.equal(findFault({ ...example, [part]: 'x'.repeat(max) }), undefined, part);
      assert.equal(findFault({ ...example, [part]: 'x'.repeat(max + 1) }), part);
    }
  });

  test('fifty examples are stored, and one more is not', () => {
    assert.equal(findFault(...list(50)), undefined);
    assert.equal(findFault(...list(51)), 'full');
  });

  test('all preferences together have a bound in bytes', () => {
    assert.equal(findFault(...list(8, { body: 'x'.repeat(8000) })), undefined);
    assert.equal(findFault(...list(9, { body: 'x'.repeat(8000) })), 'all');
    assert.equal(findFault(...list(8, { body: 'ä'.repeat(8000) })), 'all');
  });
});
