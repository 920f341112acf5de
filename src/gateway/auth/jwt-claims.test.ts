import assert from 'node:assert/strict';
import { test } from 'node:test';
import { classicToModel } from '#definition/model.ts';
import { compileClaimRules, readClientId, readIdentity, readPolicyClaim, selectPolicies } from './jwt-claims.ts';

const plain = classicToModel({} as Parameters<typeof classicToModel>[0]).jwt;
type Jwt = typeof plain;

const passes = (asked: Partial<Jwt>, claims: object, noted: string[] = []) =>
  compileClaimRules({ ...plain, ...asked })!(claims as never, path => noted.push(path));
const custom = (type: string, allowedValues: unknown[] = [], nonBlocking = false): Partial<Jwt> => ({
  customClaims: { 'user.role': { type, allowedValues, nonBlocking } },
});

test('JWT claims: no rules without settings', () => {
  assert.equal(compileClaimRules(plain), undefined);
});

test('JWT claims: issuer, audience and subject must be allowed', () => {
  assert.ok(passes({ allowedIssuers: ['a', 'b'] }, { iss: 'b' }));
  for (const claims of [{}, { iss: 'c' }, { iss: ['a'] }]) assert.ok(!passes({ allowedIssuers: ['a'] }, claims));
  assert.ok(passes({ allowedAudiences: ['a'] }, { aud: ['x', 'a'] }));
  assert.ok(passes({ allowedAudiences: ['a'] }, { aud: 'a' }));
  for (const claims of [{}, { aud: [] }, { aud: 'ab' }]) assert.ok(!passes({ allowedAudiences: ['a'] }, claims));
  assert.ok(passes({ allowedSubjects: ['a'] }, { sub: 'a' }));
  assert.ok(!passes({ allowedSubjects: ['a'] }, { sub: 'b' }));
  assert.ok(passes({ jtiRequired: true }, { jti: '1' }));
  for (const claims of [{}, { jti: '' }]) assert.ok(!passes({ jtiRequired: true }, claims));
});

test('JWT claims: custom rules by path, required, exact_match and contains', () => {
  const role = (value: unknown) => ({ user: { role: value } });
  assert.ok(passes(custom('required'), role(false)));
  for (const claims of [{}, role(null), { user: 'x' }]) assert.ok(!passes(custom('required'), claims));
  assert.ok(passes(custom('exact_match', ['a', 7]), role(7)));
  for (const value of ['7', 'A', ['a'], undefined]) assert.ok(!passes(custom('exact_match', ['a', 7]), role(value)));
  assert.ok(passes(custom('contains', ['adm']), role('admin')));
  assert.ok(passes(custom('contains', ['admin']), role(['user', 'admin'])));
  for (const value of [['administrator'], 'user', 7]) assert.ok(!passes(custom('contains', ['admin']), role(value)));
  assert.ok(!passes(custom('contains', ['']), role('x')));
});

test('JWT claims: a non-blocking mismatch is logged; an unknown rule makes the API unavailable', () => {
  const noted: string[] = [];
  assert.ok(passes(custom('required', [], true), {}, noted));
  assert.deepEqual(noted, ['user.role']);
  assert.throws(() => passes(custom('roughly'), {}), /the claim validation type roughly is unknown/);
});

test('JWT claims: prototype members are no claims', () => {
  assert.equal(readIdentity({}, ['constructor', '__proto__']).ok, false);
  assert.equal(readPolicyClaim({}, ['toString']), undefined);
  assert.equal(readClientId({ clientId: '', cid: 7, client_id: 'c' }), 'c');
  assert.deepEqual(selectPolicies({ policyIds: [], fromDefaults: true }, ['constructor'], { r: 'p' }), {
    ok: false,
    code: 'jwt_scope_unmatched',
  });
});
