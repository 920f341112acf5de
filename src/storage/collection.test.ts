import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { problems } from '#base/problems.ts';
import { withRecords } from '../../tests/lifecycle/databases.ts';
import { columnContains, createCollection, type Query } from './collection.ts';
import type { Records } from './records.ts';

interface Hook {
  id: string;
  org: string;
  name: string;
  count: number;
}

const problem = problems('test', { taken: { status: 409, message: 'Taken' } });

const hooks = (records: Records) =>
  createCollection<'hooks', Hook>(
    records,
    'hooks',
    it => ({ id: it.id, org_id: it.org, webhook_id: it.id, name: it.name, created_at: it.count }),
    problem.taken,
  );
const hook = (org: string, id: string, more: Partial<Hook> = {}): Hook => ({ id, org, name: id, count: 0, ...more });

withRecords('collections', given => {
  test('a stored document is read back unchanged, whatever its text', async () => {
    const store = hooks(given());
    const odd = hook('odd', 'odd', { name: `'";--\\ %_ \u{1F600} é \u2028 \ud800` });
    await store.insert(odd);
    assert.deepEqual(await store.find({ id: 'odd' }), odd);
    assert.equal(await store.find({ org_id: 'odd', id: 'other' }), undefined);
    assert.equal(await store.find({ org_id: 'other', id: 'odd' }), undefined);
  });

  test('a hundred concurrent changes of one record lose none', async () => {
    const store = hooks(given());
    await store.insert(hook('sum', 'sum'));
    const add = () => store.change({ id: 'sum' }, it => ({ ...it, count: it.count + 1 }));
    await Promise.all(Array.from({ length: 100 }, add));
    assert.equal((await store.find({ id: 'sum' }))?.count, 100);
  });

  test('changing an absent record does nothing, and a failed change is rolled back', async () => {
    const store = hooks(given());
    assert.equal(await store.change({ id: 'absent' }, () => assert.fail('called')), undefined);
    await store.insert(hook('same', 'same'));
    const broken = store.change({ id: 'same' }, () => {
      throw new Error('no');
    });
    await assert.rejects(broken, /^Error: no$/);
    assert.deepEqual(await store.find({ id: 'same' }), hook('same', 'same'));
  });

  test('a duplicate identity is rejected with the store’s own problem, on insert and on change', async () => {
    const store = hooks(given());
    await store.insert(hook('one', 'one-1'));
    await store.insert(hook('one', 'one-2'));
    const refused = { code: 'test.taken', status: 409 };
    await assert.rejects(store.insert(hook('one', 'one-1')), refused);
    await assert.rejects(
      store.change({ id: 'one-1' }, it => ({ ...it, id: 'one-2' })),
      refused,
    );
    assert.equal(await store.count({ org_id: 'one' }), 2);
  });

  test('a collection without a problem of its own reports a conflict', async () => {
    const store = createCollection<'hooks', Hook>(given(), 'hooks', it => ({
      id: it.id,
      org_id: it.org,
      webhook_id: it.id,
      name: it.name,
      created_at: 0,
    }));
    await store.insert(hook('plain', 'plain'));
    await assert.rejects(store.insert(hook('plain', 'plain')), { code: 'database.conflict', status: 409 });
  });

  test('replace and remove return whether a record existed, and affect no other', async () => {
    const store = hooks(given());
    await store.insert(hook('gone', 'gone-1'));
    await store.insert(hook('gone', 'gone-2'));
    assert.equal(await store.replace({ id: 'gone-1', org_id: 'other' }, hook('x', 'x')), false);
    assert.equal(await store.replace({ id: 'gone-1' }, hook('gone', 'gone-1', { name: 'new' })), true);
    assert.equal((await store.find({ id: 'gone-1' }))?.name, 'new');
    assert.equal(await store.remove({ id: 'gone-1', org_id: 'other' }), false);
    assert.equal(await store.remove({ id: 'gone-1' }), true);
    assert.equal(await store.remove({ id: 'gone-1' }), false);
    assert.equal(await store.count({ org_id: 'gone' }), 1);
  });

  test('pages start at 1, are empty past the end, and below 1 the list is unpaged', async () => {
    const store = hooks(given());
    for (const number of [1, 2, 3, 4, 5]) await store.insert(hook('page', `page-${number}`, { count: number }));
    const page = async (number: number, org = 'page') => {
      const found = await store.page({ where: { org_id: org }, order: ['-created_at'] }, { page: number, size: 2 });
      return { ...found, items: found.items.map(it => it.count) };
    };
    assert.deepEqual(await page(1), { items: [5, 4], pages: 3, total: 5 });
    assert.deepEqual(await page(3), { items: [1], pages: 3, total: 5 });
    assert.deepEqual(await page(4), { items: [], pages: 3, total: 5 });
    assert.deepEqual(await page(1_000_000), { items: [], pages: 3, total: 5 });
    for (const number of [0, -1, -1_000_000])
      assert.deepEqual(await page(number), { items: [5, 4, 3, 2, 1], pages: 1, total: 5 });
    assert.deepEqual(await page(1, 'nobody'), { items: [], pages: 1, total: 0 });
  });

  test('a substring search escapes %, _ and \\', async () => {
    const store = hooks(given());
    const texts = ['100%', '100x', 'a_b', 'axb', 'a\\b', 'a\\_b', 'Straße', 'STRASSE', "o'hara"];
    for (const [number, name] of texts.entries()) await store.insert(hook('find', `find-${number}`, { name }));
    const findItems = async (text: string) => {
      const filter = (query: Query) => query.where(columnContains('name', text));
      const items = await store.all({ where: { org_id: 'find' }, filter, order: ['id'] });
      assert.equal(await store.count({ org_id: 'find' }, filter), items.length);
      return items.map(it => it.name);
    };
    assert.deepEqual(await findItems('0%'), ['100%']);
    assert.deepEqual(await findItems('a_b'), ['a_b']);
    assert.deepEqual(await findItems('_b'), ['a_b', 'a\\_b']);
    assert.deepEqual(await findItems('\\'), ['a\\b', 'a\\_b']);
    assert.deepEqual(await findItems('\\_'), ['a\\_b']);
    assert.deepEqual(await findItems('traß'), ['Straße']);
    assert.deepEqual(await findItems('ASS'), ['STRASSE']);
    assert.deepEqual(await findItems('ass'), []);
    assert.deepEqual(await findItems("'"), ["o'hara"]);
    assert.equal((await findItems('')).length, texts.length);
  });

  test('text sorts bytewise', async () => {
    const store = hooks(given());
    const sorted = ['', ' b', '-', 'B', 'Z', '_', 'a', 'aB', 'a_', 'ab', 'z', 'é', 'ﬀ', '\u{1F600}'];
    for (const [number, name] of sorted.toReversed().entries())
      await store.insert(hook('sort', `sort-${number}`, { name }));
    const listNames = async (order: 'name' | '-name') =>
      (await store.all({ where: { org_id: 'sort' }, order: [order] })).map(it => it.name);
    assert.deepEqual(await listNames('name'), sorted);
    assert.deepEqual(await listNames('-name'), sorted.toReversed());
  });

  test('records with a serial id get the next one, in the document too', async () => {
    interface Entry {
      id: number;
      actor: string;
    }
    const rest = { org_id: 'n', action: '', method: '', url: '', status: 0, ip: '', at: 0 };
    const entries = createCollection<'audit', Entry>(given(), 'audit', ({ actor }) => ({ ...rest, actor }));
    const made = await Promise.all(
      ['a', 'b', 'c'].map(actor => entries.insertNumbered({ id: 0, actor }, (doc, id) => ({ ...doc, id }))),
    );
    assert.equal(new Set(made.map(it => it.id)).size, 3);
    for (const entry of made) {
      assert.ok(entry.id > 0);
      assert.deepEqual(await entries.find({ id: entry.id }), entry);
    }
    const last = Math.max(...made.map(it => it.id));
    await entries.remove({ id: last });
    const next = await entries.insertNumbered({ id: 0, actor: 'd' }, (doc, id) => ({ ...doc, id }));
    assert.ok(next.id > last, 'a number is never given twice');
  });

  test('an unpaged list is bounded', async () => {
    const records = given();
    await sql`
      with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 100001)
      insert into hooks (id, org_id, created_at, body, webhook_id, name)
      select 'bound' || n, 'bound', n, '{}', 'bound' || n, '' from numbers`.execute(records.db);
    const store = hooks(records);
    const asked = { where: { org_id: 'bound' }, order: ['id'] } as const;
    const refused = {
      code: 'database.too_many',
      status: 400,
      message: 'More than 100000 items: request them in pages',
    };
    await assert.rejects(store.all(asked), refused);
    await assert.rejects(store.page(asked, { page: -1, size: 10 }), refused);
    assert.equal((await store.page(asked, { page: 10_001, size: 10 })).items.length, 1);
    await store.remove({ id: 'bound1' });
    assert.equal((await store.all(asked)).length, 100_000);
  });
});
