import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { keyArbitrary } from '../../../tests/arbitraries/access.ts';
import type { AccessRight, Key } from './schema.ts';
import { compileKeySession, findRight, isExpired } from './session.ts';

const unlimited = { rate: undefined, throttle: undefined, quota: undefined, queryDepth: undefined };
const smoothing = { enabled: true, threshold: 5, step: 2, delay: 3, trigger: 0.5 };

for (const [what, key, expected] of [
  ['nothing set', {}, unlimited],
  ['zeros', { rate: 0, per: 0, quota_max: 0, throttle_retry_limit: 0, max_query_depth: 0 }, unlimited],
  ['-1 everywhere', { rate: -1, per: -1, quota_max: -1, throttle_retry_limit: -1, max_query_depth: -1 }, unlimited],
  ['a rate', { rate: 5, per: 2 }, { ...unlimited, rate: { rate: 5, perSeconds: 2, smoothing: undefined } }],
  ['a quota', { quota_max: 9, quota_renewal_rate: 60 }, { ...unlimited, quota: { max: 9, renewalSeconds: 60 } }],
  [
    'a quota that never renews',
    { quota_max: 9, quota_renewal_rate: -1 },
    { ...unlimited, quota: { max: 9, renewalSeconds: undefined } },
  ],
  [
    'throttling',
    { throttle_retry_limit: 3, throttle_interval: 0.5 },
    { ...unlimited, throttle: { retries: 3, intervalSeconds: 0.5 } },
  ],
  ['a depth', { max_query_depth: 4 }, { ...unlimited, queryDepth: 4 }],
] as const) {
  test(`a key with ${what} compiles to the expected limits`, () =>
    assert.deepEqual(compileKeySession(key).limits, expected));
}

test('smoothing is active when enabled and complete; trigger defaults to 0', () => {
  const rateOf = (given: Key['smoothing']) =>
    compileKeySession({ rate: 9, per: 1, smoothing: given }).limits.rate?.smoothing;
  assert.deepEqual(rateOf(smoothing), { threshold: 5, step: 2, delaySeconds: 3, trigger: 0.5 });
  assert.equal(rateOf({ enabled: true, threshold: 5, step: 2, delay: 3 })?.trigger, 0);
  assert.equal(rateOf({ ...smoothing, enabled: false }), undefined);
  assert.equal(rateOf({ enabled: true, threshold: 5, delay: 3 }), undefined);
  assert.equal(rateOf(null), undefined);
});

test('limits of a right replace those of the key as a whole', () => {
  const session = compileKeySession({
    ...{ rate: 5, per: 1, quota_max: 10, smoothing },
    access_rights: {
      own: { limit: { rate: 7, per: 1 }, allowance_scope: 'own' },
      zeros: { limit: { rate: 0, per: 0, quota_max: 0 } },
      none: { limit: null },
    },
  });
  assert.equal(findRight(session, 'own')?.limits.rate?.rate, 7);
  assert.equal(findRight(session, 'own')?.limits.quota, undefined);
  assert.equal(findRight(session, 'own')?.scope, 'own');
  assert.equal(findRight(session, 'own')?.limits.rate?.smoothing?.threshold, 5, 'smoothed as the key is');
  assert.deepEqual(findRight(session, 'zeros')?.limits, session.limits);
  assert.deepEqual(findRight(session, 'none')?.limits, session.limits);
  assert.equal(findRight(session, 'unknown'), undefined);
});

test('a key without rights may call every API under its own limits', () => {
  const session = compileKeySession({ rate: 5, per: 1 });
  assert.equal(findRight(session, 'anything')?.limits.rate?.rate, 5);
  assert.deepEqual(findRight(session, 'anything')?.allowedUrls, []);
});

test('inherited object property names are not rights', () => {
  assert.equal(findRight(compileKeySession({ access_rights: { a: {} } }), 'constructor'), undefined);
});

test('a list of allowed GraphQL types makes the restricted ones moot', () => {
  const types = [{ name: 'Query', fields: ['a'] }];
  const right = (given: AccessRight) => findRight(compileKeySession({ access_rights: { a: given } }), 'a');
  assert.deepEqual(right({ restricted_types: types })?.restrictedTypes, types);
  assert.deepEqual(right({ restricted_types: types, allowed_types: types })?.restrictedTypes, []);
  assert.equal(right({ disable_introspection: true })?.introspection, false);
  assert.equal(right({})?.introspection, true);
});

test('endpoint rates are one row for each path and method; a rate of 0 is none', () => {
  const methods = [
    { name: 'GET', limit: { rate: 1, per: 2, smoothing: null } },
    { name: 'PUT', limit: { rate: 9, per: 2, smoothing } },
    { name: 'POST', limit: { rate: 0, per: 2 } },
  ];
  const session = compileKeySession({ access_rights: { a: { endpoints: [{ path: '/x', methods }] } } });
  assert.deepEqual(findRight(session, 'a')?.endpoints, [
    { path: '/x', method: 'GET', rate: { rate: 1, perSeconds: 2, smoothing: undefined } },
    {
      path: '/x',
      method: 'PUT',
      rate: { rate: 9, perSeconds: 2, smoothing: { threshold: 5, step: 2, delaySeconds: 3, trigger: 0.5 } },
    },
  ]);
});

for (const [expires, nowS, expired] of [
  [undefined, 100, false],
  [0, 100, false],
  [-1, 100, false],
  [1, 100, true],
  [100, 100, false],
  [99, 100, true],
] as const) {
  test(`at ${nowS} a key that expires at ${expires} is ${expired ? 'expired' : 'alive'}`, () => {
    assert.equal(isExpired(compileKeySession({ expires }), nowS * 1000), expired);
  });
}

test('secrets are compiled only where their use is enabled', () => {
  const off = compileKeySession({ hmac_string: 's', rsa_certificate_id: 'c' });
  assert.deepEqual([off.hmacSecret, off.signatureCertificate, off.password], [undefined, undefined, undefined]);
  const on = compileKeySession({
    ...{ hmac_enabled: true, hmac_string: 's', enable_http_signature_validation: true, rsa_certificate_id: 'c' },
    basic_auth_data: { password: 'h', hash_type: 'bcrypt' },
  });
  assert.deepEqual([on.hmacSecret, on.signatureCertificate], ['s', 'c']);
  assert.deepEqual(on.password, { hash: 'h', hashType: 'bcrypt' });
});

test('both spellings enable detailed recording', () => {
  assert.ok(compileKeySession({ enable_detailed_recording: true }).detailedRecording);
  assert.ok(compileKeySession({ enable_detail_recording: true }).detailedRecording);
});

test('meta data that is not an object compiles to none', () => {
  assert.deepEqual(compileKeySession({ meta_data: ['x'] }).metaData, {});
  assert.equal(compileKeySession({ meta_data: { rate_limit_pattern: '$gw_meta.a' } }).counterPattern, '$gw_meta.a');
  assert.equal(compileKeySession({ meta_data: { rate_limit_pattern: 5 } }).counterPattern, undefined);
});

test('any valid key compiles', () => {
  fc.assert(fc.property(keyArbitrary(), key => void compileKeySession(key)));
});

test('keys with equal rights share one compiled object; any difference separates them', () => {
  const key: Key = { rate: 5, per: 2, access_rights: { a: { api_id: 'a', versions: ['Default'] } } };
  const one = compileKeySession(key);
  assert.equal(compileKeySession({ ...structuredClone(key), alias: 'other' }).rights, one.rights);
  const others: Key[] = [
    { ...key, rate: 6 },
    { ...key, per: 3 },
    { ...key, quota_max: 7 },
    { ...key, access_rights: {} },
    { ...key, access_rights: { a: { api_id: 'a', versions: ['v2'] } } },
    { ...key, access_rights: { a: { api_id: 'a', versions: ['Default'], allowance_scope: 's' } } },
    { ...key, access_rights: { b: { api_id: 'a', versions: ['Default'] } } },
  ];
  for (const other of others) {
    const session = compileKeySession(other);
    assert.notEqual(session.rights, one.rights);
    assert.notDeepEqual([session.limits, session.rights], [one.limits, one.rights]);
  }
});
