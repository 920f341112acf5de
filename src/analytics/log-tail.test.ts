import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { sql } from 'kysely';
import { createVault } from '#base/vault.ts';
import { withRecords } from '../../tests/lifecycle/databases.ts';
import { batchOf, noon, someApi } from '../../tests/support/records.ts';
import { forEachCall } from './batch.ts';
import { createLogPositions } from './log-position.ts';
import { createLogStore, type LogEntry, type LogQuery } from './log-store.ts';
import { createLogTail } from './log-tail.ts';
import { toLogEntry } from './logged-call.ts';

const createQuery = (orgId: string): LogQuery => ({ orgId, from: noon - 1, to: noon + 1000, failed: false });

test('event ids of a log stream have one length, and open for their own organisation only', () => {
  const vault = createVault(randomBytes(32));
  const [own, foreign] = [createLogPositions(vault, 'a'), createLogPositions(vault, 'b')];
  const ids = [1, 7_000_000_000].map(own.seal);
  assert.equal(ids[0]!.length, ids[1]!.length);
  assert.deepEqual(ids.map(own.open), [1, 7_000_000_000]);
  for (const text of [foreign.seal(1), '1', '', 'x'.repeat(5000), undefined]) assert.equal(own.open(text), undefined);
});

withRecords('Log tailing', given => {
  async function add(orgId: string, paths: readonly string[]): Promise<void> {
    const entries: LogEntry[] = [];
    forEachCall(batchOf(paths.map(path => ({ path, api: { ...someApi, orgId } }))), record => {
      entries.push(toLogEntry(record, 0));
    });
    await createLogStore(given()).add(entries);
  }
  const listPaths = (events: readonly { data: unknown }[]) => events.map(({ data }) => (data as { path: string }).path);

  test('a poll has the requests since the last one, and a client that reconnects continues after its last', async () => {
    const logs = createLogStore(given());
    await add('a', ['/before']);
    const open = (lastId?: number) => createLogTail({ logs, lastId, sealId: String, formatId: it => String(it.rowId) });
    const tail = await open();
    assert.deepEqual(await tail(createQuery('a')), []);
    await add('a', ['/1', '/2']);
    await add('b', ['/foreign']);
    const events = await tail(createQuery('a'));
    assert.deepEqual(listPaths(events), ['/1', '/2']);
    assert.deepEqual(await tail(createQuery('a')), []);
    await add('a', ['/3']);
    assert.deepEqual(listPaths(await tail(createQuery('a'))), ['/3']);
    const resumed = await open(Number(events[0]!.id));
    assert.deepEqual(listPaths(await resumed(createQuery('a'))), ['/2', '/3']);
  });

  test('a poll reads the newest rows by id, whatever the number of requests of the organisation', async () => {
    const logs = createLogStore(given());
    for (let n = 0; n < 10; n++)
      await add(
        'many',
        Array.from({ length: 500 }, (_, at) => `/${n}/${at}`),
      );
    await sql`analyze`.execute(given().db);
    const last = await logs.findLastId();
    const plan = await given().explain(logs.buildTailing(createQuery('many'), last - 10, 2000).compile());
    assert.match(plan, /INTEGER PRIMARY KEY \(rowid>\?\)|logs_pkey/, plan);
    assert.doesNotMatch(plan, /TEMP B-TREE|logs_newest/, plan);
  });
});
