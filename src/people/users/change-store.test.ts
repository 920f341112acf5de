import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { addPerson } from '../../../tests/support/browser.ts';

onEveryEngine('changes of users', app => {
  const tables = ['sessions', 'sign_in_tokens', 'user_factors'] as const;
  const services = () => app().application.installation.services;
  const nowMs = Date.now();

  /** A user with a session, a token and a second factor. */
  async function prepare(more: Record<string, unknown> = {}) {
    const person = await addPerson(app(), more);
    const { id, orgId } = person;
    const { sessions, signInTokens, factors } = services();
    await sessions.insert({ orgId, userId: id, address: '127.0.0.1', userAgent: '' }, nowMs);
    await signInTokens.insert({ purpose: 'reset', orgId, ownerId: id, expiresAtMs: nowMs + 60_000 }, nowMs);
    await factors.setPendingTotp({ id, org_id: orgId }, 'secret', nowMs);
    return person;
  }
  async function readRows(userId: string) {
    const { db } = app().application.installation.records;
    const found = [];
    for (const table of tables) {
      const rows = await db.selectFrom(table).select('org_id').where('user_id', '=', userId).execute();
      found.push(rows.map(({ org_id }) => org_id));
    }
    return found;
  }

  test('a new password, key, state, organisation or address ends sessions and tokens of the user, and no others', async () => {
    const other = await prepare();
    const { orgId: elsewhere } = await app().stranger();
    for (const change of [
      { password: 'other' },
      { access_key: 'another access key' },
      { active: false },
      { org_id: elsewhere },
      { email_address: 'moved@example.org' },
    ]) {
      const { id, orgId } = await prepare();
      const changed = await services().users.change({ id }, it => ({ ...it, ...change }));
      assert.equal(changed!.id, id);
      assert.deepEqual(await readRows(id), [[], [], [change.org_id ?? orgId]], JSON.stringify(change));
      await services().users.remove(changed!.org_id, id);
    }
    assert.deepEqual(await readRows(other.id), [[other.orgId], [other.orgId], [other.orgId]]);
  });

  test('a change of other members keeps sessions and tokens', async () => {
    const { id, orgId, accessKey } = await prepare();
    const changed = await services().users.change({ id, org_id: orgId }, it => ({ ...it, first_name: 'Z' }));
    assert.deepEqual([changed!.first_name, changed!.access_key], ['Z', accessKey]);
    assert.deepEqual(await readRows(id), [[orgId], [orgId], [orgId]]);
  });

  test('a change in another organisation changes nothing', async () => {
    const { id } = await prepare();
    const { orgId: elsewhere } = await app().stranger();
    assert.equal(await services().users.change({ id, org_id: elsewhere }, () => assert.fail('changed')), undefined);
  });

  test('a removal deletes what depends on the user, and only on it', async () => {
    const [removed, kept] = [await prepare(), await prepare()];
    await services().users.remove(removed.orgId, removed.id);
    assert.equal(await services().users.get(removed.orgId, removed.id), undefined);
    assert.deepEqual(await readRows(removed.id), [[], [], []]);
    assert.deepEqual(await readRows(kept.id), [[kept.orgId], [kept.orgId], [kept.orgId]]);
  });

  test('a removal of all users of an organisation leaves those of others', async () => {
    const { orgId } = await app().stranger();
    const [removed, kept] = [await prepare({ org_id: orgId }), await prepare()];
    await services().users.removeAll(orgId);
    assert.equal(await services().users.count(orgId), 0);
    assert.deepEqual(await readRows(removed.id), [[], [], []]);
    assert.deepEqual(await readRows(kept.id), [[kept.orgId], [kept.orgId], [kept.orgId]]);
  });
});
