import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { type Child, eventually, scratch, startChild } from '../support/gw-process.ts';
import { openApi } from '../support/traffic.ts';
import { startUpstream } from '../support/upstream.ts';

const { fresh, remove } = scratch('limits');
after(remove);

const upstream = await startUpstream();
after(() => upstream.close());

async function createObject(child: Child, path: string, body: object) {
  const answer = await child.ask('POST', path, { body });
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

/** Reads the usage of the only quota from the database of a running process. */
function countStored(directory: string): number {
  const database = new DatabaseSync(join(directory, 'gw.db'), { readOnly: true });
  try {
    const row = database.prepare(`select used from counters where name like 'quota:%'`).get();
    return Number(row?.used ?? 0);
  } finally {
    database.close();
  }
}

test('quota usage before a SIGKILL is still counted after the restart, also for a short renewal period', async () => {
  const directory = fresh();
  const first = await startChild({ directory });
  const api = openApi(upstream, { use_keyless: false });
  await createObject(first, '/api/apis', { api_definition: api });
  const quota = { quota_max: 10, quota_renewal_rate: 600 };
  const { key_id } = await createObject(first, `/api/keys/${createPublicId()}`, {
    access_rights: { [api.api_id]: {} },
    ...quota,
  });
  const readRemaining = async ({ urls }: Child) => {
    const reply = await fetch(`${urls.gateway}${api.proxy.listen_path}`, { headers: { authorization: key_id } });
    await reply.text();
    return reply.status === 200 ? Number(reply.headers.get('x-ratelimit-remaining')) : undefined;
  };
  let used = 0;
  await eventually(async () => {
    if ((await readRemaining(first)) !== undefined) used++;
    return used === 4;
  }, 'the gateway has the API and the key');
  // Only the flush interval makes the process write this counter.
  await eventually(() => countStored(directory) === used, 'the quota is written down');
  assert.equal((await first.stop('SIGKILL')).signal, 'SIGKILL');
  const second = await startChild({ directory });
  assert.equal(await readRemaining(second), quota.quota_max - used - 1);
  assert.equal((await second.stop()).code, 0);
});
