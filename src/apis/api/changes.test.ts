import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Records } from '#storage/records.ts';
import { type Answer, onEveryEngine, operatorActor } from '../../../tests/support/app.ts';
import { addApi, checkDefinition } from './changes.ts';

/** Whether somebody waits for what the transaction under way holds; on SQLite everybody waits for the one connection. */
async function someoneWaits(records: Records): Promise<boolean> {
  if (records.engine === 'sqlite') return true;
  const waiting = sql<{ count: number }>`select count(*) from pg_locks
    where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))`;
  return Number((await waiting.execute(records.db)).rows[0]?.count) > 0;
}

onEveryEngine('changes of APIs', app => {
  test('writers of APIs are serialized: what one checked still holds when it writes', async () => {
    const { records, services } = app().application.installation;
    const definition = { name: 'turn', proxy: { listen_path: '/turn/', target_url: 'http://127.0.0.1:9/' } };
    const written = checkDefinition('classic', definition, services);
    let second: Promise<Answer> | undefined;
    await records.write(async () => {
      await addApi(services, { actor: operatorActor, orgId: app().credentials.organisation_id, written });
      let settled = false;
      second = app().ask('POST', '/api/apis', { body: { api_definition: definition } });
      second.finally(() => {
        settled = true;
      });
      while (!settled && !(await someoneWaits(records))) await setImmediate();
    });
    assert.equal((await second)?.status, 409);
  });

  test('a change that fails half-way is rolled back', async () => {
    const { records, services } = app().application.installation;
    const orgId = app().credentials.organisation_id;
    const before = await records.revision();
    const failing = { ...services, onApiChanged: () => Promise.reject(new Error('on purpose')) };
    const written = checkDefinition(
      'classic',
      { name: 'half #half', api_id: 'half', proxy: { listen_path: '/half/', target_url: 'http://127.0.0.1:9/' } },
      services,
    );
    await assert.rejects(addApi(failing, { actor: operatorActor, orgId, written }), /on purpose/);
    assert.equal(await services.apis.get(orgId, 'half'), undefined);
    assert.equal((await services.apis.categoryMembers(orgId)).get('half'), undefined);
    assert.equal(await records.revision(), before);
  });
});
