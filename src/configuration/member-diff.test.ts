import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { diffMembers, findMasked, isSameJson } from './member-diff.ts';

describe('Member differences', () => {
  const visible = (value: unknown) => ({ plain: value, masked: value });

  test('the order of members does not count, that of items does', () => {
    assert.ok(isSameJson({ a: 1, b: [{ c: 1, d: 2 }] }, { b: [{ d: 2, c: 1 }], a: 1 }));
    assert.ok(isSameJson({ a: 1, b: undefined }, { a: 1 }));
    for (const [left, right] of [
      [
        [1, 2],
        [2, 1],
      ],
      [{ a: 1 }, { a: 1, b: 2 }],
      [{ a: null }, {}],
      [{ a: 1 }, { b: 1 }],
      [[], {}],
      [{ toString: 1 }, {}],
    ])
      assert.ok(!isSameJson(left, right), JSON.stringify([left, right]));
  });

  test('members that differ are listed with their paths, those beyond the bound counted', () => {
    const before = { same: 1, changed: { deep: [1, 2] }, removed: true };
    const after = { same: 1, changed: { deep: [1, 3, 4] }, added: 'x' };
    assert.deepEqual(diffMembers(visible(before), visible(after), 10), {
      members: [
        { path: 'spec.added', after: 'x' },
        { path: 'spec.changed.deep[1]', before: 2, after: 3 },
        { path: 'spec.changed.deep[2]', after: 4 },
        { path: 'spec.removed', before: true },
      ],
      more: 0,
    });
    const { members, more } = diffMembers(visible(before), visible(after), 1);
    assert.deepEqual([members.length, more], [1, 3]);
  });

  test('a secret that differs is listed without its values, a long value by its size', () => {
    const masked = { secret: '********' };
    const { members } = diffMembers({ plain: { secret: 'one' }, masked }, { plain: { secret: 'two' }, masked }, 10);
    assert.deepEqual(members, [{ path: 'spec.secret', is_secret: true }]);
    const long = diffMembers(visible({ a: 1 }), visible({ a: 'x'.repeat(5000) }), 10);
    assert.deepEqual(long.members, [{ path: 'spec.a', before: 1, after: '(text of 5002 characters)' }]);
  });

  test('a new object with a secret inside is shown masked', () => {
    const after = {
      plain: { auth: { user: 'u', secret: 'plain' } },
      masked: { auth: { user: 'u', secret: '********' } },
    };
    const { members } = diffMembers(visible({}), after, 10);
    assert.deepEqual(members, [{ path: 'spec.auth', after: { user: 'u', secret: '********' } }]);
  });

  test('masked texts are found by comparison', () => {
    const plain = { a: [{ s: 'x', t: 'y' }], b: 'z' };
    const masked = { a: [{ s: '********', t: 'y' }], b: '********' };
    assert.deepEqual(findMasked(plain, masked), [['a', 0, 's'], ['b']]);
  });
});
