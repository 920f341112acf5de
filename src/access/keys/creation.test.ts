import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { keyArbitrary } from '../../../tests/arbitraries/access.ts';
import type { Policy } from '../policies/schema.ts';
import {
  type KeyContext,
  type Preparation,
  type PreparedKey,
  prepareKeyUpdate,
  prepareNewKey,
  withPassword,
} from './creation.ts';
import { Key } from './schema.ts';

const nowMs = Date.parse('2026-03-04T05:06:07Z');
const now = nowMs / 1000;
const rights = { access_rights: { a: {} } };

function context(policies: readonly Policy[] = [], more: Partial<KeyContext> = {}): KeyContext {
  const named = policies.map((policy, place) => ({ id: `p${place}`, org_id: 'org', ...rights, ...policy }));
  return { orgId: 'org', policies: new Map(named.map(policy => [policy.id, policy])), nowMs, ...more };
}

function good(preparation: Preparation): PreparedKey {
  assert.ok(preparation.ok, preparation.ok ? '' : preparation.message);
  return preparation;
}

const reasonOf = (preparation: Preparation) => (preparation.ok ? 'prepared' : preparation.reason);

test('a new key gets dates and organisation from the server, whatever is sent', () => {
  const sent = { ...rights, date_created: 'x', last_updated: '1', org_id: 'other', key_id: 'forged' };
  const { key } = good(prepareNewKey(sent, context()));
  assert.partialDeepStrictEqual(key, {
    date_created: '2026-03-04T05:06:07Z',
    last_updated: String(now),
    org_id: 'org',
  });
  assert.equal('key_id' in key, false);
});

test('a new key stores its policy references and returns the effective rights', () => {
  const { key, effective, session } = good(prepareNewKey({ apply_policies: ['p0'] }, context([{ rate: 5, per: 1 }])));
  assert.deepEqual([key.apply_policies, key.access_rights, key.rate], [['p0'], undefined, undefined]);
  assert.equal(effective.access_rights?.a?.limit?.rate, 5);
  assert.deepEqual([...session.rights.keys()], ['a']);
});

for (const [state, outcome] of [
  ['active', 'prepared'],
  ['draft', 'policy_takes_no_keys'],
  ['deny', 'policy_takes_no_keys'],
] as const) {
  test(`a policy in state ${state} gives a new key: ${outcome}`, () => {
    assert.equal(reasonOf(prepareNewKey({ apply_policies: ['p0'] }, context([{ state }]))), outcome);
  });

  test(`a key that exists can be written under a policy in state ${state}`, () => {
    const policies = context([{ state }]);
    const updated = good(prepareKeyUpdate({ org_id: 'org' }, { apply_policies: ['p0'] }, policies));
    assert.equal(updated.session.inactive, state === 'deny');
  });
}

test('a key without rights and policies is refused, unless master keys are allowed', () => {
  assert.equal(reasonOf(prepareNewKey({}, context())), 'no_access_rights');
  assert.equal(reasonOf(prepareNewKey({}, context([], { allowMasterKeys: true }))), 'prepared');
  assert.equal(reasonOf(prepareKeyUpdate(rights, {}, context())), 'no_access_rights');
  assert.equal(reasonOf(prepareNewKey({ apply_policies: ['gone'] }, context())), 'policy_not_found');
});

for (const [what, sent, previous, expected] of [
  ['nothing', undefined, 0, 0],
  ['never', 0, 0, 0],
  ['-1', -1, 0, -1],
  ['a time to come', now + 60, 0, now + 60],
  ['the current time', now, now + 9, now],
  ['a time that has passed', now - 60, 0, 0],
  ['2, the earliest time', 2, 0, 0],
  ['a time that has passed over one to come', now - 60, now + 9, now + 9],
  ['1, which is the past but on purpose', 1, 0, 1],
] as const) {
  test(`sending ${what} as expiry keeps ${expected === 0 ? 'never' : 'what it should'}`, () => {
    const key = { ...rights, expires: sent };
    if (previous === 0) assert.equal(good(prepareNewKey(key, context())).key.expires, expected);
    assert.equal(good(prepareKeyUpdate({ expires: previous }, key, context())).key.expires, expected);
  });
}

test('the last policy with a positive key_expires_in decides when a new key expires, and only then', () => {
  const policies = context([{ key_expires_in: 60 }, { key_expires_in: 90 }, { key_expires_in: 0 }]);
  const key = { apply_policies: ['p0', 'p1', 'p2'], expires: now + 5 };
  assert.equal(good(prepareNewKey(key, policies)).key.expires, now + 90);
  assert.equal(good(prepareKeyUpdate({}, key, policies)).key.expires, now + 5);
});

test('a new key starts a quota period by its effective limits', () => {
  const own = good(
    prepareNewKey({ ...rights, quota_max: 9, quota_renewal_rate: 60, quota_remaining: 5000 }, context()),
  );
  assert.partialDeepStrictEqual(own.key, { quota_renews: now + 60, quota_remaining: 9 });
  assert.deepEqual(own.quotaScopes, ['']);
  const policies = context([{ quota_max: 7, quota_renewal_rate: 30 }]);
  assert.partialDeepStrictEqual(good(prepareNewKey({ apply_policies: ['p0'] }, policies)).key, {
    quota_renews: now + 30,
    quota_remaining: 7,
  });
});

test('a quota that never renews has no time of renewal', () => {
  assert.equal(good(prepareNewKey({ ...rights, quota_max: 9, quota_renewal_rate: -1 }, context())).key.quota_renews, 0);
});

test('rights with limits start a quota period of their own scope', () => {
  const access_rights = { a: { limit: { quota_max: 3, quota_renewal_rate: 10 } }, b: {} };
  const { key, quotaScopes } = good(prepareNewKey({ access_rights }, context()));
  assert.partialDeepStrictEqual(key.access_rights?.a?.limit, { quota_renews: now + 10, quota_remaining: 3 });
  assert.deepEqual(quotaScopes, ['a', '']);
});

test('quotas are not reset where the API or suppress_reset disables it', () => {
  const key = { ...rights, quota_max: 9, quota_renewal_rate: 60 };
  for (const more of [{ keepsQuota: () => true }, { suppressReset: true }]) {
    const given = good(prepareNewKey(key, context([], more)));
    assert.deepEqual([given.quotaScopes, given.key.quota_renews], [[], undefined]);
  }
});

test('an HMAC key gets a generated secret in place of the sent one', () => {
  const randomHex = () => '00112233445566778899aabbccddeeff';
  const key = { ...rights, hmac_enabled: true, hmac_string: 'mine' };
  const made = good(prepareNewKey(key, { ...context(), randomHex })).key.hmac_string;
  assert.equal(Buffer.from(made ?? '', 'base64').toString(), randomHex());
  assert.equal(good(prepareNewKey(key, context())).key.hmac_string, 'mine');
  assert.equal(good(prepareNewKey(rights, { ...context(), randomHex })).key.hmac_string, undefined);
});

test('a plaintext password is returned for hashing and never stored', () => {
  const sent = { ...rights, basic_auth_data: { user: 'ann', password: 'clear', hash_type: 'none' } };
  const { key, effective, passwordToHash } = good(prepareNewKey(sent, context()));
  assert.equal(passwordToHash, 'clear');
  assert.ok(!JSON.stringify([key, effective]).includes('clear'));
  assert.deepEqual(withPassword(key, { password: 'hash', hash_type: 'scrypt' }).basic_auth_data, {
    ...{ user: 'ann', password: 'hash', hash_type: 'scrypt' },
  });
});

const stored: Key = {
  ...rights,
  org_id: 'org',
  basic_auth_data: { user: 'ann', password: 'hash', hash_type: 'scrypt' },
};

for (const [what, sent, toHash, user] of [
  ['left out', undefined, undefined, 'ann'],
  ['null', null, undefined, 'ann'],
  ['empty', { password: '' }, undefined, 'ann'],
  ['sent back as kept', { password: 'hash' }, undefined, 'ann'],
  ['new', { password: 'other', hash_type: 'x', user: 'bob' }, 'other', 'bob'],
] as const) {
  test(`an update with the password ${what} keeps the stored hash`, () => {
    const next = { ...rights, ...(sent !== undefined && { basic_auth_data: sent }) };
    const { key, passwordToHash } = good(prepareKeyUpdate(stored, next, context()));
    assert.deepEqual(key.basic_auth_data, { user, password: 'hash', hash_type: 'scrypt' });
    assert.equal(passwordToHash, toHash);
  });
}

test('an update keeps creation date and organisation, and replaces everything else', () => {
  const previous = { ...rights, date_created: '2020-01-01T00:00:00Z', org_id: 'org', alias: 'old', tags: ['t'] };
  const { key } = good(prepareKeyUpdate(previous, { ...rights, date_created: 'now', org_id: 'other' }, context()));
  assert.partialDeepStrictEqual(key, {
    date_created: '2020-01-01T00:00:00Z',
    org_id: 'org',
    last_updated: String(now),
  });
  assert.deepEqual([key.alias, key.tags], [undefined, undefined]);
});

test('an update starts a new quota period, unless suppress_reset is set', () => {
  const previous = { ...rights, quota_renews: 77, quota_remaining: 2, last_updated: '5' };
  const next = { ...rights, quota_max: 9, quota_renewal_rate: 60, quota_renews: 1, last_updated: '6' };
  const reset = good(prepareKeyUpdate(previous, next, context()));
  assert.partialDeepStrictEqual(reset.key, { quota_renews: now + 60, quota_remaining: 9, last_updated: String(now) });
  const kept = good(prepareKeyUpdate(previous, next, context([], { suppressReset: true })));
  assert.partialDeepStrictEqual(kept.key, { quota_renews: 77, quota_remaining: 2, last_updated: '5' });
  assert.deepEqual(kept.quotaScopes, []);
});

test('a certificate can be replaced by an existing one, but not removed', () => {
  const previous = { ...rights, certificate: 'c1' };
  const update = (certificate?: string) =>
    prepareKeyUpdate(previous, { ...rights, ...(certificate && { certificate }) }, context());
  assert.equal(good(update('c1')).certificateToCheck, undefined);
  assert.equal(good(update('c2')).certificateToCheck, 'c2');
  const removed = update();
  assert.equal(removed.ok ? '' : removed.message, 'Key cannot be used without a certificate');
  assert.equal(good(prepareNewKey(previous, context())).certificateToCheck, 'c1');
});

test('rights to unknown APIs are stored, with a warning', () => {
  const { key, warnings } = good(prepareNewKey(rights, context([], { knowsApi: () => false })));
  assert.deepEqual(key.access_rights, rights.access_rights);
  assert.deepEqual(warnings, ['access_rights.a: there is no such API']);
});

test('any stored key passes the schema, and the sent key is not mutated', () => {
  fc.assert(
    fc.property(keyArbitrary(), key => {
      const before = structuredClone(key);
      const free = { ...key, apply_policies: null, apply_policy_id: '', meta_data: {} };
      const { key: kept } = good(prepareNewKey(free, context([], { allowMasterKeys: true })));
      assert.deepEqual(Key.parse(kept), kept);
      const { key: again } = good(prepareKeyUpdate(kept, kept, context([], { allowMasterKeys: true })));
      assert.deepEqual(again, kept, 'what was read can be written back');
      assert.deepEqual(key, before);
    }),
  );
});
