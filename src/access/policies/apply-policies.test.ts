import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { policyArbitrary } from '../../../tests/arbitraries/access.ts';
import type { Key } from '../keys/schema.ts';
import { findRight, type Right, type Session } from '../keys/session.ts';
import { type AppliedPolicies, applyPolicies } from './apply-policies.ts';
import type { Policy } from './schema.ts';

const orgId = 'org';

/** Applies policies, named p0, p1 and so on unless they have an id, to a key. */
function apply(policies: readonly Policy[], key: Key = {}) {
  const named = policies.map((policy, place) => ({ id: `p${place}`, org_id: orgId, ...policy }));
  const lookup = new Map(named.map(policy => [policy.id, policy]));
  return applyPolicies({ apply_policies: [...lookup.keys()], ...key }, lookup, { orgId });
}

function applyAll(policies: readonly Policy[], key?: Key): AppliedPolicies {
  const result = apply(policies, key);
  assert.ok(result.ok, result.ok ? '' : result.message);
  return result;
}

const onA = { access_rights: { a: {} } };

for (const [what, one, other, expected] of [
  ['rate: smaller per/rate wins', { rate: 10, per: 60 }, { rate: 1, per: 1 }, { rate: 1, per: 1 }],
  ['rate: an equal ratio takes the larger rate', { rate: 10, per: 10 }, { rate: 60, per: 60 }, { rate: 60, per: 60 }],
  ['rate: 0 is not set', { rate: 0, per: 60 }, { rate: 1, per: 60 }, { rate: 1, per: 60 }],
  ['rate: per 0 is not set', { rate: 100, per: 0 }, { rate: 1, per: 60 }, { rate: 1, per: 60 }],
  ['rate: below 0 is unlimited', { rate: -1, per: 0 }, { rate: 1000, per: 1 }, { rate: -1, per: 0 }],
  ['quota: larger wins', { quota_max: 5 }, { quota_max: 7 }, { quota_max: 7 }],
  ['quota: -1 is largest', { quota_max: -1 }, { quota_max: 7 }, { quota_max: -1 }],
  ['quota: 0 is smallest', { quota_max: 0 }, { quota_max: 7 }, { quota_max: 7 }],
  ['quota period: larger wins', { quota_renewal_rate: 60 }, { quota_renewal_rate: 3600 }, { quota_renewal_rate: 3600 }],
  ['quota period: -1 is smallest', { quota_renewal_rate: 60 }, { quota_renewal_rate: -1 }, { quota_renewal_rate: 60 }],
  ['depth: larger wins', { max_query_depth: 3 }, { max_query_depth: 2 }, { max_query_depth: 3 }],
  ['depth: -1 is largest', { max_query_depth: 3 }, { max_query_depth: -1 }, { max_query_depth: -1 }],
  ['throttle interval: larger wins', { throttle_interval: 1 }, { throttle_interval: 2 }, { throttle_interval: 2 }],
  [
    'throttle tries: larger wins',
    { throttle_retry_limit: 1 },
    { throttle_retry_limit: 2 },
    { throttle_retry_limit: 2 },
  ],
  [
    'throttle tries: -1 is smallest',
    { throttle_retry_limit: -1 },
    { throttle_retry_limit: 2 },
    { throttle_retry_limit: 2 },
  ],
] as const) {
  for (const [order, pair] of [
    ['', [one, other]],
    [', in the other order too', [other, one]],
  ] as const) {
    test(`merging ${what}${order}`, () => {
      const { key } = applyAll(pair.map(policy => ({ ...onA, ...policy })));
      assert.partialDeepStrictEqual(key.access_rights?.a?.limit, expected);
      assert.partialDeepStrictEqual(key, expected, 'the one API governed gives the key its limits');
    });
  }
}

test('smoothing is taken from the winning rate', () => {
  const smoothing = { enabled: true, threshold: 1, step: 1, delay: 1, trigger: 0.1 };
  const { session } = applyAll([
    { ...onA, rate: 10, per: 1, smoothing },
    { ...onA, rate: 5, per: 1 },
  ]);
  assert.equal(findRight(session, 'a')?.limits.rate?.smoothing?.threshold, 1);
  const other = applyAll([
    { ...onA, rate: 10, per: 1, smoothing },
    { ...onA, rate: 50, per: 1 },
  ]);
  assert.equal(findRight(other.session, 'a')?.limits.rate?.smoothing, undefined);
});

test('lists of two policies on one API are merged as union', () => {
  const { session } = applyAll([
    { access_rights: { a: { versions: ['v1'] } } },
    { access_rights: { a: { versions: ['v2'] } } },
  ]);
  assert.deepEqual(findRight(session, 'a')?.versions, ['v1', 'v2']);
});

test('a per_api policy leaves the key itself without limits, unless it grants one API only', () => {
  const limited = { limit: { rate: 9, per: 1, quota_max: 7 } };
  const perApi = { rate: 2, per: 1, partitions: { per_api: true } };
  const two = applyAll([{ ...perApi, access_rights: { a: limited, b: {} } }], ofKey);
  assert.partialDeepStrictEqual(two.key, { rate: 0, per: 0, quota_max: 0 });
  const one = applyAll([{ ...perApi, access_rights: { a: limited } }], ofKey);
  assert.partialDeepStrictEqual(one.key, { rate: 9, per: 1, quota_max: 7 });
});

test('rights the policies grant replace those of the key', () => {
  const { session } = applyAll([onA], { access_rights: { b: {}, a: { versions: ['old'] } } });
  assert.deepEqual([...session.rights.keys()], ['a']);
  assert.deepEqual(findRight(session, 'a')?.versions, []);
});

test('an API no policy grants is dropped, though one limits it', () => {
  const { session } = applyAll([
    { ...onA, partitions: { acl: true } },
    { access_rights: { b: {} }, partitions: { rate_limit: true }, rate: 5, per: 1 },
  ]);
  assert.deepEqual([...session.rights.keys()], ['a']);
});

const ofKey: Key = {
  ...{ rate: 1, per: 1, throttle_interval: 1, throttle_retry_limit: 1 },
  ...{ quota_max: 1, quota_renewal_rate: 1, max_query_depth: 1 },
};
const ofPolicy = {
  ...{ rate: 2, per: 1, throttle_interval: 2, throttle_retry_limit: 2 },
  ...{ quota_max: 2, quota_renewal_rate: 2, max_query_depth: 2 },
};

for (const [partitions, rate, quota, depth] of [
  [{ acl: true }, 1, 1, 1],
  [{ acl: true, rate_limit: true }, 2, 1, 1],
  [{ acl: true, quota: true }, 1, 2, 1],
  [{ acl: true, complexity: true }, 1, 1, 2],
  [{ acl: true, complexity: true, quota: true, rate_limit: true }, 2, 2, 2],
  [{}, 2, 2, 2],
  [null, 2, 2, 2],
] as const) {
  test(`a policy of partitions ${JSON.stringify(partitions)} governs those parts, the key keeps the others`, () => {
    const { key } = applyAll([{ ...onA, ...ofPolicy, partitions }], ofKey);
    assert.partialDeepStrictEqual(key.access_rights?.a?.limit, {
      ...{ rate, throttle_interval: rate, throttle_retry_limit: rate },
      ...{ quota_max: quota, quota_renewal_rate: quota, max_query_depth: depth },
    });
  });
}

test('parts may come from different policies', () => {
  const { key } = applyAll([
    { ...onA, partitions: { acl: true } },
    { ...onA, partitions: { quota: true }, quota_max: 9 },
    { ...onA, partitions: { rate_limit: true }, rate: 8, per: 1 },
    { ...onA, partitions: { complexity: true }, max_query_depth: 7 },
  ]);
  assert.partialDeepStrictEqual(key.access_rights?.a?.limit, { quota_max: 9, rate: 8, max_query_depth: 7 });
  assert.equal(key.access_rights?.a?.allowance_scope, '');
});

test('endpoint rates belong to the rate part', () => {
  const endpoints = [{ path: '/x', methods: [{ name: 'GET', limit: { rate: 1, per: 1 } }] }];
  const countEndpoints = (partitions: Policy['partitions']) =>
    findRight(applyAll([{ access_rights: { a: { endpoints } }, partitions }]).session, 'a')?.endpoints.length;
  assert.equal(countEndpoints({ acl: true }), 0);
  assert.equal(countEndpoints({ acl: true, rate_limit: true }), 1);
});

test('limits inside the rights of a policy count only with per_api', () => {
  const access_rights = { a: { limit: { rate: 9, per: 1 } } };
  assert.equal(applyAll([{ access_rights, rate: 2, per: 1 }]).key.access_rights?.a?.limit?.rate, 2);
  const { key } = applyAll([{ access_rights, rate: 2, per: 1, partitions: { per_api: true } }]);
  assert.equal(key.access_rights?.a?.limit?.rate, 9);
});

test('with per_api each API counts by itself, those without limits of their own under the policy', () => {
  const access_rights = { a: { limit: { rate: 9, per: 1 } }, b: {}, c: { limit: null } };
  const { key } = applyAll([{ id: 'gold', access_rights, rate: 2, per: 1, partitions: { per_api: true } }]);
  const seen = Object.entries(key.access_rights ?? {}).map(([id, right]) => [
    id,
    right.limit?.rate,
    right.allowance_scope,
  ]);
  assert.deepEqual(seen, [
    ['a', 9, 'a'],
    ['b', 2, 'gold'],
    ['c', 2, 'gold'],
  ]);
});

test('two per_api policies on one API are merged, and the API counts by itself', () => {
  const perApi = (rate: number): Policy => ({
    access_rights: { a: { limit: { rate, per: 1 } } },
    partitions: { per_api: true },
  });
  const { key } = applyAll([perApi(5), perApi(9)]);
  assert.partialDeepStrictEqual(key.access_rights?.a, { limit: { rate: 9 }, allowance_scope: 'a' });
});

test('rights from one policy share the counters of the key, from several each counts under its policy', () => {
  const alone = applyAll([{ access_rights: { a: {}, b: {} }, quota_max: 5 }]);
  assert.deepEqual(
    Object.values(alone.key.access_rights ?? {}).map(right => right.allowance_scope),
    ['', ''],
  );
  const two = applyAll([
    { id: 'gold', access_rights: { a: {} }, quota_max: 5 },
    { id: 'tin', access_rights: { b: {} }, quota_max: 9 },
  ]);
  assert.deepEqual(
    Object.values(two.key.access_rights ?? {}).map(right => right.allowance_scope),
    ['gold', 'tin'],
  );
  assert.equal(two.key.quota_max, 9, 'the key itself shows the freest');
});

test('without policies a right with limits counts by itself', () => {
  const access_rights = { a: { limit: { rate: 1, per: 1 } }, b: { limit: { rate: 0 } }, c: {} };
  const result = applyPolicies({ access_rights }, new Map(), { orgId });
  assert.ok(result.ok);
  assert.deepEqual(
    Object.values(result.key.access_rights ?? {}).map(right => right.allowance_scope),
    ['a', undefined, undefined],
  );
});

test('a policy without rights sets the limits of the key, the last one winning', () => {
  const { key } = applyAll([
    { ...onA, partitions: { acl: true } },
    { rate: 50, per: 1, quota_max: 50 },
    { rate: 5, per: 1, partitions: { rate_limit: true } },
  ]);
  assert.partialDeepStrictEqual(key, { rate: 5, quota_max: 50 });
  assert.partialDeepStrictEqual(key.access_rights?.a?.limit, { rate: 5, quota_max: 50 });
});

test('values of the key that policies govern are cleared first', () => {
  const { key } = applyAll([{ access_rights: { a: {}, b: {} } }], ofKey);
  assert.partialDeepStrictEqual(key, { rate: 0, per: 0, quota_max: 0, max_query_depth: 0, throttle_retry_limit: 0 });
});

test('renewal times of the key for an API are kept', () => {
  const access_rights = { a: { limit: { quota_renews: 77, quota_remaining: 3 } } };
  const { key } = applyAll([{ ...onA, quota_max: 5 }], { access_rights });
  assert.partialDeepStrictEqual(key.access_rights?.a?.limit, { quota_renews: 77, quota_remaining: 3, quota_max: 5 });
});

test('tags are merged as union; in meta data the later policy wins', () => {
  const { key } = applyAll(
    [
      { ...onA, tags: ['x', 'y'], meta_data: { a: 1, b: 1 } },
      { ...onA, tags: ['z'], meta_data: { b: 2 } },
    ],
    { tags: ['k', 'x'], meta_data: { a: 0, own: true } },
  );
  assert.deepEqual(key.tags, ['k', 'x', 'y', 'z']);
  assert.deepEqual(key.meta_data, { a: 1, b: 2, own: true });
});

test('the newest last_updated wins, compared as numbers', () => {
  const { key } = applyAll(
    [
      { ...onA, last_updated: '1000' },
      { ...onA, last_updated: '' },
    ],
    { last_updated: '999' },
  );
  assert.equal(key.last_updated, '1000');
  assert.equal(applyAll([onA], { last_updated: '5' }).key.last_updated, '5');
});

test('signing is enabled by any policy that is not per_api', () => {
  assert.equal(applyAll([onA, { ...onA, hmac_enabled: true }]).key.hmac_enabled, true);
  assert.equal(applyAll([onA], { hmac_enabled: true }).key.hmac_enabled, true);
  assert.equal(applyAll([{ ...onA, hmac_enabled: true, partitions: { per_api: true } }]).key.hmac_enabled, false);
});

test('post_expiry_action comes from the last policy that sets it', () => {
  const { session } = applyAll([
    { ...onA, post_expiry_action: 'delete' },
    { ...onA, post_expiry_action: 'retain', post_expiry_grace_period: 60 },
    onA,
  ]);
  assert.deepEqual(session.afterExpiry, { action: 'retain', graceSeconds: 60 });
});

for (const [what, policies, key, inactive] of [
  ['a draft policy lets keys work', [{ state: 'draft' }], {}, false],
  ['a denied policy refuses keys', [{ state: 'deny' }], {}, true],
  ['an inactive policy refuses keys', [{ is_inactive: true }], {}, true],
  ['one denied policy among several refuses keys', [{}, { state: 'deny' }], {}, true],
  ['policies overrule the flag of the key', [{}], { is_inactive: true }, false],
] as const) {
  test(what, () =>
    assert.equal(
      applyAll(
        policies.map(policy => ({ ...onA, ...policy })),
        key,
      ).session.inactive,
      inactive,
    ),
  );
}

test('without policies is_inactive of the key applies', () => {
  const result = applyPolicies({ is_inactive: true, access_rights: { a: {} } }, new Map(), { orgId });
  assert.ok(result.ok && result.session.inactive);
});

for (const [what, policies, key, reason] of [
  ['a policy that is gone, alone', [], { apply_policies: ['gone'] }, 'policy_not_found'],
  ['only policies that are gone', [], { apply_policies: ['gone', 'lost'] }, 'nothing_granted'],
  ['a policy of another organisation', [onA, { ...onA, org_id: 'other' }], {}, 'policy_of_other_organisation'],
  ['per_api with a partition', [{ ...onA, partitions: { per_api: true, acl: true } }], {}, 'per_api_with_partitions'],
  [
    'per_api beside a partitioned policy',
    [
      { ...onA, partitions: { per_api: true } },
      { ...onA, partitions: { acl: true } },
    ],
    {},
    'per_api_beside_partitions',
  ],
  ['policies that grant nothing', [{ rate: 5, per: 1 }], {}, 'nothing_granted'],
  [
    'policies that grant nothing, though the key has rights',
    [{ ...onA, partitions: { quota: true } }],
    { access_rights: { a: {} } },
    'nothing_granted',
  ],
  ['no rights and no policies', [], { apply_policies: [] }, 'no_access_rights'],
  ['meta data that claims to hold policies', [onA], { meta_data: { policies: [{ rate: 'x' }] } }, 'policies_malformed'],
] as const) {
  test(`a key is unusable with ${what}`, () => {
    const result = apply(policies, key as Key);
    assert.equal(result.ok ? 'applied' : result.reason, reason);
  });
}

test('a missing policy among others is skipped', () => {
  const { session } = applyAll([onA], { apply_policies: ['gone', 'p0'] });
  assert.deepEqual(session.policyIds, ['p0']);
});

test('a key without rights calls every API where the settings allow it', () => {
  const result = applyPolicies({}, new Map(), { orgId, allowMasterKeys: true });
  assert.ok(result.ok && findRight(result.session, 'any'));
});

test('apply_policy_id applies only without apply_policies', () => {
  assert.deepEqual(applyAll([onA], { apply_policies: [], apply_policy_id: 'p0' }).session.policyIds, ['p0']);
  assert.deepEqual(applyAll([onA, onA], { apply_policies: ['p1'], apply_policy_id: 'p0' }).session.policyIds, ['p1']);
});

test('policies embedded in meta data replace the named ones', () => {
  const policies = [{ id: 'inline', access_rights: { b: {} }, rate: 3, per: 1 }];
  const { session } = applyAll([onA], { meta_data: { policies } });
  assert.deepEqual([...session.rights.keys()], ['b']);
  const foreign = apply([onA], { meta_data: { policies: [{ ...policies[0], org_id: 'other' }] } });
  assert.equal(foreign.ok, false);
});

test('applying mutates neither the key nor a policy', () => {
  fc.assert(
    fc.property(fc.array(policyArbitrary(), { maxLength: 3 }), policies => {
      const before = structuredClone(policies);
      apply(policies);
      assert.deepEqual(policies, before);
    }),
  );
});

/** A session without what the order of policies may decide: scopes, meta data, and the order of lists. */
function sortMembers({ rights, limits, tags, inactive, hmacSecret }: Session) {
  const byText = (items: readonly unknown[]) => items.map(item => JSON.stringify(item)).sort();
  const inner = (lists: readonly { readonly fields: readonly string[] }[]) =>
    byText(lists.map(each => ({ ...each, fields: each.fields.toSorted() })));
  const rightOf = (right: Right) => ({
    limits: right.limits,
    versions: right.versions.toSorted(),
    urls: byText(right.allowedUrls.map(({ url, methods }) => ({ url, methods: methods.toSorted() }))),
    endpoints: byText(right.endpoints),
    allowed: inner(right.allowedTypes),
    restricted: inner(right.restrictedTypes),
    depths: byText(right.fieldDepths),
    introspection: right.introspection,
  });
  const rightsById = [...rights].sort(([a], [b]) => (a < b ? -1 : 1)).map(([id, right]) => [id, rightOf(right)]);
  return { rights: rightsById, limits, tags: tags.toSorted(), inactive, hmacSecret };
}

test('the merged limits do not depend on the order of the policies', () => {
  const withRights = policyArbitrary().filter(policy => Object.keys(policy.access_rights ?? {}).length > 0);
  fc.assert(
    fc.property(fc.array(withRights, { minLength: 2, maxLength: 4 }), policies => {
      const own = policies.map((policy, place) => ({ ...policy, id: `p${place}`, org_id: orgId }));
      const [there, back] = [apply(own), apply(own.toReversed())];
      assert.equal(there.ok, back.ok);
      if (there.ok && back.ok) assert.deepEqual(sortMembers(there.session), sortMembers(back.session));
    }),
    { numRuns: 300 },
  );
});
