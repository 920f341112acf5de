import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import pg from 'pg';
import { testPostgres } from '../../tests/support/services/engines.ts';
import { eventually } from '../../tests/support/upstream.ts';
import { openReader } from './open-reader.ts';
import { listenForChanges } from './pg-notify.ts';
import { openRecords } from './records.ts';

/** Timer of an open TCP connection by its local port, as in `/proc/net/tcp`. */
function readTimer(localPort: number): string | undefined {
  const suffix = `:${localPort.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = readFileSync('/proc/net/tcp', 'utf8').split('\n').slice(1);
  const columns = rows.map(row => row.trim().split(/\s+/)).find(([, local]) => local?.endsWith(suffix));
  return columns?.[5]?.split(':')[0];
}

const keepAliveTimer = '02';

test('every PostgreSQL connection sends TCP keep-alive probes, so that a peer gone without a FIN is noticed', async () => {
  const { url, drop } = await testPostgres();
  const records = await openRecords({ url });
  const reader = await openReader({ url });
  await reader.rows('select 1', []);
  const listening = Promise.withResolvers<void>();
  const notices = listenForChanges({ url, onChange: listening.resolve, onLost: listening.reject });
  await listening.promise;
  const admin = new pg.Client({ connectionString: url, application_name: 'admin' });
  await admin.connect();
  for (const name of ['gatewright', 'gatewright traffic', 'gatewright notices']) {
    const { rows } = await admin.query<{ client_port: number }>(
      'select client_port from pg_stat_activity where application_name = $1 and datname = current_database()',
      [name],
    );
    assert.ok(rows.length > 0, name);
    for (const { client_port } of rows)
      await eventually(() => assert.equal(readTimer(client_port), keepAliveTimer, name));
  }
  await admin.end();
  await notices.close();
  await reader.close();
  await records.close();
  await drop();
});
