import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { addPerson } from '../../../tests/support/browser.ts';
import { expectKeyError, openKeyTenant, rightsTo } from '../../../tests/support/key-tenant.ts';
import { applyKeyChanges, KeyChanges } from './key-changes.ts';
import type { Key } from './schema.ts';

const future = 4_000_000_000;

describe('parts of a key', () => {
  const known = new Map(['a', 'a-row'].map(name => [name, { id: 'a', _id: 'a-row' }]));
  const change = (key: Key, changes: object) => applyKeyChanges(key, KeyChanges.parse(changes), known);

  test('policies are added after those of the key, and the older member of a single policy is one of them', () => {
    const key = { apply_policy_id: 'a', alias: 'x' };
    const after = { apply_policies: ['a', 'b'], apply_policy_id: '', alias: 'x', expires: 0 };
    assert.deepEqual(change(key, { add_policies: ['b', 'b'] }), after);
    assert.deepEqual(change(after, { remove_policies: ['a'] })?.apply_policies, ['b']);
  });

  test('a policy is the same by either of its ids', () => {
    const key = { apply_policies: ['a-row', 'b'] };
    assert.equal(change(key, { add_policies: ['a'] }), undefined);
    assert.deepEqual(change(key, { remove_policies: ['a'] })?.apply_policies, ['b']);
    assert.deepEqual(change({ apply_policies: ['b'] }, { add_policies: ['a', 'a-row'] })?.apply_policies, ['b', 'a']);
    assert.throws(() => change(key, { add_policies: ['a'], remove_policies: ['a-row'] }), /add_policies names too/);
  });

  test('the last policy of a key is not removed, but replaced', () => {
    const key = { apply_policy_id: 'a' };
    assert.throws(() => change(key, { remove_policies: ['a-row', 'b'] }), /would take the last policy/);
    assert.deepEqual(change(key, { add_policies: ['b'], remove_policies: ['a'] })?.apply_policies, ['b']);
    assert.equal(change({}, { remove_policies: ['a'] }), undefined);
  });

  test('an expiry is never moved to an earlier time', () => {
    assert.equal(change({ expires: 100 }, { extend_to: 200 })?.expires, 200);
    assert.equal(change({ expires: 100 }, { extend_to: 0 })?.expires, 0);
    for (const expires of [300, 0, -1]) assert.equal(change({ expires }, { extend_to: 200 }), undefined);
  });

  test('changes that a key has already leave it as it is', () => {
    const key = { apply_policies: ['a'], expires: 200 };
    assert.equal(change(key, { add_policies: ['a'], remove_policies: ['b'], extend_to: 200 }), undefined);
  });
});

onEveryEngine('changes of parts of a key', app => {
  test('policies and expiry change; the other members and the running quota stay', async () => {
    const { ask, make, policy } = await openKeyTenant(app());
    const [gold, silver] = [await policy({ quota_max: 10, quota_renewal_rate: 3600 }), await policy()];
    const key = await make({ apply_policies: [gold], alias: 'Mobile', expires: future, tags: ['t'] });
    const path = `/api/keys/${key.key_hash}?hashed=1`;
    const changed = await ask('PATCH', path, { add_policies: [silver], extend_to: future + 60 });
    assert.deepEqual(changed.body, { Status: 'OK', Message: 'Key changed', Meta: null });
    const { data } = (await ask('GET', path)).body;
    const { last_updated: _time, ...before } = key.data;
    const { last_updated: _later, ...after } = data;
    assert.deepEqual(after, { ...before, apply_policies: [gold, silver], expires: future + 60 });
    const repeated = await ask('PATCH', path, { add_policies: [silver], extend_to: future });
    assert.match(repeated.body.Message, /^Key unchanged/);
    assert.equal((await ask('PATCH', path, { remove_policies: [gold], extend_to: 0 })).status, 200);
    const last = (await ask('GET', path)).body.data;
    assert.deepEqual([last.apply_policies, last.expires], [[silver], 0]);
  });

  test('a policy is removed, and added once, by either of its ids', async () => {
    const { ask, make, policy } = await openKeyTenant(app());
    const [gold, silver] = [await policy(), await policy()];
    const { _id } = (await ask('GET', `/api/portal/policies/${gold}`)).body;
    assert.notEqual(_id, gold);
    for (const [named, sent] of [
      [gold, _id],
      [_id, gold],
    ]) {
      const path = `/api/keys/${(await make({ apply_policies: [named, silver] })).key_id}`;
      assert.match((await ask('PATCH', path, { add_policies: [sent] })).body.Message, /^Key unchanged/);
      const both = { add_policies: [named], remove_policies: [sent] };
      expectKeyError(await ask('PATCH', path, both), 400, /^remove_policies: names a policy that add_policies/);
      assert.equal((await ask('PATCH', path, { remove_policies: [sent] })).body.Message, 'Key changed');
      assert.deepEqual((await ask('GET', path)).body.data.apply_policies, [silver]);
    }
  });

  test('the last policy is not removed: the rights of the key itself would apply', async () => {
    const { ask, make, policy } = await openKeyTenant(app());
    const [gold, silver] = [await policy(), await policy()];
    const key = await make({ apply_policies: [gold], ...rightsTo('a1', 'a2') });
    const path = `/api/keys/${key.key_hash}?hashed=1`;
    const before = (await ask('GET', path)).body.data;
    const refusal = /^remove_policies: would take the last policy of the key: delete the key or replace its rights$/;
    expectKeyError(await ask('PATCH', path, { remove_policies: [gold, silver], extend_to: 0 }), 400, refusal);
    const changes = { remove_policies: [gold] };
    const bulk = await ask('POST', '/api/bulk', { kind: 'keys', action: 'change', ids: [key.key_hash], changes });
    assert.equal(bulk.body.results[0].status, 400, bulk.text);
    assert.deepEqual((await ask('GET', path)).body.data, before);
    assert.equal((await ask('PATCH', path, { ...changes, add_policies: [silver] })).status, 200);
    assert.deepEqual((await ask('GET', path)).body.data.apply_policies, [silver]);
  });

  test('invalid changes are refused with the path of the member, and change nothing', async () => {
    const { ask, make, policy } = await openKeyTenant(app());
    const [gold, draft] = [await policy(), await policy({ is_inactive: true, active: false })];
    const key = await make({ apply_policies: [gold], expires: future });
    for (const [changes, message] of [
      [{}, /name at least one of add_policies/],
      [{ add_policies: ['unknown'] }, /^apply_policies\[1\]: there is no policy unknown$/],
      [{ add_policies: [draft] }, /allows no new keys/],
      [{ add_policies: [gold], remove_policies: [gold] }, /^remove_policies: names a policy that add_policies/],
      [{ add_policies: [''] }, /^add_policies\[0\]: /],
      [{ extend_to: 1_000_000_000 }, /^extend_to: is in the past$/],
      [{ extend_to: -1 }, /^extend_to: /],
      [{ rate: 1 }, /^rate: no such member/],
    ] as const)
      expectKeyError(await ask('PATCH', `/api/keys/${key.key_id}`, changes), 400, message);
    assert.deepEqual((await ask('GET', `/api/keys/${key.key_id}`)).body.data, key.data);
    expectKeyError(await ask('PATCH', '/api/keys/unknown-key', { extend_to: 0 }), 404, /Could not retrieve/);
  });

  test('a policy or a key with APIs of another owner is refused', async () => {
    const { ask, make, policy, orgId } = await openKeyTenant(app());
    const created = await ask('POST', '/api/apis', {
      api_definition: { name: 'Owned', proxy: { listen_path: '/owned/', target_url: 'http://127.0.0.1:1/' } },
    });
    const { api_definition } = (await ask('GET', `/api/apis/${created.body.ID}`)).body;
    const owner = await addPerson(app(), { user_permissions: { apis: 'write' }, org_id: orgId });
    const other = await addPerson(app(), { user_permissions: { keys: 'write' }, org_id: orgId });
    assert.equal(
      (await ask('PUT', `/api/apis/${created.body.ID}/access`, { userIds: [owner.id], userGroupIds: [] })).status,
      200,
    );
    const hidden = await policy(rightsTo(api_definition.api_id));
    const key = await make();
    const answer = await app().ask('PATCH', `/api/keys/${key.key_id}`, {
      body: { add_policies: [hidden] },
      credential: other.accessKey,
    });
    assert.equal(answer.status, 403, answer.text);
  });
});
