import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { isZeroValue } from '#base/json-tree.ts';
import { keyArbitrary, policyArbitrary } from '../../../tests/arbitraries/access.ts';
import type { Key } from '../keys/schema.ts';
import { applyPolicies } from './apply-policies.ts';
import { type ExplainedValue, explainKey } from './explain-policies.ts';
import type { Policy } from './schema.ts';

const orgId = 'org';

function applyTo(key: Key, policies: readonly Policy[]) {
  const named = policies.map((policy, place) => ({ ...policy, id: `p${place}`, org_id: orgId }));
  const lookup = new Map(named.map(policy => [policy.id, policy]));
  const applied = applyPolicies({ ...key, apply_policies: [...lookup.keys()] }, lookup, {
    orgId,
    allowMasterKeys: true,
  });
  return { applied, lookup };
}

function explain(policies: readonly Policy[], key: Key = {}) {
  const { applied } = applyTo(key, policies);
  assert.ok(applied.ok, applied.ok ? '' : applied.message);
  const { values, is_complete } = explainKey(key, applied.key, applied.policies);
  assert.equal(is_complete, true);
  return new Map(values.map(value => [value.pointer, value]));
}

const describeValue = (value: ExplainedValue | undefined) =>
  value && [
    value.value,
    value.sources.map(({ kind, id }) => id || kind),
    value.overridden.map(({ kind, id, value: own }) => [id || kind, own]),
  ];

const onA = { access_rights: { a: { versions: ['v1'] } } };

describe('explanation of an effective key', () => {
  test('the policy with the freer limit is the source, the others and the key are overridden', () => {
    const values = explain(
      [
        { ...onA, rate: 10, per: 60, quota_max: 5, quota_renewal_rate: 60 },
        { ...onA, rate: 1, per: 1, quota_max: 7, quota_renewal_rate: 3600 },
      ],
      { rate: 99, per: 1 },
    );
    assert.deepEqual(describeValue(values.get('/rate')), [
      1,
      ['p1'],
      [
        ['p0', 10],
        ['key', 99],
      ],
    ]);
    assert.deepEqual(describeValue(values.get('/per')), [1, ['p1'], [['p0', 60]]]);
    assert.deepEqual(describeValue(values.get('/quota_max')), [7, ['p1'], [['p0', 5]]]);
    assert.deepEqual(describeValue(values.get('/access_rights/a/limit/rate')), [1, ['p1'], [['p0', 10]]]);
    assert.deepEqual(describeValue(values.get('/access_rights/a')), [true, ['p0', 'p1'], []]);
  });

  test('quota and period may come from different policies, and equal values from both', () => {
    const values = explain([
      { ...onA, quota_max: 9, quota_renewal_rate: 60, max_query_depth: 3 },
      { ...onA, quota_max: 5, quota_renewal_rate: 3600, max_query_depth: 3 },
    ]);
    assert.deepEqual(describeValue(values.get('/quota_max')), [9, ['p0'], [['p1', 5]]]);
    assert.deepEqual(describeValue(values.get('/quota_renewal_rate')), [3600, ['p1'], [['p0', 60]]]);
    assert.deepEqual(describeValue(values.get('/max_query_depth')), [3, ['p0', 'p1'], []]);
  });

  test('a part that no policy governs is that of the key', () => {
    const values = explain([{ ...onA, partitions: { acl: true }, rate: 5, per: 1 }], { rate: 2, per: 1, quota_max: 8 });
    assert.deepEqual(describeValue(values.get('/rate')), [2, ['key'], []]);
    assert.deepEqual(describeValue(values.get('/access_rights/a/limit/quota_max')), [8, ['key'], []]);
  });

  test('limits of one API come from the right of its policy, and the limits of the key from no policy', () => {
    const perApi = (id: string, rate: number) => ({
      partitions: { per_api: true },
      access_rights: { [id]: { limit: { rate, per: 1 } } },
    });
    const values = explain([perApi('a', 5), perApi('b', 6)], { rate: 7, per: 1 });
    assert.deepEqual(describeValue(values.get('/access_rights/a/limit/rate')), [5, ['p0'], []]);
    assert.deepEqual(describeValue(values.get('/access_rights/b/limit/rate')), [6, ['p1'], []]);
    assert.deepEqual(describeValue(values.get('/rate')), [0, [], [['key', 7]]]);
  });

  test('a policy without rights replaces the limits of those before it', () => {
    const values = explain([
      { ...onA, rate: 50, per: 1 },
      { access_rights: { b: {} } },
      { partitions: { rate_limit: true }, rate: 3, per: 1 },
    ]);
    assert.deepEqual(describeValue(values.get('/rate')), [3, ['p2'], [['p0', 50]]]);
  });

  test('lists, flags, meta data and lifetimes have the origins that add them', () => {
    const values = explain(
      [
        { ...onA, tags: ['x'], meta_data: { plan: 'a', own: 1 }, key_expires_in: 60 },
        {
          access_rights: { a: { versions: ['v2'], allowed_urls: [{ url: '/a', methods: ['GET'] }] } },
          meta_data: { plan: 'b' },
          state: 'deny',
          hmac_enabled: true,
        },
      ],
      { tags: ['y'], meta_data: { plan: 'c' } },
    );
    assert.deepEqual(describeValue(values.get('/tags')), [['y', 'x'], ['key', 'p0'], []]);
    assert.deepEqual(describeValue(values.get('/meta_data/plan')), [
      'b',
      ['p1'],
      [
        ['key', 'c'],
        ['p0', 'a'],
      ],
    ]);
    assert.deepEqual(describeValue(values.get('/meta_data/own')), [1, ['p0'], []]);
    assert.deepEqual(describeValue(values.get('/is_inactive')), [true, ['p1'], []]);
    assert.deepEqual(describeValue(values.get('/hmac_enabled')), [true, ['p1'], []]);
    assert.deepEqual(values.get('/expires')?.sources, [{ kind: 'policy', id: 'p0' }]);
    assert.deepEqual(describeValue(values.get('/access_rights/a/versions')), [['v1', 'v2'], ['p0', 'p1'], []]);
    const urls = values.get('/access_rights/a/allowed_urls')!;
    assert.deepEqual([urls.value, urls.sources.map(({ id }) => id), urls.overridden.length], [[], ['p0'], 1]);
  });

  test('a key without policies is the source of everything', () => {
    const key = { rate: 4, per: 1, access_rights: { a: { limit: { quota_max: 5 } }, b: {} } };
    const values = explainKey(key, key, []).values;
    assert.ok(values.every(({ sources, overridden }) => sources[0]?.kind === 'key' && overridden.length === 0));
    const pointers = values.map(({ pointer }) => pointer);
    assert.ok(pointers.includes('/access_rights/a/limit/quota_max') && pointers.includes('/access_rights/b'));
    assert.ok(!pointers.includes('/access_rights/b/limit/rate'));
  });

  test('an explanation is bounded', () => {
    const ids = Array.from({ length: 1000 }, (_, at) => `a${at}`);
    const access_rights = Object.fromEntries(ids.map(id => [id, {}]));
    const { applied } = applyTo({}, [{ access_rights, rate: 1, per: 1 }]);
    assert.ok(applied.ok);
    const { values, is_complete } = explainKey({}, applied.key, applied.policies);
    assert.deepEqual([values.length, is_complete], [5000, false]);
  });

  test('every explained limit is the effective one, and each of its sources gives it', () => {
    const limitPointer =
      /^(?:\/access_rights\/(?<api>\w+)\/limit)?\/(?<name>rate|per|quota_max|quota_renewal_rate|max_query_depth|throttle_interval|throttle_retry_limit)$/;
    fc.assert(
      fc.property(fc.array(policyArbitrary(), { maxLength: 4 }), keyArbitrary(), (policies, key) => {
        const { meta_data: _data, ...plain } = key;
        const { applied, lookup } = applyTo(plain, policies);
        if (!applied.ok) return;
        for (const { pointer, value, sources } of explainKey(plain, applied.key, applied.policies).values) {
          const { api, name } = limitPointer.exec(pointer)?.groups ?? {};
          if (name === undefined) continue;
          const limits: object = api === undefined ? applied.key : applied.key.access_rights![api]!.limit!;
          const read = (from: object | null | undefined) => (from as Record<string, unknown> | undefined)?.[name] ?? 0;
          assert.equal(value, read(limits), pointer);
          if (sources.length === 0) assert.ok(isZeroValue(value), pointer);
          for (const { kind, id } of sources) {
            const policy = lookup.get(id);
            const rights = [...Object.values(policy?.access_rights ?? {}), ...(policy?.access_rights_array ?? [])];
            const own =
              kind === 'key'
                ? [plain, plain.access_rights?.[api ?? '']?.limit]
                : [policy, ...rights.map(it => it.limit)];
            assert.ok(
              own.some(from => read(from) === value),
              `${pointer} of ${id || kind}`,
            );
          }
        }
      }),
    );
  });
});
