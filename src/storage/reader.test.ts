import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { onBothEngines } from '../../tests/lifecycle/databases.ts';
import { testPostgres } from '../../tests/support/services/engines.ts';
import type { Database } from '../../tests/support/services/postgres.ts';
import { freePort } from '../../tests/support/services/server.ts';
import { eventually } from '../../tests/support/upstream.ts';
import { openReader } from './open-reader.ts';
import { maxPreparedStatements, type Reader } from './reader.ts';
import { openRecords, type Records } from './records.ts';

onBothEngines('database reader of traffic threads', fresh => {
  let records: Records;
  let reader: Reader;
  before(async () => {
    const { options } = await fresh();
    records = await openRecords(options);
    await records.write(async () => {
      for (const name of ['a', 'b', 'c']) await records.db.insertInto('meta').values({ name, value: name }).execute();
    });
    reader = await openReader(options);
  });
  after(async () => {
    await reader?.close();
    await records?.close();
  });
  const names = async (sql: string, ...values: string[]) =>
    (await reader.rows<{ name: string }>(sql, values)).map(it => it.name);

  test('values are bound in their order, also when a statement is repeated', async () => {
    for (const [first, second] of [
      ['a', 'b'],
      ['b', 'c'],
      ["a' or '1'='1", 'c'],
    ] as const)
      assert.deepEqual(
        await names('select name from meta where name in (?, ?) and name <> ? order by name', first, second, 'b'),
        [first, second].filter(name => /^[ac]$/.test(name)),
      );
  });

  test('more statements than are kept ready are all answered', async () => {
    for (let n = 0; n <= maxPreparedStatements + 1; n++)
      await names(`select name from meta where name = ? limit ${n + 1}`, 'a');
    assert.deepEqual(await names('select name from meta where name = ? limit 1', 'a'), ['a']);
  });

  test('what is committed is read at once', async () => {
    await records.db.insertInto('meta').values({ name: 'late', value: '' }).execute();
    assert.deepEqual(await names('select name from meta where name = ?', 'late'), ['late']);
  });
});

test('the SQLite reader cannot write', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'gw-reader-'));
  const file = join(directory, 'gw.db');
  const records = await openRecords({ file });
  const reader = await openReader({ file });
  assert.throws(() => reader.rows(`insert into meta (name, value) values ('x', 'x')`, []), /readonly database/);
  await reader.close();
  await records.close();
  rmSync(directory, { recursive: true });
});

describe('PostgreSQL reader', () => {
  let database: Database;
  let admin: pg.Client;
  before(async () => {
    database = await testPostgres();
    admin = new pg.Client({ connectionString: database.url });
    await admin.connect();
  });
  after(async () => {
    await admin.end();
    await database.drop();
  });
  const backends = async () =>
    (
      await admin.query<{ pid: number }>(
        `select pid from pg_stat_activity where application_name = 'gatewright traffic' and datname = current_database()`,
      )
    ).rows.map(it => it.pid);

  test('a connection is used again after an answer, and not after a failure', async () => {
    const reader = await openReader({ url: database.url, connections: 1 });
    const pid = async () => (await reader.rows<{ pid: number }>('select pg_backend_pid() as pid', []))[0]!.pid;
    const first = await pid();
    assert.equal(await pid(), first);
    await assert.rejects(async () => reader.rows('select nonsense', []), { code: '42703' });
    const second = await pid();
    assert.notEqual(second, first);
    await reader.close();
  });

  for (const connections of [2, undefined])
    test(`no more than ${connections ?? 'the default number of'} connections are opened, and the rest wait`, async () => {
      const expected = connections ?? 4;
      const reader = await openReader({ url: database.url, ...(connections ? { connections } : {}) });
      await admin.query('select pg_advisory_lock(7)');
      const waiting = Array.from({ length: 6 }, () => reader.rows('select pg_advisory_xact_lock_shared(7)', []));
      await eventually(async () => assert.equal((await backends()).length, expected));
      await admin.query('select pg_advisory_unlock(7)');
      assert.equal((await Promise.all(waiting)).length, 6);
      assert.equal((await backends()).length, expected);
      await reader.close();
    });

  test('queries beyond the queue limit are refused, and those in the queue are answered', async () => {
    const reader = await openReader({ url: database.url, connections: 1 });
    await admin.query('select pg_advisory_lock(8)');
    const waiting = Array.from({ length: 1001 }, () => reader.rows('select pg_advisory_xact_lock_shared(8)', []));
    await assert.rejects(async () => reader.rows('select 1', []), {
      code: 'database.unavailable',
      message: /too many requests wait for a connection/,
    });
    await admin.query('select pg_advisory_unlock(8)');
    assert.equal((await Promise.all(waiting)).length, 1001);
    await reader.close();
  });

  test('a lost connection is reported, fails its query as unavailable, and the next query gets a new one', async () => {
    const lost: Error[] = [];
    const reader = await openReader({ url: database.url, connections: 1, onLost: error => void lost.push(error) });
    await admin.query('select pg_advisory_lock(9)');
    const waiting = assert.rejects(async () => reader.rows('select pg_advisory_xact_lock_shared(9)', []), {
      code: 'database.unavailable',
    });
    await eventually(async () => assert.equal((await backends()).length, 1));
    await admin.query('select pg_terminate_backend($1)', await backends());
    await waiting;
    await admin.query('select pg_advisory_unlock(9)');
    assert.deepEqual(await reader.rows('select 1 as one', []), [{ one: 1 }]);
    await admin.query('select pg_terminate_backend($1)', await backends());
    await eventually(() => assert.equal(lost.length, 1));
    assert.deepEqual(await reader.rows('select 1 as one', []), [{ one: 1 }]);
    await reader.close();
  });

  test('a query without an answer in time is unavailable, and its connection is not used again', async ({ mock }) => {
    // From the start: the pool clears timers that it started itself.
    mock.timers.enable({ apis: ['setTimeout'] });
    const reader = await openReader({ url: database.url, connections: 1 });
    const pid = async () => (await reader.rows<{ pid: number }>('select pg_backend_pid() as pid', []))[0]!.pid;
    const first = await pid();
    await admin.query('select pg_advisory_lock(10)');
    let outcome = 'waiting';
    const waiting = (async () => reader.rows('select pg_advisory_xact_lock_shared(10)', []))().catch(error => {
      outcome = error.code;
    });
    await eventually(async () => {
      const { rows } = await admin.query('select wait_event_type from pg_stat_activity where pid = $1', [first]);
      assert.equal(rows[0].wait_event_type, 'Lock');
    });
    mock.timers.tick(9999);
    await new Promise(resolve => setImmediate(resolve));
    assert.equal(outcome, 'waiting');
    mock.timers.tick(1);
    await waiting;
    assert.equal(outcome, 'database.unavailable');
    mock.timers.reset();
    await admin.query('select pg_advisory_unlock(10)');
    assert.notEqual(await pid(), first);
    await reader.close();
  });

  test('a database that accepts connections and never answers is unavailable', async () => {
    const sockets: Socket[] = [];
    const silent = createServer(socket => void sockets.push(socket.on('error', () => undefined)));
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const reader = await openReader({ url: `postgresql://postgres@127.0.0.1:${port}/postgres` });
    await assert.rejects(async () => reader.rows('select 1', []), { code: 'database.unavailable' });
    for (const socket of sockets) socket.destroy();
    silent.close();
    await reader.close();
  });

  test('a database that refuses connections is unavailable', async () => {
    const reader = await openReader({ url: `postgresql://postgres@127.0.0.1:${await freePort()}/postgres` });
    await assert.rejects(async () => reader.rows('select 1', []), {
      code: 'database.unavailable',
      message: /ECONNREFUSED/,
    });
    await reader.close();
  });
});
