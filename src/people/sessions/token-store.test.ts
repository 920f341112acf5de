import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine } from '../../../tests/support/app.ts';

onEveryEngine('sign-in token store', app => {
  const store = () => app().application.installation.services.signInTokens;
  const nowMs = 1_000_000;
  const insert = (ownerId: string, more: { purpose?: 'reset' | 'saml'; atMs?: number; body?: string } = {}) => {
    const { purpose = 'reset', atMs = nowMs, ...rest } = more;
    return store().insert({ purpose, orgId: 'org', ownerId, expiresAtMs: nowMs + 60_000, ...rest }, atMs);
  };

  test('a token is found until it expires, with its members and for its purpose only', async () => {
    const userId = createPublicId();
    const token = await insert(userId, { body: 'kept' });
    const found = (await store().find('reset', token, nowMs + 59_999))!;
    assert.deepEqual(
      [found.purpose, found.orgId, found.ownerId, found.expiresAtMs, found.body],
      ['reset', 'org', userId, nowMs + 60_000, 'kept'],
    );
    assert.equal(await store().find('reset', token, nowMs + 60_000), undefined);
    assert.equal(await store().find('saml', token, nowMs), undefined);
    assert.equal(await store().find('reset', `${token}x`, nowMs), undefined);
    assert.equal(await store().find('reset', 'x'.repeat(257), nowMs), undefined);
  });

  test('a token is used once', async () => {
    const found = (await store().find('reset', await insert(createPublicId()), nowMs))!;
    assert.deepEqual([await store().use(found), await store().use(found)], [true, false]);
  });

  test('a sixth token of a user and purpose replaces the oldest; other users and purposes are not counted', async () => {
    const [userId, other] = [createPublicId(), createPublicId()];
    const kept = await Promise.all([insert(other), insert(userId, { purpose: 'saml' })]);
    const tokens: string[] = [];
    for (let index = 0; index < 6; index++) tokens.push(await insert(userId, { atMs: nowMs + index }));
    const isFound = async (token: string) => (await store().find('reset', token, nowMs)) !== undefined;
    const found = await Promise.all(tokens.map(isFound));
    assert.deepEqual(found, [false, true, true, true, true, true]);
    assert.equal(await isFound(kept[0]!), true);
    assert.notEqual(await store().find('saml', kept[1]!, nowMs), undefined);
  });

  test('tokens of several owners are not bounded together, and expired rows are deleted by the next token', async () => {
    const expired = await insert(createPublicId());
    const tokens: string[] = [];
    for (let index = 0; index < 6; index++) tokens.push(await insert(createPublicId()));
    for (const token of tokens) assert.notEqual(await store().find('reset', token, nowMs), undefined);
    await insert(createPublicId(), { atMs: nowMs + 60_000 });
    assert.equal(await store().find('reset', expired, nowMs), undefined);
  });

  test('a value is marked as used once, until it expires', async () => {
    const used = { purpose: 'sso-flow', orgId: 'org', value: createPublicId(), expiresAtMs: nowMs + 1000 } as const;
    assert.deepEqual([await store().markUsed(used, nowMs), await store().markUsed(used, nowMs + 999)], [true, false]);
    assert.equal(await store().markUsed({ ...used, purpose: 'saml-assertion' }, nowMs), true);
    assert.equal(await store().markUsed({ ...used, expiresAtMs: nowMs + 5000 }, nowMs + 1000), true);
  });
});
