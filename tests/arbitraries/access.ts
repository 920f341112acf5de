import fc from 'fast-check';
import type { AccessRight, Key } from '#access/keys/schema.ts';
import type { Policy } from '#access/policies/schema.ts';

/** Keys and policies that pass the check, of every shape callers send. */

const word = fc.string({ maxLength: 12 });
const apiId = fc.constantFrom('orders', 'stock', 'users', 'b2f1c0');
const policyId = fc.stringMatching(/^[A-Za-z0-9._~-]{1,12}$/);
const whole = fc.integer({ min: -1, max: 1_000_000 });
const seconds = fc.integer({ min: 0, max: 4_000_000_000 });
const amount = fc.oneof(whole, fc.double({ min: 0.001, max: 10_000, noNaN: true }));
const nullable = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null, freq: 6 });
const listOf = <Value>(value: fc.Arbitrary<Value>) => nullable(fc.array(value, { maxLength: 3 }));
const some = <Shape extends object>(shape: { [Name in keyof Shape]: fc.Arbitrary<Shape[Name]> }) =>
  fc.record(shape, { requiredKeys: [], noNullPrototype: true });
const mapOf = <Value>(value: fc.Arbitrary<Value>) =>
  fc.dictionary(
    word.filter(name => name !== '__proto__'),
    value,
    { maxKeys: 3, noNullPrototype: true },
  );
/** No member may be called `__proto__`: bodies that have one are refused before anything is checked. */
const free = fc
  .jsonValue({ maxDepth: 2 })
  .map(value => JSON.stringify(value))
  .filter(text => !text.includes('__proto__'))
  .map(text => JSON.parse(text));

export const smoothingArbitrary = () =>
  some({
    delay: fc.integer({ min: 1, max: 3600 }),
    enabled: fc.boolean(),
    step: fc.integer({ min: 1, max: 1000 }),
    threshold: fc.integer({ min: 1, max: 100_000 }),
    trigger: fc.integer({ min: 0, max: 200 }).map(hundredths => hundredths / 100),
  });

const limitMembers = {
  rate: amount,
  per: amount,
  smoothing: nullable(smoothingArbitrary()),
  throttle_interval: amount,
  throttle_retry_limit: whole,
  max_query_depth: whole,
  quota_max: whole,
  quota_renewal_rate: whole,
};

export const apiLimitArbitrary = () => some({ ...limitMembers, quota_renews: seconds, quota_remaining: whole });

const graphqlType = some({ name: word, fields: listOf(word) });
const rate = some({ rate: amount, per: amount });
const method = fc.constantFrom('GET', 'POST', 'DELETE');

export const accessRightArbitrary = (): fc.Arbitrary<AccessRight> =>
  some({
    api_id: apiId,
    api_name: word,
    versions: listOf(fc.constantFrom('Default', 'v1', 'v2')),
    allowed_urls: listOf(some({ url: fc.constantFrom('/a', '/b/.*', '^/c$'), methods: listOf(method) })),
    limit: nullable(apiLimitArbitrary()),
    allowance_scope: word,
    endpoints: listOf(
      some({ path: fc.constantFrom('/a', '/b'), methods: listOf(some({ name: method, limit: nullable(rate) })) }),
    ),
    restricted_types: listOf(graphqlType),
    allowed_types: listOf(graphqlType),
    field_access_rights: listOf(
      some({ type_name: word, field_name: word, limits: nullable(some({ max_query_depth: whole })) }),
    ),
    disable_introspection: fc.boolean(),
  });

export const accessRightsArbitrary = () => fc.dictionary(apiId, accessRightArbitrary(), { noNullPrototype: true });

const expiryMembers = {
  post_expiry_action: fc.constantFrom('', 'retain', 'delete') as fc.Arbitrary<'' | 'retain' | 'delete'>,
  post_expiry_grace_period: whole,
};

export const keyArbitrary = (): fc.Arbitrary<Key> =>
  some({
    ...limitMembers,
    ...expiryMembers,
    access_rights: nullable(accessRightsArbitrary()),
    alias: word,
    allowance: amount,
    apply_policies: listOf(policyId),
    apply_policy_id: policyId,
    basic_auth_data: nullable(some({ hash_type: word, password: word, user: word })),
    certificate: word,
    data_expires: seconds,
    date_created: fc.constantFrom('2026-01-02T03:04:05Z', '0001-01-01T00:00:00Z'),
    enable_detailed_recording: fc.boolean(),
    expires: fc.integer({ min: -1, max: 4_000_000_000 }),
    hmac_enabled: fc.boolean(),
    hmac_string: word,
    id_extractor_deadline: seconds,
    is_inactive: fc.boolean(),
    jwt_data: nullable(some({ secret: word })),
    key_id: word,
    last_check: seconds,
    last_updated: seconds.map(String),
    meta_data: free,
    monitor: nullable(some({ trigger_limits: listOf(fc.integer({ min: 1, max: 100 })) })),
    oauth_client_id: word,
    oauth_keys: nullable(mapOf(word)),
    org_id: word,
    quota_remaining: whole,
    quota_renews: seconds,
    session_lifetime: seconds,
    tags: listOf(word),
    mtls_static_certificate_bindings: listOf(word),
  });

const parts = some({ acl: fc.boolean(), complexity: fc.boolean(), quota: fc.boolean(), rate_limit: fc.boolean() });

export const policyArbitrary = (): fc.Arbitrary<Policy> =>
  some({
    ...limitMembers,
    ...expiryMembers,
    _id: policyId,
    id: policyId,
    access_rights: nullable(accessRightsArbitrary()),
    access_rights_array: listOf(
      fc.tuple(apiId, accessRightArbitrary()).map(([id, right]) => ({ ...right, api_id: id })),
    ),
    active: fc.boolean(),
    auth_type: fc.constantFrom('authToken', 'jwt', 'oauth', 'ba', 'keyless', 'other'),
    auth_types: listOf(fc.constantFrom('authToken', 'jwt')),
    date_created: fc.constant('2026-01-02T03:04:05Z'),
    graphql_enabled: fc.boolean(),
    hmac_enabled: fc.boolean(),
    is_inactive: fc.boolean(),
    key_expires_in: seconds,
    last_updated: seconds.map(String),
    meta_data: nullable(mapOf(free)),
    name: word,
    org_id: word,
    partitions: nullable(fc.oneof(parts, fc.constant({ per_api: true }))),
    state: fc.constantFrom('deny', 'active', 'draft') as fc.Arbitrary<'deny' | 'active' | 'draft'>,
    tags: listOf(word),
  });
