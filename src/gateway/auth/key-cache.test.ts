import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { keyDigest } from '#access/keys/key-row.ts';
import { policyChangeName } from '#access/policies/topic.ts';
import type { AccessStore, FoundKeyRow } from '#access/reader.ts';
import { createLog } from '#base/log.ts';
import { readSettings } from '#base/settings.ts';
import { createDataKey, createVault } from '#base/vault.ts';
import { type Bench, openBench, orgId } from '../../../tests/support/step-harness.ts';
import { createKeyCache } from './key-cache.ts';

const rights = { access_rights: { bench: {} } };

describe('key cache', () => {
  let bench: Bench;
  before(async () => {
    bench = await openBench();
  });
  after(() => bench.close());
  const find = (text: string) => bench.services.keyCache.find(orgId, text);
  const countQueries = async (work: () => unknown) => {
    const before = bench.queries();
    await work();
    return bench.queries() - before;
  };

  test('a cached key is found synchronously without a query', async () => {
    const keyId = await bench.key(rights);
    const first = await find(keyId);
    assert.equal(await countQueries(() => assert.equal(find(keyId), first)), 0);
  });

  test('a repeated unknown key costs no query', async () => {
    assert.equal(await countQueries(() => find('a-guess')), 1);
    assert.equal(await countQueries(() => find('a-guess')), 0);
    bench.time.nowMs += 2001;
    assert.equal(await countQueries(() => find('a-guess')), 1);
  });

  test('an impossible key costs no query', async () => {
    assert.equal(await countQueries(() => [find(''), find(orgId), find('x'.repeat(1025))]), 0);
  });

  test('a new key is found despite its negative entry', async () => {
    assert.equal(await find('made-later'), undefined);
    const keyId = await bench.key(rights, { name: 'made-later' });
    bench.services.keyCache.invalidate([{ topic: 'keys', id: 'any digest' }]);
    assert.equal((await find('made-later'))?.keyId, keyId);
  });

  test('an invalidated key is read again, others are not', async () => {
    const [changed, other] = [await bench.key({ ...rights, alias: 'old' }), await bench.key(rights)];
    const kept = await find(other);
    await find(changed);
    const stored = (await bench.keys.getAnywhere(changed))!;
    await bench.keys.change(stored, async key => ({ key: { ...key, alias: 'new' }, policyIds: [] }));
    assert.equal((await find(changed))?.session.alias, 'old', 'the change is not announced to this thread');
    bench.services.keyCache.invalidate([{ topic: 'keys', id: bench.digestOf(changed) }]);
    assert.equal((await find(changed))?.session.alias, 'new');
    assert.equal(find(other), kept);
  });

  test('a deleted key is unknown', async () => {
    const keyId = await bench.key(rights);
    await find(keyId);
    await bench.keys.remove((await bench.keys.getAnywhere(keyId))!);
    bench.services.keyCache.invalidate([{ topic: 'keys', id: bench.digestOf(keyId) }]);
    assert.equal(await find(keyId), undefined);
  });

  test('a policy change invalidates its keys, by either of its ids, and no others', async () => {
    const policy = await bench.policy({ id: 'gold', rate: 5, per: 1, access_rights: { bench: {} } });
    const governed = await bench.key({ apply_policies: ['gold'] });
    const byDatabaseId = await bench.key({ apply_policies: [policy._id] });
    const other = await bench.key(rights);
    const kept = await find(other);
    for (const keyId of [governed, byDatabaseId]) assert.equal((await find(keyId))?.session.limits.rate?.rate, 5);
    await bench.policies.change(orgId, 'gold', it => ({ ...it, rate: 7 }));
    bench.services.keyCache.invalidate(
      [policy.id, policy._id].map(id => ({ topic: 'policies', id: policyChangeName(orgId, id) })),
    );
    for (const keyId of [governed, byDatabaseId]) assert.equal((await find(keyId))?.session.limits.rate?.rate, 7);
    assert.equal(find(other), kept);
  });

  test('a key whose only policy is missing is unknown until the policy exists', async () => {
    const keyId = await bench.key({ apply_policies: ['later'] });
    assert.equal(await find(keyId), undefined);
    await bench.policy({ id: 'later', access_rights: { bench: {} } });
    bench.services.keyCache.invalidate([{ topic: 'policies', id: policyChangeName(orgId, 'later') }]);
    assert.equal((await find(keyId))?.keyId, keyId);
  });

  test('keys that share a policy read it once', async () => {
    await bench.policy({ id: 'shared', access_rights: { bench: {} } });
    const [one, two] = [
      await bench.key({ apply_policies: ['shared'] }),
      await bench.key({ apply_policies: ['shared'] }),
    ];
    assert.equal(await countQueries(() => find(one)), 2);
    assert.equal(await countQueries(() => find(two)), 1);
  });

  test('unknown changes invalidate everything', async () => {
    const keyId = await bench.key(rights);
    const first = await find(keyId);
    for (const changes of [undefined, [{ topic: 'keys', id: '' }] as const]) {
      bench.services.keyCache.invalidate(changes);
      assert.notEqual(find(keyId), first);
    }
    const again = find(keyId);
    bench.services.keyCache.invalidate([{ topic: 'apis', id: '' }]);
    assert.equal(find(keyId), again, 'changes of other things do not matter');
  });
});

test('a read from before a change is not cached after it', async () => {
  const vault = createVault(createDataKey());
  const digest = keyDigest(vault, `${orgId}slow-key`);
  const row = (alias: string): FoundKeyRow => ({
    id: '1',
    org_id: orgId,
    kind: 'token',
    key_hash: 'hash',
    sealed: '',
    body: JSON.stringify({ ...rights, alias }),
    digest,
    created_at: 0,
  });
  const answers: PromiseWithResolvers<FoundKeyRow[]>[] = [];
  const store = {
    keys() {
      answers.push(Promise.withResolvers());
      return answers.at(-1)!.promise;
    },
  } as Partial<AccessStore> as AccessStore;
  const keyCache = createKeyCache({
    store,
    vault,
    settings: readSettings({}),
    clock: { now: () => 0 },
    log: createLog({ level: 'silent', format: 'json' }),
  });
  const first = keyCache.find(orgId, 'slow-key');
  assert.equal(keyCache.find(orgId, 'slow-key'), first, 'one question for all who ask meanwhile');
  keyCache.invalidate([{ topic: 'keys', id: digest }]);
  const second = keyCache.find(orgId, 'slow-key');
  assert.notEqual(second, first, 'a lookup after the change reads again');
  answers[1]!.resolve([row('new')]);
  assert.equal((await second)?.session.alias, 'new');
  answers[0]!.resolve([row('old')]);
  await first;
  assert.equal((await keyCache.find(orgId, 'slow-key'))?.session.alias, 'new');
});
