import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { type Kysely, sql } from 'kysely';
import pg from 'pg';
import { type EmptyDatabase, onBothEngines } from '../../tests/lifecycle/databases.ts';
import { testPostgres } from '../../tests/support/services/engines.ts';
import { createCollection } from './collection.ts';
import { createMetaStore } from './meta.ts';
import { migrate } from './migrate.ts';
import { createTable, type Migration } from './migration.ts';
import { migrations } from './migrations/list.ts';
import { createPostgresKysely } from './postgres.ts';
import { openRecords } from './records.ts';
import { createSqliteKysely, openSqlite } from './sqlite.ts';
import type { Tables } from './tables.ts';

const openDatabase = ({ options }: EmptyDatabase): Kysely<Tables> =>
  'url' in options
    ? createPostgresKysely<Tables>({ url: options.url, connections: 2, onLost: () => undefined })
    : createSqliteKysely<Tables>(openSqlite(options.file));

const making = (table: string, after: () => Promise<void> = async () => {}): Migration => ({
  name: table,
  async up(schema) {
    await createTable(schema, table, { id: 'text primary key' });
    await after();
  },
});

async function tableNames(db: Kysely<Tables>): Promise<string[]> {
  return (await db.introspection.getTables()).map(table => table.name).sort();
}

onBothEngines('migrations', (fresh, engine) => {
  test('an empty database gets every table, and a second run is a no-op', async () => {
    const db = openDatabase(await fresh());
    assert.equal(await migrate(db, engine), migrations.length);
    const names = await tableNames(db);
    for (const name of ['meta', 'organisations', 'users', 'apis', 'keys', 'audit'])
      assert.ok(names.includes(name), name);
    assert.equal(await migrate(db, engine), 0);
    assert.deepEqual(await tableNames(db), names);
    await db.destroy();
  });

  test('an older database gets only the missing migrations, in order', async () => {
    const db = openDatabase(await fresh());
    const ran: string[] = [];
    const step = (name: string) => making(name, async () => void ran.push(name));
    const steps = [step('one'), step('two'), step('three')];
    assert.equal(await migrate(db, engine, steps.slice(0, 1)), 1);
    assert.equal(await migrate(db, engine, steps), 2);
    assert.deepEqual(ran, ['one', 'two', 'three']);
    await db.destroy();
  });

  test('versions and types of stored APIs are indexed, sizes of revisions and expiries of keys recorded', async () => {
    const db = openDatabase(await fresh());
    const older = migrations.slice(
      0,
      migrations.findIndex(({ name }) => name === 'api-versions'),
    );
    await migrate(db, engine, older);
    const api = (id: string, versions: Record<string, string>) => ({
      ...{ id, org_id: 'o', api_id: `public-${id}`, kind: 'classic', active: 1, name: id, name_fold: id, domain: '' },
      ...{
        listen_path: `/${id}`,
        created_at: 1,
        updated_at: 1,
        body: JSON.stringify({ summary: { versions, auth_types: ['jwt', 'jwt'] } }),
      },
    });
    const key = (id: string, members: object) => ({
      ...{ id, org_id: 'o', created_at: 1, digest: id, key_hash: id, kind: 'token', sealed: '' },
      body: JSON.stringify(members),
    });
    const keys = [key('k1', { expires: 7, is_inactive: true }), key('k2', { expires: -1 }), key('k3', {})];
    await db.insertInto('keys').values(keys).execute();
    const values = [api('base', { v1: 'one', v2: 'two', again: 'two' }), api('plain', {})];
    await db.insertInto('apis').values(values).execute();
    await sql`insert into revisions (kind, org_id, object_id, public_id, revision, at, action, author, body)
      values ('apis', 'o', 'base', 'b', 1, 1, 'created', '', 'four')`.execute(db);
    await migrate(db, engine);
    const versions = await db.selectFrom('api_versions').selectAll().orderBy('version').execute();
    assert.deepEqual(
      versions.map(({ org_id, version, api: base }) => [org_id, version, base]),
      [
        ['o', 'one', 'base'],
        ['o', 'two', 'base'],
      ],
    );
    const labels = await db.selectFrom('api_labels').select(['kind', 'label', 'api']).orderBy('api').execute();
    assert.deepEqual(
      labels.map(({ kind, label, api: of }) => [kind, label, of]),
      [
        ['auth_type', 'jwt', 'base'],
        ['auth_type', 'jwt', 'plain'],
      ],
    );
    const rows = await db.selectFrom('keys').select(['expires_at', 'inactive']).orderBy('id').execute();
    assert.deepEqual(
      rows.map(row => [Number(row.expires_at), Number(row.inactive)]),
      [
        [7, 1],
        [0, 0],
        [0, 0],
      ],
    );
    const [revision] = await db.selectFrom('revisions').select('bytes').execute();
    assert.equal(Number(revision?.bytes), 4);
    await db.destroy();
  });

  test('tags of stored products become shared tags without those in the document, and posts are indexed', async () => {
    const db = openDatabase(await fresh());
    const position = migrations.findIndex(({ name }) => name === 'portal-publishing');
    await migrate(db, engine, migrations.slice(0, position));
    const createdAt = 1_700_000_000_000;
    const tag = (id: number, name: string) => ({
      id,
      cid: `c${id}`,
      name,
      body: JSON.stringify({ ID: id, Name: name }),
    });
    await db.insertInto('portal_tags').values(tag(7, 'shared')).execute();
    const product = (id: number, Tags?: string[]) => ({
      ...{ id, cid: `p${id}`, provider_id: 1, reference_id: `r${id}`, name: `n${id}`, path: `path${id}` },
      body: JSON.stringify({ ID: id, Name: `n${id}`, CreatedAt: createdAt, ...(Tags && { Tags }) }),
    });
    // More than one read of the migration.
    const plain = Array.from({ length: 510 }, (_each, at) => product(at + 10, ['new']));
    const products = [product(1, ['shared', 'new', 'new']), product(2), product(3, []), product(4, ['2024']), ...plain];
    await db.insertInto('portal_products').values(products).execute();
    const post = (id: number, Tags: number[]) => ({
      ...{ id, path: `post${id}`, status: 'draft' },
      body: JSON.stringify({ ID: id, Tags }),
    });
    await db
      .insertInto('portal_posts')
      .values([post(1, [7, 7, 99]), post(2, [])])
      .execute();
    await migrate(db, engine);
    const tags = await db.selectFrom('portal_tags').selectAll().execute();
    assert.deepEqual(tags.map(({ name }) => name).sort(), ['new', 'shared', 'tag-2024']);
    for (const { id, cid, name, body } of tags)
      if (name !== 'shared')
        assert.deepEqual(JSON.parse(body), {
          ID: Number(id),
          CID: cid,
          Name: name,
          CreatedAt: createdAt,
          UpdatedAt: createdAt,
        });
    const pairs = await db
      .selectFrom('portal_product_tags')
      .innerJoin('portal_tags', 'portal_tags.id', 'tag_id')
      .select(['product_id', 'name'])
      .orderBy('product_id')
      .orderBy('name')
      .execute();
    assert.deepEqual(
      pairs.map(({ product_id, name }) => `${product_id} ${name}`),
      ['1 new', '1 shared', '4 tag-2024', ...plain.map(({ id }) => `${id} new`)],
    );
    const bodies = await db.selectFrom('portal_products').select('body').orderBy('id').execute();
    assert.deepEqual(
      bodies.map(({ body }) => JSON.parse(body)),
      products.map(({ id, name }) => ({ ID: id, Name: name, CreatedAt: createdAt })),
    );
    const posts = await db.selectFrom('portal_post_tags').selectAll().execute();
    assert.deepEqual(
      posts.map(({ post_id, tag_id }) => [Number(post_id), Number(tag_id)]),
      [[1, 7]],
    );
    await db.destroy();
  });

  test('stored products that are hidden or featured get their columns', async () => {
    const db = openDatabase(await fresh());
    const position = migrations.findIndex(({ name }) => name === 'portal-offer');
    await migrate(db, engine, migrations.slice(0, position));
    const product = (id: number, flags: object) => ({
      ...{ id, cid: `p${id}`, provider_id: 1, reference_id: `r${id}`, name: `n${id}`, path: `path${id}` },
      body: JSON.stringify({ ID: id, ...flags }),
    });
    const plain = Array.from({ length: 510 }, (_each, at) => product(at + 10, { Hidden: false, Feature: false }));
    const marked = [product(1, { Hidden: true }), product(2, { Feature: true }), product(999, { Hidden: true })];
    await db
      .insertInto('portal_products')
      .values([...marked, ...plain])
      .execute();
    await migrate(db, engine);
    const rows = await db.selectFrom('portal_products').select(['id', 'hidden', 'featured']).orderBy('id').execute();
    assert.deepEqual(
      rows.filter(it => it.hidden + it.featured > 0).map(it => [Number(it.id), it.hidden, it.featured]),
      [
        [1, 1, 0],
        [2, 0, 1],
        [999, 1, 0],
      ],
    );
    await db.destroy();
  });

  test('stored products get the words of their texts', async () => {
    const db = openDatabase(await fresh());
    const position = migrations.findIndex(({ name }) => name === 'portal-product-words');
    await migrate(db, engine, migrations.slice(0, position));
    const product = (id: number, texts: object) => ({
      ...{ id, cid: `p${id}`, provider_id: 1, reference_id: `r${id}`, name: `n${id}`, path: `path${id}` },
      body: JSON.stringify({ ID: id, ...texts }),
    });
    const more = Array.from({ length: 110 }, (_each, at) => product(at + 10, { Name: 'Orders' }));
    const api = { Name: 'Ledger', Description: 'of 2026' };
    const first = product(1, { Name: 'Orders', Content: '<b>orders</b>', APIDetails: [api] });
    await db
      .insertInto('portal_products')
      .values([first, product(2, {}), ...more])
      .execute();
    await migrate(db, engine);
    const rows = await db
      .selectFrom('portal_product_words')
      .selectAll()
      .orderBy('product_id')
      .orderBy('word')
      .execute();
    assert.deepEqual(
      rows.map(({ product_id, word }) => `${product_id} ${word}`),
      ['1 2026', '1 ledger', '1 of', '1 orders', ...more.map(({ id }) => `${id} orders`)],
    );
    await db.destroy();
  });

  test('a failed migration rolls back the whole run, which can be repeated', async () => {
    const db = openDatabase(await fresh());
    await migrate(db, engine, [making('one')]);
    const broken = making('three', () => Promise.reject(new Error('step failed')));
    await assert.rejects(migrate(db, engine, [making('one'), making('two'), broken]), /step failed/);
    assert.deepEqual(await tableNames(db), ['meta', 'one']);
    assert.equal(await migrate(db, engine, [making('one'), making('two'), making('three')]), 2);
    assert.deepEqual(await tableNames(db), ['meta', 'one', 'three', 'two']);
    await db.destroy();
  });

  test('concurrent starts on one empty database all succeed, and one of them migrates', async () => {
    const { options } = await fresh();
    const source = `
      import { openRecords } from ${JSON.stringify(new URL('records.ts', import.meta.url).href)};
      import { workerData, parentPort } from 'node:worker_threads';
      const records = await openRecords(workerData);
      parentPort.postMessage(await records.revision());
      await records.close();`;
    const one = async () => {
      const url = new URL(`data:text/javascript,${encodeURIComponent(source)}`);
      const worker = new Worker(url, { workerData: options });
      // Both are awaited from the start: the end may come right behind the message.
      const [[revision]] = await Promise.all([once(worker, 'message'), once(worker, 'exit')]);
      return revision;
    };
    assert.deepEqual(await Promise.all([one(), one(), one()]), [0, 0, 0]);
  });

  test('a database of a newer release is rejected and unchanged', async () => {
    const { options } = await fresh();
    const records = await openRecords(options);
    await createMetaStore(records).set('schema_version', '999');
    await records.close();
    await assert.rejects(openRecords(options), {
      code: 'storage.newer_schema',
      status: 500,
      message:
        'The database has schema version 999, ' +
        `but this program supports versions up to ${migrations.length}. Start the release that created it, or a newer one.`,
    });
  });
});

test('text sorts bytewise also where PostgreSQL’s default collation is a language', async () => {
  const { url, drop } = await testPostgres();
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  const name = `${new URL(url).pathname.slice(1)}_de`;
  await admin.query(`create database ${name} template template0 locale_provider icu icu_locale 'de' locale 'C'`);
  const address = new URL(url);
  address.pathname = `/${name}`;
  const records = await openRecords({ url: address.href });
  const { rows } = await sql<{ n: string }>`select n from (values ('a'), ('B')) as t(n) order by n`.execute(records.db);
  assert.deepEqual(
    rows.map(row => row.n),
    ['a', 'B'],
    'the database itself sorts as the language does',
  );
  const organisations = createCollection<'organisations', { id: string }>(records, 'organisations', ({ id }) => ({
    id,
    name: id,
    created_at: 0,
  }));
  for (const id of ['é', 'a', 'B', '_']) await organisations.insert({ id });
  const sorted = await organisations.all({ order: ['name'] });
  assert.deepEqual(
    sorted.map(it => it.id),
    ['B', '_', 'a', 'é'],
  );
  await records.close();
  await admin.query(`drop database ${name} with (force)`);
  await admin.end();
  await drop();
});
