import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { policyArbitrary } from '../../../tests/arbitraries/access.ts';
import { fullPolicy, governs, normalizePolicy, Policy, PolicyOfAnyId, policyWarnings, stateOf } from './schema.ts';

const documented = `_id id access_rights active date_created hmac_enabled is_inactive key_expires_in last_updated
  max_query_depth meta_data name org_id partitions per quota_max quota_renewal_rate rate smoothing tags throttle_interval
  throttle_retry_limit state auth_type auth_types access_rights_array graphql_enabled`.split(/\s+/);

const faultsOf = (policy: unknown) =>
  Policy.safeParse(policy).error?.issues.map(issue => `${issue.path.join('.')}: ${issue.message}`) ?? [];

test('a policy may be empty', () => {
  assert.deepEqual(Policy.parse({}), {});
});

test('any valid policy round-trips through JSON and the schema unchanged', () => {
  fc.assert(
    fc.property(policyArbitrary(), policy => {
      assert.deepEqual(Policy.parse(JSON.parse(JSON.stringify(policy))), policy);
    }),
  );
});

test('a response can be sent back and is returned unchanged', () => {
  fc.assert(
    fc.property(policyArbitrary(), policy => {
      const seen = fullPolicy(policy);
      assert.deepEqual(fullPolicy(Policy.parse(JSON.parse(JSON.stringify(seen)))), JSON.parse(JSON.stringify(seen)));
    }),
  );
});

test('a response has every documented member', () => {
  const full = fullPolicy({});
  assert.deepEqual(Object.keys(full).sort(), documented.toSorted());
  assert.deepEqual(full.partitions, { acl: false, complexity: false, per_api: false, quota: false, rate_limit: false });
});

test('an id holds only characters that are safe in a path, unless any id is allowed', () => {
  assert.deepEqual(faultsOf({ id: 'Gold_1.2~x-y' }), []);
  for (const id of ['a b', 'a/b', '../x', 'ä', 'a%']) {
    assert.deepEqual(faultsOf({ id }), ['id: may hold letters, digits, ".", "_", "-" and "~" only']);
    assert.equal(PolicyOfAnyId.parse({ id }).id, id);
  }
});

test('per_api excludes every other partition', () => {
  for (const part of ['acl', 'complexity', 'quota', 'rate_limit']) {
    assert.deepEqual(faultsOf({ partitions: { per_api: true, [part]: true } }), [
      'partitions.per_api: cannot be combined with acl, complexity, quota or rate_limit',
    ]);
    assert.deepEqual(faultsOf({ partitions: { per_api: false, [part]: true } }), []);
  }
  assert.deepEqual(faultsOf({ partitions: { per_api: true, acl: false } }), []);
});

test('a policy without partitions governs every part, one with partitions those parts only', () => {
  assert.ok(
    governs({}, 'quota') && governs({ partitions: null }, 'acl') && governs({ partitions: { per_api: true } }, 'acl'),
  );
  assert.equal(governs({ partitions: { acl: true } }, 'quota'), false);
  assert.equal(governs({ partitions: { quota: true } }, 'quota'), true);
});

for (const [given, state, active, inactive] of [
  [{}, 'active', true, false],
  [{ active: true, is_inactive: false }, 'active', true, false],
  [{ active: false }, 'draft', false, false],
  [{ active: true, is_inactive: true }, 'deny', false, true],
  [{ state: 'active', active: false, is_inactive: true }, 'active', true, false],
  [{ state: 'draft', active: true }, 'draft', false, false],
  [{ state: 'deny', active: true, is_inactive: false }, 'deny', false, true],
] as const) {
  test(`${JSON.stringify(given)} is the state ${state}, and the flags follow`, () => {
    assert.equal(stateOf(given), state);
    const kept = normalizePolicy(given);
    assert.deepEqual([kept.state, kept.active, kept.is_inactive], [state, active, inactive]);
  });
}

test('an unknown state is refused', () => {
  assert.equal(faultsOf({ state: 'paused' }).length, 1);
});

test('rights may be sent as a list; a map wins', () => {
  const listed = normalizePolicy(Policy.parse({ access_rights_array: [{ api_id: 'a', api_name: 'A' }] }));
  assert.deepEqual(listed.access_rights, { a: { api_id: 'a', api_name: 'A' } });
  assert.equal('access_rights_array' in listed, false);
  const both = normalizePolicy({ access_rights: { b: {} }, access_rights_array: [{ api_id: 'a' }] });
  assert.deepEqual(Object.keys(both.access_rights ?? {}), ['b']);
  assert.deepEqual(fullPolicy(both).access_rights_array, [{ api_id: 'b' }]);
  assert.equal(faultsOf({ access_rights_array: [{ api_name: 'A' }] }).length, 1);
});

test('the id falls back to the database id', () => {
  assert.equal(normalizePolicy({ _id: 'db' }).id, 'db');
  assert.equal(normalizePolicy({ _id: 'db', id: 'own' }).id, 'own');
});

test('smoothing has the bounds of keys, and may be null', () => {
  assert.deepEqual(faultsOf({ smoothing: { trigger: 0.001 } }), ['smoothing.trigger: must be a multiple of 0.01']);
  assert.deepEqual(faultsOf({ smoothing: null, tags: null, meta_data: null, partitions: null }), []);
  assert.equal(policyWarnings({ rate: 1, smoothing: { enabled: true, delay: 1, step: 1, threshold: 5 } }).length, 1);
});
