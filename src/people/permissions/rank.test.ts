import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findExcess, isFullAdministrator, isOutranked, mergePermissions } from './rank.ts';

describe('Permission ranks', () => {
  test('a level above the held one is excess, unless the target has it already', () => {
    const held = { apis: 'read', keys: 'write' };
    assert.equal(findExcess(held, { apis: 'read', keys: 'admin' }), undefined);
    assert.deepEqual(findExcess(held, { apis: 'write' }), { permission: 'apis', level: 'write' });
    assert.equal(findExcess(held, { apis: 'write' }, { apis: 'write' }), undefined);
    assert.deepEqual(findExcess(held, { certs: 'read' }), { permission: 'certs', level: 'read' });
    assert.equal(findExcess(held, { certs: 'deny' }), undefined);
  });

  test('an administrator holds what is not denied by name, and ResetPassword only by name', () => {
    const admin = { IsAdmin: 'admin' };
    assert.equal(findExcess(admin, { anything: 'write', IsAdmin: 'admin' }), undefined);
    assert.deepEqual(findExcess(admin, { ResetPassword: 'admin' }), { permission: 'ResetPassword', level: 'admin' });
    assert.deepEqual(findExcess({ users: 'write' }, admin), { permission: 'IsAdmin', level: 'admin' });
  });

  test('a denied administrator can neither create nor become one without the denial', () => {
    const denied = { IsAdmin: 'admin', apis: 'deny' };
    const excess = { permission: 'apis', level: 'write' };
    assert.deepEqual(findExcess(denied, { IsAdmin: 'admin' }), excess);
    assert.deepEqual(findExcess(denied, { IsAdmin: 'admin' }, denied), excess);
    assert.equal(findExcess(denied, denied), undefined);
  });

  test('names of the prototype are no permissions', () => {
    assert.deepEqual(findExcess({}, { constructor: 'read' }), { permission: 'constructor', level: 'read' });
    assert.equal(findExcess({ constructor: 'read' }, { toString: 'deny' }), undefined);
  });

  test('a user with any permission more outranks; ResetPassword does not count', () => {
    assert.equal(isOutranked({ IsAdmin: 'admin' }, { IsAdmin: 'admin', ResetPassword: 'admin' }), false);
    assert.equal(isOutranked({ users: 'write', apis: 'read' }, { apis: 'write' }), true);
    assert.equal(isOutranked({ IsAdmin: 'admin', apis: 'deny' }, { IsAdmin: 'admin' }), true);
  });

  test('a user narrowed by owned_analytics neither gives nor has analytics without it; others may narrow it', () => {
    const [wide, narrow] = [{ analytics: 'read' }, { analytics: 'read', owned_analytics: 'read' }];
    const excess = { permission: 'analytics', level: 'read' };
    assert.deepEqual(findExcess(narrow, wide), excess);
    assert.deepEqual(findExcess(narrow, wide, narrow), excess);
    assert.deepEqual(findExcess(narrow, { ...wide, owned_analytics: 'deny' }), excess);
    assert.deepEqual(findExcess({}, narrow), excess);
    assert.equal(findExcess(narrow, narrow), undefined);
    assert.equal(findExcess(wide, narrow), undefined);
    assert.equal(findExcess({ IsAdmin: 'admin', owned_analytics: 'read' }, wide), undefined);
    assert.deepEqual([isOutranked(narrow, wide), isOutranked(wide, narrow)], [true, false]);
  });

  test('merged maps have the higher level of each name', () => {
    const merged = mergePermissions([
      { apis: 'read', keys: 'deny' },
      { apis: 'write' },
      { apis: 'read', keys: 'read', certs: 'deny' },
    ]);
    assert.deepEqual(merged, { apis: 'write', keys: 'read', certs: 'deny' });
  });

  test('analytics that one map gives whole is not narrowed by owned_analytics of another', () => {
    const [wide, narrow] = [{ analytics: 'read' }, { analytics: 'read', owned_analytics: 'read' }];
    assert.deepEqual(mergePermissions([narrow, wide]), wide);
    assert.deepEqual(mergePermissions([wide, { owned_analytics: 'read' }]), wide);
    assert.deepEqual(mergePermissions([narrow, narrow, { apis: 'read' }]), { ...narrow, apis: 'read' });
    assert.deepEqual(mergePermissions([narrow, { analytics: 'deny' }]), narrow);
  });
});

test('a full administrator is one to whom nothing is denied', () => {
  assert.equal(isFullAdministrator({ IsAdmin: 'admin' }), true);
  assert.equal(isFullAdministrator({ IsAdmin: 'admin', ResetPassword: 'admin', apis: 'read' }), true);
  const restricted: Record<string, string>[] = [{ IsAdmin: 'admin', apis: 'deny' }, { apis: 'write' }, {}];
  for (const held of restricted) assert.equal(isFullAdministrator(held), false, JSON.stringify(held));
});
