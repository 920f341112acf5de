import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseProfile } from './parse-profile.ts';
import { emptyProfile } from './profile-draft.ts';

describe('Sign-on profile as JSON', () => {
  test('absent members are empty, and the others are taken over', () => {
    assert.deepEqual(parseProfile('{"Name":"Company"}').profile, { ...emptyProfile, Name: 'Company' });
  });

  test('a text that is no profile has a fault and no profile', () => {
    for (const text of [
      '',
      '{',
      '[]',
      'null',
      '{"Nam":"x"}',
      '{"Name":5}',
      '{"Active":"yes"}',
      '{"ProviderName":"constructor"}',
      '{"ProviderConfig":{"UseProviders":5}}',
      '{"ProviderConfig":{"UseProviders":[{"Scopes":"openid"}]}}',
      '{"UserGroupMapping":{"a":1}}',
    ]) {
      const { profile, fault } = parseProfile(text);
      assert.equal(profile, undefined, text);
      assert.ok(fault, text);
    }
    assert.match(parseProfile('{"Nam":"x"}').fault!, /Nam/);
  });
});
