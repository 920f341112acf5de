import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkCustomPermissions, checkPermissionNames } from './names.ts';

describe('Permission names', () => {
  const custom = { hook_editor: 'Edits hooks' };

  test('built-in and custom names are accepted, an unknown one is refused with the closest name', () => {
    checkPermissionNames({ apis: 'read', hook_editor: 'write' }, { custom });
    assert.throws(
      () => checkPermissionNames({ hook_editor: 'read' }, { custom: {} }),
      /hook_editor: no such permission/,
    );
    assert.throws(() => checkPermissionNames({ polices: 'read' }, { custom }), /did you mean policies\?$/);
    assert.throws(() => checkPermissionNames({ hook_editr: 'read' }, { custom }), /did you mean hook_editor\?$/);
    assert.throws(() => checkPermissionNames({ qqqqqqqqqqqq: 'read' }, { custom }), /no such permission$/);
    assert.throws(() => checkPermissionNames({ constructor: 'read' }, { custom }), /no such permission/);
  });

  test('an unknown name that the object has already is accepted at the same level only', () => {
    const before = { removed: 'read' };
    checkPermissionNames({ removed: 'read' }, { custom, before });
    assert.throws(() => checkPermissionNames({ removed: 'write' }, { custom, before }), /no such permission/);
    assert.throws(() => checkPermissionNames({ toString: 'read' }, { custom, before }), /no such permission/);
    assert.throws(() => checkPermissionNames({ removed: 'read', other: 'read' }, { custom, before }), /\.other: /);
  });

  test('a permission of administrators is admin or deny; any other one has any level', () => {
    for (const level of ['admin', 'deny'])
      checkPermissionNames({ IsAdmin: level, ResetPassword: level, apis: level }, { custom });
    for (const level of ['read', 'write']) {
      checkPermissionNames({ apis: level }, { custom });
      for (const name of ['IsAdmin', 'ResetPassword'])
        assert.throws(() => checkPermissionNames({ [name]: level }, { custom }), /must be admin or deny/);
    }
  });
});

describe('Custom permissions', () => {
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, 'P']));

  test('a name is a letter, then up to 63 letters, digits, _ or -, and no built-in one', () => {
    checkCustomPermissions({ a: 'A', [`b${'-'.repeat(63)}`]: 'B' });
    for (const name of ['', '1a', 'a b', `b${'-'.repeat(64)}`])
      assert.throws(() => checkCustomPermissions({ [name]: 'A' }), /must be a letter/, name);
    assert.throws(() => checkCustomPermissions({ apis: 'A' }), /is the name of a built-in permission/);
  });

  test('names that the organisation has already pass, also beyond the bound; a further one does not', () => {
    const before = { ...many(101), 'a b': 'A', apis: 'B' };
    checkCustomPermissions(before, before);
    checkCustomPermissions(many(100));
    assert.throws(() => checkCustomPermissions(many(101)), /has more than 100 names/);
    assert.throws(() => checkCustomPermissions({ ...before, z: 'Z' }, before), /has more than 100 names/);
    assert.throws(() => checkCustomPermissions({ 'a b': 'A', 'c d': 'C' }, before), /\.c d: must be a letter/);
  });
});
