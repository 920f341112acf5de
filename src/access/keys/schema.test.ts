import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { z } from 'zod';
import { keyArbitrary } from '../../../tests/arbitraries/access.ts';
import { fullKey, Key, KeyEnvelope, keyEnvelope, keyWarnings, limitIsSet } from './schema.ts';

const documented =
  `access_rights alias allowance apply_policies apply_policy_id basic_auth_data certificate data_expires
  date_created enable_detailed_recording expires hmac_enabled hmac_string id_extractor_deadline is_inactive jwt_data key_id
  last_check last_updated max_query_depth meta_data monitor oauth_client_id oauth_keys org_id per quota_max
  quota_remaining quota_renewal_rate quota_renews rate session_lifetime smoothing tags throttle_interval
  throttle_retry_limit`.split(/\s+/);

/** The faults of a key as `path: message`. */
const faultsOf = (key: unknown) =>
  Key.safeParse(key).error?.issues.map(issue => `${issue.path.join('.')}: ${issue.message}`) ?? [];

test('a key may be empty', () => {
  assert.deepEqual(Key.parse({}), {});
});

test('any valid key round-trips through JSON and the schema unchanged', () => {
  fc.assert(
    fc.property(keyArbitrary(), key => {
      assert.deepEqual(Key.parse(JSON.parse(JSON.stringify(key))), key);
    }),
  );
});

test('undeclared members of stored keys are preserved at every depth', () => {
  const key = {
    beyond: { a: [1] },
    access_rights: { a: { beyond: 1, limit: { beyond: 2, smoothing: { beyond: 3 } } } },
    basic_auth_data: { beyond: 4 },
  };
  assert.deepEqual(Key.parse(key), key);
  assert.equal(Object.hasOwn(fullKey(Key.parse({ constructor: 1 })), 'constructor'), true);
});

test('null is accepted for an unset list, map or object', () => {
  const names =
    `access_rights apply_policies basic_auth_data jwt_data meta_data monitor oauth_keys smoothing tags`.split(' ');
  const key = Object.fromEntries(names.map(name => [name, null]));
  assert.deepEqual(Key.parse(key), key);
  const right = { versions: null, allowed_urls: null, limit: null, endpoints: null, restricted_types: null };
  assert.deepEqual(Key.parse({ access_rights: { a: right } }), { access_rights: { a: right } });
});

for (const [what, smoothing, fault] of [
  ['a delay of 0', { delay: 0 }, 'smoothing.delay: must be at least 1'],
  ['a step of 0', { step: 0 }, 'smoothing.step: must be at least 1'],
  ['a negative threshold', { threshold: -3 }, 'smoothing.threshold: must be at least 1'],
  ['a threshold of 0 while switched off', { enabled: false, threshold: 0 }, 'smoothing.threshold: must be at least 1'],
  ['a negative trigger', { trigger: -0.01 }, 'smoothing.trigger: must be at least 0'],
  ['a trigger of 0.015', { trigger: 0.015 }, 'smoothing.trigger: must be a multiple of 0.01'],
  ['a trigger of 0.0701', { enabled: true, trigger: 0.0701 }, 'smoothing.trigger: must be a multiple of 0.01'],
] as const) {
  test(`smoothing refuses ${what}`, () => assert.deepEqual(faultsOf({ smoothing }), [fault]));
}

test('incomplete smoothing of an endpoint is warned about with its path', () => {
  const limit = { rate: 9, per: 1, smoothing: { enabled: true, step: 1, delay: 1 } };
  const endpoints = [{ path: '/a', methods: [{ name: 'GET' }, { name: 'PUT', limit }] }];
  assert.deepEqual(keyWarnings({ access_rights: { a: { endpoints } } }), [
    'access_rights.a.endpoints[0].methods[1].limit.smoothing.threshold: is missing; smoothing stays off without it',
  ]);
});

test('smoothing refuses fractions of seconds, steps and thresholds', () => {
  for (const name of ['delay', 'step', 'threshold']) assert.equal(faultsOf({ smoothing: { [name]: 1.5 } }).length, 1);
});

test('every multiple of 0.01 is a valid trigger, despite binary rounding', () => {
  for (let hundredths = 0; hundredths <= 1000; hundredths++) {
    assert.deepEqual(faultsOf({ smoothing: { trigger: Number(`${hundredths}e-2`) } }), []);
  }
});

test('smoothing inside a right keeps the same bounds', () => {
  assert.deepEqual(faultsOf({ access_rights: { a: { limit: { smoothing: { trigger: 0.001 } } } } }), [
    'access_rights.a.limit.smoothing.trigger: must be a multiple of 0.01',
  ]);
});

test('members of the wrong type are refused with their path', () => {
  const wrong = { alias: 1, rate: '5', tags: 'a', quota_max: 1.5, expires: 'never', access_rights: [] as unknown[] };
  const paths = Key.safeParse(wrong).error?.issues.map(issue => issue.path.join('.'));
  assert.deepEqual(paths?.sort(), Object.keys(wrong).sort());
});

test('a response has every documented member, whatever was sent', () => {
  const full = fullKey({});
  assert.deepEqual(Object.keys(full), documented);
  for (const name of documented) assert.notEqual(full[name], undefined);
  assert.deepEqual(full.basic_auth_data, { hash_type: '', password: '', user: '' });
});

test('a response can be sent back as a request', () => {
  fc.assert(
    fc.property(keyArbitrary(), key => {
      assert.deepEqual(faultsOf(JSON.parse(JSON.stringify(fullKey(key)))), []);
    }),
  );
});

test('a response has the hash type, never the password', () => {
  const full = fullKey({ basic_auth_data: { password: 'secret', hash_type: 'bcrypt', user: 'ann' } });
  assert.deepEqual(full.basic_auth_data, { password: '', hash_type: 'bcrypt', user: 'ann' });
});

test('zero values are not shared between responses', () => {
  fullKey({}).tags.push('x');
  assert.deepEqual(fullKey({}).tags, []);
});

test('whole numbers print as integers and fractions as they are', () => {
  const text = JSON.stringify(fullKey(Key.parse(JSON.parse('{"rate": 5.0, "per": 1e1, "throttle_interval": 0.5}'))));
  for (const part of ['"rate":5,', '"per":10,', '"throttle_interval":0.5,']) assert.ok(text.includes(part), part);
});

test('a threshold at or above the rate, and smoothing that lacks a member, are accepted with a warning', () => {
  const smoothing = { enabled: true, delay: 1, step: 1, threshold: 10, trigger: 0.5 };
  assert.deepEqual(keyWarnings({ rate: 11, smoothing }), []);
  assert.deepEqual(keyWarnings({ rate: 10, smoothing: { ...smoothing, enabled: false } }), []);
  assert.deepEqual(keyWarnings({ rate: 10, smoothing }), ['smoothing.threshold: should be below the rate (10)']);
  assert.deepEqual(
    keyWarnings({ access_rights: { a: { limit: { rate: 5, smoothing: { enabled: true, delay: 1, threshold: 2 } } } } }),
    ['access_rights.a.limit.smoothing.step: is missing; smoothing stays off without it'],
  );
});

test('the envelope has the key id inside and outside', () => {
  const envelope = keyEnvelope({ alias: 'a', key_id: 'forged' }, 'id', 'hash');
  assert.deepEqual(KeyEnvelope.parse(envelope), envelope);
  assert.deepEqual(
    [envelope.key_id, envelope.data.key_id, envelope.key_hash, envelope.api_model],
    ['id', 'id', 'hash', {}],
  );
});

test('a limit of zeros is not a limit', () => {
  assert.equal(limitIsSet(null), false);
  assert.equal(limitIsSet({ rate: 0, per: 0, quota_max: 0, smoothing: null }), false);
  assert.equal(limitIsSet({ quota_max: -1 }), true);
});

test('the schema converts to JSON Schema, with its bounds', () => {
  const schema = JSON.stringify(z.toJSONSchema(Key));
  assert.ok(schema.includes('"multipleOf":0.01'));
});

test('numbers beyond the bound are refused, with their path', () => {
  for (const name of ['rate', 'per', 'quota_max', 'expires', 'quota_renewal_rate']) {
    assert.deepEqual(faultsOf({ [name]: 9e15 }), [`${name}: must be at most 1000000000000000`]);
    assert.deepEqual(faultsOf({ [name]: -9e15 }), [`${name}: must be at least -1000000000000000`]);
    assert.deepEqual(faultsOf({ [name]: 4e9 }), []);
  }
});
