import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { withRecords } from '../../../tests/lifecycle/databases.ts';
import { createLaneStore } from './lane-store.ts';
import { createDeliveryStore, type NewDelivery } from './store.ts';

const toDelivery = (orgId: string, hook: string, payload: string, more: Partial<NewDelivery> = {}): NewDelivery => ({
  orgId,
  hook,
  apiId: 'api',
  event: 'AuthFailure',
  name: '',
  payload,
  contentType: 'application/json',
  log: [],
  deduplicationKey: '',
  deduplicationMs: 0,
  isDead: false,
  ...more,
});

withRecords('webhook delivery queue', given => {
  const open = () => createDeliveryStore(given());
  const lanes = (holder: string) => createLaneStore(given(), holder);
  const settled = { attempts: 1, status: 200, log: [] };

  test('deliveries of a hook are claimed in insertion order', async () => {
    const [org, store] = [createPublicId(), open()];
    await store.add([toDelivery(org, 'a', '1'), toDelivery(org, 'b', '2'), toDelivery(org, 'a', '3')], 1000, 10);
    const first = (await store.next(org, 'a'))!;
    assert.equal(first.payload, '1');
    await store.recordAttempt(first, { ...settled, state: 'delivered' }, 2000);
    assert.equal((await store.next(org, 'a'))!.payload, '3');
    assert.equal((await store.next(org, 'b'))!.payload, '2');
  });

  test('the queue has the number of deliveries that wait, of all organisations, and the oldest of them', async () => {
    const store = open();
    const { waiting } = await store.readQueue();
    const [one, other] = [createPublicId(), createPublicId()];
    await store.add([toDelivery(one, 'a', '1')], 500, 10);
    await store.add([toDelivery(other, 'a', '1'), toDelivery(other, 'b', '2', { isDead: true })], 600, 10);
    assert.deepEqual(await store.readQueue(), { waiting: waiting + 2, oldestAtMs: 500 });
  });

  test('a lane belongs to one of two processes, until it is released or its lease expires', async () => {
    const [org, store, one, other] = [createPublicId(), open(), lanes('one'), lanes('other')];
    const own = (found: { orgId: string }[]) => found.filter(({ orgId }) => orgId === org).length;
    await store.add([toDelivery(org, 'a', '1')], 1000, 10);
    assert.deepEqual([own(await one.claim(1000, 500, 100)), own(await other.claim(1001, 500, 100))], [1, 0]);
    assert.equal(await one.renew({ orgId: org, hook: 'a' }, 1400, 500), true);
    assert.equal(own(await other.claim(1899, 500, 100)), 0);
    assert.equal(own(await other.claim(1900, 500, 100)), 1, 'the lease is over');
    assert.equal(await one.renew({ orgId: org, hook: 'a' }, 1901, 500), false);
    await other.release({ orgId: org, hook: 'a' }, 5000);
    assert.equal(own(await one.claim(4999, 500, 100)), 0, 'it is not due');
    assert.equal(own(await one.claim(5000, 500, 100)), 1);
  });

  test('lanes of a crashed process are free as soon as it restarts', async () => {
    const [org, store] = [createPublicId(), open()];
    await store.add([toDelivery(org, 'a', '1')], 1000, 10);
    await lanes('died').claim(1000, 1_000_000, 100);
    await lanes('died').releaseOwn();
    const found = await lanes('died').claim(1001, 500, 100);
    assert.ok(found.some(({ orgId }) => orgId === org));
  });

  test('a lane is deleted only when empty, and a later delivery reopens it', async () => {
    const [org, store, one] = [createPublicId(), open(), lanes('leaver')];
    const lane = { orgId: org, hook: 'a' };
    const has = async (atMs: number) => (await one.claim(atMs, 500, 100)).some(({ orgId }) => orgId === org);
    await store.add([toDelivery(org, 'a', '1')], 1000, 10);
    assert.equal(await has(1000), true);
    await one.closeIfEmpty(lane);
    assert.equal(await has(1001), true, 'something waits');
    await store.recordAttempt((await store.next(org, 'a'))!, { ...settled, state: 'delivered' }, 1001);
    await one.closeIfEmpty(lane);
    assert.equal(await has(9000), false);
    await store.add([toDelivery(org, 'a', '2')], 9001, 10);
    assert.equal(await has(9001), true);
  });

  test('the queue of each organisation is bounded separately', async () => {
    const [org, other, store] = [createPublicId(), createPublicId(), open()];
    await store.add([toDelivery(other, 'a', 'x'), toDelivery(other, 'a', 'y')], 1000, 3);
    const some = ['1', '2', '3', '4', '5'].map(payload => toDelivery(org, 'a', payload));
    const { added, dropped } = await store.add(some, 1000, 3);
    assert.deepEqual([added.map(it => it.payload), dropped], [['1', '2', '3'], 2]);
    assert.equal((await store.add(some, 1000, 3)).dropped, 5);
    assert.equal(await store.countWaiting(org), 3);
  });

  test('deliveries with the same deduplication key are added once until it expires', async () => {
    const [org, store] = [createPublicId(), open()];
    const cool = toDelivery(org, 'a', 'x', { deduplicationKey: createPublicId(), deduplicationMs: 1000 });
    assert.equal((await store.add([cool, cool], 5000, 10)).added.length, 1);
    assert.equal((await store.add([cool], 5999, 10)).added.length, 0);
    assert.equal((await store.add([cool], 6000, 10)).added.length, 1);
  });

  test('dead deliveries are retried, one or all of a hook, before later ones', async () => {
    const [org, store] = [createPublicId(), open()];
    await store.add(
      ['1', '2', '3'].map(payload => toDelivery(org, 'a', payload)),
      1000,
      10,
    );
    for (let left = 2; left > 0; left--)
      await store.recordAttempt(
        (await store.next(org, 'a'))!,
        { attempts: 8, status: 500, log: [], state: 'dead' },
        2000,
      );
    const { items } = await store.page({ orgId: org, state: 'dead' }, { page: 1, size: 10 });
    assert.deepEqual(
      items.map(it => it.payload),
      ['2', '1'],
    );
    assert.equal(await store.retry(createPublicId(), { hook: 'a' }, 3000), 0, 'of another organisation');
    assert.equal(await store.retry(org, { id: items[1]!.publicId }, 3000), 1);
    assert.equal((await store.next(org, 'a'))!.payload, '1');
    assert.equal((await store.next(org, 'a'))!.attempts, 0);
    assert.equal(await store.retry(org, { hook: 'a' }, 3000), 1);
  });

  test('finished deliveries are pruned by number and age; waiting ones are kept', async () => {
    const [org, store] = [createPublicId(), open()];
    await store.add(
      ['1', '2', '3', '4'].map(payload => toDelivery(org, 'a', payload)),
      1000,
      10,
    );
    for (let at = 0; at < 3; at++)
      await store.recordAttempt((await store.next(org, 'a'))!, { ...settled, state: 'delivered' }, 2000 + at);
    const listPayloads = async () =>
      (await store.page({ orgId: org }, { page: 0, size: 1 })).items.map(it => it.payload);
    await store.prune(2001, 100_000, 0);
    assert.deepEqual(await listPayloads(), ['4', '3', '2']);
    await store.prune(0, 1, 0);
    assert.deepEqual(await listPayloads(), ['4', '3']);
  });

  test('a list without pages is complete, or refused where it has more than a thousand deliveries', async () => {
    const [org, store] = [createPublicId(), open()];
    const dead = Array.from({ length: 1000 }, (_, n) => toDelivery(org, 'a', String(n), { isDead: true }));
    await store.add(dead, 1000, 2000);
    assert.equal((await store.page({ orgId: org }, { page: -1, size: 10 })).items.length, 1000);
    await store.add(dead.slice(0, 1), 1000, 2000);
    await assert.rejects(store.page({ orgId: org }, { page: -1, size: 10 }), { code: 'database.too_many' });
    assert.equal((await store.page({ orgId: org }, { page: 101, size: 10 })).items.length, 1);
  });
});
