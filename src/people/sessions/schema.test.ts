import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SignIn, toSession } from './schema.ts';

describe('Schema of sign-ins', () => {
  const signIn = { username: 'ann@example.org', password: 'x' };

  test('a sign-in has a user name, which is trimmed and in lower case, and a password', () => {
    assert.deepEqual(SignIn.parse({ ...signIn, username: ' Ann@Example.org ' }), signIn);
    const full = { ...signIn, org_id: 'o'.repeat(64), otp: '1'.repeat(64), password: 'x'.repeat(1024) };
    assert.deepEqual(SignIn.parse(full), full);
  });

  test('an empty or oversized member is refused', () => {
    for (const more of [
      { username: '' },
      { username: 'a'.repeat(255) },
      { password: '' },
      { password: 'x'.repeat(1025) },
      { otp: '' },
      { otp: '1'.repeat(65) },
      { org_id: 'o'.repeat(65) },
    ])
      assert.equal(SignIn.safeParse({ ...signIn, ...more }).success, false, JSON.stringify(more));
  });

  test('the session of the request is marked, and no other', () => {
    const times = { createdAtMs: 0, seenAtMs: 1000, expiresAtMs: 2000 };
    const source = { profileId: '', creatorId: '', address: '127.0.0.1', userAgent: 'x' };
    const session = { id: 's', orgId: 'o', userId: 'u', ...times, ...source };
    assert.deepEqual(toSession(session, 's'), {
      id: 's',
      created_at: '1970-01-01T00:00:00Z',
      last_seen_at: '1970-01-01T00:00:01Z',
      expires_at: '1970-01-01T00:00:02Z',
      address: '127.0.0.1',
      user_agent: 'x',
      client: 'x',
      current: true,
    });
    assert.deepEqual([toSession(session, 't').current, toSession(session).current], [false, false]);
  });
});
