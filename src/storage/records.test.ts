import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { sql } from 'kysely';
import { onBothEngines, withRecords } from '../../tests/lifecycle/databases.ts';
import { listOpenFiles } from '../../tests/support/open-files.ts';
import { testPostgres } from '../../tests/support/services/engines.ts';
import { eventually } from '../../tests/support/upstream.ts';
import { toDatabaseProblem } from './database-errors.ts';
import { openRecords, type Records, type Topic } from './records.ts';

const insert = (records: Records, name: string) => records.db.insertInto('meta').values({ name, value: 'x' }).execute();
const names = async (records: Records, prefix: string) => {
  const rows = await records.db.selectFrom('meta').select('name').where('name', 'like', `${prefix}%`).execute();
  return rows.map(row => row.name).sort();
};
const failure = new Error('changed my mind');

withRecords('records', (given, engine) => {
  test('a write is atomic', async () => {
    const records = given();
    await records.write(async () => {
      await insert(records, 'whole-1');
      await insert(records, 'whole-2');
    });
    const broken = records.write(async () => {
      await insert(records, 'whole-3');
      throw failure;
    });
    await assert.rejects(broken, error => error === failure);
    assert.deepEqual(await names(records, 'whole'), ['whole-1', 'whole-2']);
  });

  test('uncommitted changes are visible inside the write only', async () => {
    const records = given();
    let outside: Promise<string[]> | undefined;
    const write = records.write(async () => {
      await insert(records, 'seen-1');
      assert.deepEqual(await names(records, 'seen'), ['seen-1']);
      throw failure;
    });
    if (engine === 'postgres') outside = names(records, 'seen');
    await assert.rejects(write);
    assert.deepEqual(await (outside ?? names(records, 'seen')), []);
  });

  test('a nested write joins the outer transaction', async () => {
    const records = given();
    const broken = records.write(async () => {
      await records.write(() => insert(records, 'inner-1'));
      throw failure;
    });
    await assert.rejects(broken);
    assert.deepEqual(await names(records, 'inner'), []);
  });

  test('a failed nested write rolls back the outer one, even if the error is caught', async () => {
    const records = given();
    const broken = records.write(async () => {
      await insert(records, 'caught-1');
      const inner = records.write(async () => {
        await insert(records, 'caught-2');
        throw failure;
      });
      await assert.rejects(inner);
      return 'fine';
    });
    await assert.rejects(broken, error => error === failure);
    assert.deepEqual(await names(records, 'caught'), []);
  });

  test('a failed statement rolls back the write, even if the error is caught', async () => {
    const records = given();
    await insert(records, 'twice');
    const broken = records.write(async () => {
      await insert(records, 'twice-more');
      await assert.rejects(insert(records, 'twice'));
      return 'fine';
    });
    await assert.rejects(broken, { code: 'database.conflict', status: 409 });
    assert.deepEqual(await names(records, 'twice'), ['twice']);
  });

  test('async work that outlives a write runs outside of its transaction', async () => {
    const records = given();
    const ended = Promise.withResolvers<void>();
    let left: Promise<unknown> = Promise.resolve();
    await records.write(async () => {
      left = ended.promise.then(() => records.write(() => insert(records, 'left')));
    });
    ended.resolve();
    await left;
    assert.deepEqual(await names(records, 'left'), ['left']);
  });

  test('concurrent writes all commit', async () => {
    const records = given();
    await Promise.all(
      Array.from({ length: 50 }, (_, number) => records.write(() => insert(records, `many-${number}`))),
    );
    assert.equal((await names(records, 'many')).length, 50);
  });

  test('markChanged increments the revision once for each write, and only for writes that call it', async () => {
    const records = given();
    const before = await records.revision();
    await records.write(async () => {
      for (const topic of ['apis', 'policies', 'apis'] as const) records.markChanged(topic);
      await records.write(async () => records.markChanged('keys'));
      assert.equal(await records.revision(), before);
    });
    assert.equal(await records.revision(), before + 1);
    await records.write(() => insert(records, 'untouched'));
    assert.equal(await records.revision(), before + 1);
    assert.throws(() => records.markChanged('apis'), /outside of a write/);
  });

  test('concurrent writes lose no revision', async () => {
    const records = given();
    const before = await records.revision();
    await Promise.all(Array.from({ length: 30 }, () => records.write(async () => records.markChanged('keys'))));
    assert.equal(await records.revision(), before + 30);
  });

  test('listeners receive all topics of a write once, after the commit, and none of a rollback', async () => {
    const records = given();
    const received: Topic[][] = [];
    const stop = records.onChange(topics => received.push([...topics]));
    await records.write(async () => {
      records.markChanged('apis');
      records.markChanged('certificates');
      await insert(records, 'received');
      assert.deepEqual(received, []);
    });
    assert.deepEqual(received, [['apis', 'certificates']]);
    const broken = records.write(async () => {
      records.markChanged('apis');
      throw failure;
    });
    await assert.rejects(broken);
    stop();
    await records.write(async () => records.markChanged('keys'));
    assert.equal(received.length, 1);
  });

  test('a throwing listener neither fails the write nor stops other listeners', async () => {
    const records = given();
    let received = 0;
    const stops = [
      records.onChange(() => {
        throw failure;
      }),
      records.onChange(() => void received++),
    ];
    await records.write(async () => {
      records.markChanged('apis');
      await insert(records, 'deaf');
    });
    for (const stop of stops) stop();
    assert.equal(received, 1);
    assert.deepEqual(await names(records, 'deaf'), ['deaf']);
  });

  test('explain returns the query plan', async () => {
    const records = given();
    const query = records.db.selectFrom('users').select('body').where('access_digest', '=', 'x').compile();
    assert.match(await records.explain(query), /users.*access_digest|users_access_digest_key|sqlite_autoindex_users/i);
  });
});

onBothEngines('records', fresh => {
  test('after close every query fails, and the database can be opened again', async () => {
    const { options } = await fresh();
    const records = await openRecords(options);
    await records.write(() => insert(records, 'kept'));
    await records.close();
    await assert.rejects(async () => records.revision());
    const again = await openRecords(options);
    assert.deepEqual(await names(again, 'kept'), ['kept']);
    await again.close();
  });
});

onBothEngines('opening records', (fresh, engine) => {
  test('a failed open leaves no connection behind', async () => {
    const { options } = await fresh();
    const records = await openRecords(options);
    await sql`update meta set value = '999' where name = 'schema_version'`.execute(records.db);
    const countConnections = async () => {
      const { rows } = await sql<{ pid: number }>`select pid from pg_stat_activity
        where application_name = 'gatewright' and datname = current_database()`.execute(records.db);
      return rows.length;
    };
    const before = engine === 'postgres' ? await countConnections() : 0;
    await assert.rejects(openRecords(options), { code: 'storage.newer_schema', status: 500 });
    // The server's process ends after the client's connection.
    if (engine === 'postgres') await eventually(async () => assert.equal(await countConnections(), before));
    await records.close();
    if ('file' in options) assert.equal(existsSync(`${options.file}-wal`), false, 'the last connection removes it');
  });

  test('a throwing listener is reported', async () => {
    const { options } = await fresh();
    const reported: Error[] = [];
    const records = await openRecords({ ...options, onError: error => void reported.push(error) });
    records.onChange(() => {
      throw failure;
    });
    await records.write(async () => records.markChanged('apis'));
    assert.deepEqual(reported, [failure]);
    await records.close();
  });

  test('64-bit integers are read as numbers', async () => {
    const { options } = await fresh();
    const records = await openRecords(options);
    const { rows } = await sql<{ n: number }>`select cast(5 as bigint) as n`.execute(records.db);
    assert.deepEqual(
      rows.map(({ n }) => n),
      [5],
    );
    await records.close();
  });
});

test('a SQLite file that cannot be opened is a problem with the reason, and is not left open', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'gw-unopenable-'));
  try {
    const text = join(directory, 'text.db');
    writeFileSync(text, 'this is no database, but long enough to be read as the header of one'.repeat(20));
    const folder = join(directory, 'folder.db');
    mkdirSync(folder, { mode: 0o700 });
    await assert.rejects(openRecords({ file: text }), { code: 'database.damaged', message: /not a database/ });
    await assert.rejects(openRecords({ file: folder }), { code: 'database.read_only', message: /unable to open/ });
    await assert.rejects(openRecords({ file: join(directory, 'absent', 'gw.db') }), { code: 'ENOENT' });
    assert.deepEqual(listOpenFiles(directory), []);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});

test('a purge erases deleted rows from the SQLite file, and fails while another connection reads an older state', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'gw-purge-'));
  const file = join(directory, 'gw.db');
  const records = await openRecords({ file });
  const remains = () => [file, `${file}-wal`].some(path => readFileSync(path).includes('canary'));
  await insert(records, 'canary');
  const reader = new DatabaseSync(file, { readOnly: true });
  reader.exec('begin');
  reader.prepare('select * from meta').all();
  await records.db.deleteFrom('meta').where('name', '=', 'canary').execute();
  assert.ok(remains());
  await assert.rejects(records.purgeFreedPages(), /another connection reads the database file/);
  reader.close();
  await records.purgeFreedPages();
  assert.equal(remains(), false);
  await records.close();
  rmSync(directory, { recursive: true });
});

test('a query that gets no PostgreSQL connection in time is unavailable', async ({ mock }) => {
  const { url, drop } = await testPostgres();
  const records = await openRecords({ url, connections: 1 });
  const written = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const write = records.write(async () => {
    await insert(records, 'long');
    begun.resolve();
    await written.promise;
  });
  await begun.promise;
  mock.timers.enable({ apis: ['setTimeout'] });
  let outcome = 'waiting';
  const waiting = records.revision().catch(error => {
    outcome = error.code;
  });
  await new Promise(resolve => setImmediate(resolve));
  mock.timers.tick(9999);
  await new Promise(resolve => setImmediate(resolve));
  assert.equal(outcome, 'waiting');
  mock.timers.tick(1);
  await waiting;
  assert.equal(outcome, 'database.unavailable');
  mock.timers.reset();
  written.resolve();
  await write;
  await records.close();
  await drop();
});

test('a PostgreSQL connection lost inside a write fails that write only, as unavailable', async () => {
  const { url, drop } = await testPostgres();
  const lost = Promise.withResolvers<Error>();
  const records = await openRecords({ url, onError: lost.resolve });
  const end = (pid: number) => sql`select pg_terminate_backend(${pid})`;
  const pidOf = async () =>
    (await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(records.db)).rows[0]!.pid;
  const other = await openRecords({ url });
  const broken = records.write(async () => {
    const pid = await pidOf();
    await insert(records, 'gone-1');
    await end(pid).execute(other.db);
    await insert(records, 'gone-2');
  });
  await assert.rejects(broken, {
    code: 'database.unavailable',
    status: 503,
    message: /^The database is unavailable: /,
  });
  await end(await pidOf()).execute(other.db);
  await lost.promise;
  await records.write(() => insert(records, 'gone-3'));
  assert.deepEqual(await names(records, 'gone'), ['gone-3']);
  await records.close();
  await other.close();
  await drop();
});

test('an unreachable database is reported as unavailable, whatever the reason', async () => {
  const { url, drop } = await testPostgres();
  const port = new URL(url).port;
  for (const [address, reason] of [
    ['postgres://127.0.0.1:1/gw', /ECONNREFUSED/],
    ['postgres://localhost:1/gw', /ECONNREFUSED/],
    [`postgres://postgres@127.0.0.1:${port}/absent`, /database "absent" does not exist/],
    [`postgres://nobody-known@127.0.0.1:${port}/postgres`, /role "nobody-known" does not exist/],
    [`postgres://postgres@127.0.0.1:${port}/postgres?sslmode=require`, /SSL/],
    ['postgres://[canary', /./],
  ] as const) {
    await assert.rejects(openRecords({ url: address }), (error: Error) => {
      assert.match(error.message, /^The database is unavailable: .+/, address);
      assert.match(error.message, reason, address);
      assert.doesNotMatch(error.message, /canary/);
      return true;
    });
  }
  await drop();
});

test('errors of other origin are not mapped to database problems', () => {
  for (const error of [
    Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }),
    Object.assign(new Error('open'), { code: 'ENOENT' }),
    new TypeError('bug'),
    undefined,
  ])
    assert.equal(toDatabaseProblem(error), undefined);
});
