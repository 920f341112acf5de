import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { sql } from 'kysely';
import { testPostgres } from '../../tests/support/services/engines.ts';
import { eventually } from '../../tests/support/upstream.ts';
import { listenForChanges } from './pg-notify.ts';
import { openRecords } from './records.ts';

test('a committed change notifies other processes, also after a reconnect', async () => {
  const { url, drop } = await testPostgres();
  const records = await openRecords({ url });
  let received = 0;
  let lost = 0;
  const notices = listenForChanges({ url, onChange: () => void received++, onLost: () => void lost++ });
  await eventually(() => assert.equal(received, 1, 'once when it begins'));

  await records.write(async () => records.markChanged('keys', 'a'));
  await eventually(() => assert.equal(received, 2));
  await records.write(async () => {
    await records.db.insertInto('meta').values({ name: 'nothing of traffic', value: '' }).execute();
  });
  const failing = records.write(async () => {
    records.markChanged('keys', 'b');
    throw new Error('changed my mind');
  });
  await assert.rejects(failing);

  await sql`select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'gatewright notices' and datname = current_database()`.execute(records.db);
  await eventually(() => assert.ok(received === 3 && lost > 0, 'nothing in between, and once when it is back'));
  await records.write(async () => records.markChanged('keys', 'c'));
  await eventually(() => assert.equal(received, 4));

  await notices.close();
  await records.close();
  await drop();
});

test('a database that accepts connections and never answers times out and is tried again', async () => {
  const sockets: Socket[] = [];
  const silent = createServer(socket => void sockets.push(socket.on('error', () => undefined)));
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const url = `postgresql://postgres@127.0.0.1:${(silent.address() as AddressInfo).port}/postgres`;
  let lost = 0;
  const notices = listenForChanges({
    url,
    onChange: () => assert.fail('a change was announced'),
    onLost: () => void lost++,
  });
  try {
    await eventually(() => assert.ok(lost > 0 && sockets.length > 1), 30_000);
  } finally {
    const closed = notices.close();
    for (const socket of sockets) socket.destroy();
    silent.close();
    await closed;
  }
});

test('a lost connection is reopened after a second, and none after close', async ({ mock }) => {
  let accepted = 0;
  const server = createServer(socket => {
    accepted += 1;
    socket.on('error', () => undefined).destroy();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  /** Connections of the listener so far: the own one comes after all that it has opened. */
  let ownConnections = 0;
  async function countConnections(): Promise<number> {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    ownConnections += 1;
    await once(socket, 'close');
    return accepted - ownConnections;
  }
  mock.timers.enable({ apis: ['setTimeout'] });
  let lost = 0;
  const url = `postgresql://postgres@127.0.0.1:${port}/postgres`;
  const notices = listenForChanges({ url, onChange: () => assert.fail('connected'), onLost: () => void lost++ });
  try {
    await eventually(() => assert.ok(lost > 0));
    mock.timers.tick(999);
    assert.equal(await countConnections(), 1);
    const lostBefore = lost;
    mock.timers.tick(1);
    await eventually(() => assert.ok(lost > lostBefore));
    assert.equal(await countConnections(), 2);
    await notices.close();
    mock.timers.tick(60_000);
    assert.equal(await countConnections(), 2);
  } finally {
    await notices.close();
    server.close();
  }
});
