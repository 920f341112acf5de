import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createDatabaseHealthCheck } from './database-health.ts';
import { openRecords, type Records } from './records.ts';

describe('database health', () => {
  const directory = mkdtempSync(join(tmpdir(), 'gw-health-'));
  const clock = { ms: 1_000_000, now: () => clock.ms };
  const unavailable = 'database unavailable';
  let records: Records;
  before(async () => {
    records = await openRecords({ file: join(directory, 'gw.db') });
  });
  after(async () => {
    await records.close();
    rmSync(directory, { recursive: true, force: true });
  });

  function watch(revision: Records['revision']) {
    let queries = 0;
    const countRevision = () => {
      queries++;
      return revision();
    };
    return { ask: createDatabaseHealthCheck({ ...records, revision: countRevision }, clock), queries: () => queries };
  }

  test('many questions within a second cost one query, also when the clock was set back', async () => {
    const { ask, queries } = watch(() => records.revision());
    for (let n = 0; n < 3; n++) assert.equal(await ask(), '');
    clock.ms += 999;
    assert.equal(await ask(), '');
    assert.equal(queries(), 1);
    clock.ms += 1;
    assert.equal(await ask(), '');
    assert.equal(queries(), 2);
    clock.ms -= 3_600_000;
    assert.equal(await ask(), '');
    assert.equal(queries(), 3);
  });

  test('a database that fails is unavailable, and healthy again a second later', async () => {
    let fails = true;
    const { ask } = watch(async () => (fails ? Promise.reject(new Error('secret path')) : records.revision()));
    assert.equal(await ask(), unavailable);
    fails = false;
    assert.equal(await ask(), unavailable, 'remembered');
    clock.ms += 1000;
    assert.equal(await ask(), '');
  });

  test('a database that answers within two seconds is healthy, and its answer leaves no timer behind', async ({
    mock,
  }) => {
    const countTimers = () => process.getActiveResourcesInfo().filter(it => it === 'Timeout').length;
    const before = countTimers();
    assert.equal(await watch(() => records.revision()).ask(), '');
    assert.equal(countTimers(), before);
    mock.timers.enable({ apis: ['setTimeout'] });
    const reply = Promise.withResolvers<number>();
    const asked = watch(() => reply.promise).ask();
    mock.timers.tick(1999);
    await new Promise(resolve => setImmediate(resolve));
    reply.resolve(1);
    assert.equal(await asked, '');
  });

  test('a database that does not answer is unavailable', async () => {
    assert.equal(await watch(() => new Promise(() => undefined)).ask(), unavailable);
  });
});
