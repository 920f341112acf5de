import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { anonymousKey, wordColumns } from '#analytics/batch.ts';
import { createLog } from '#base/log.ts';
import { classicToModel } from '#definition/model.ts';
import type { ApiRecordHook } from '../plugins/record-contract.ts';
import { ApiAnalytics } from './api-analytics.ts';
import { CapturedRecord } from './record-members.ts';
import { createRecordPlugins } from './record-plugins.ts';

const silent = createLog({ level: 'silent', format: 'json' });

function createApi(hook: ApiRecordHook['run'], orgId = 'org'): ApiAnalytics {
  const model = classicToModel({ name: 'a', api_id: 'a', org_id: orgId, proxy: { listen_path: '/a/' } });
  const api = new ApiAnalytics({ id: 'a', orgId, name: 'a', listenPath: '/a/', model });
  api.recordHook = { run: hook };
  return api;
}

function createRecord(api: ApiAnalytics, alias: string): CapturedRecord {
  const record = new CapturedRecord(api, 0);
  record.setWord('alias', alias);
  return record;
}

function open() {
  const stored: string[] = [];
  const plugins = createRecordPlugins({
    log: silent,
    store: record => void stored.push(record.word('alias')),
    nowMs: () => 0,
  });
  return { stored, plugins };
}

describe('Queue of records with plugins', () => {
  test('records that wait at the end are stored as the plugin changed them, in order', async () => {
    const { stored, plugins } = open();
    const calls: number[] = [];
    const api = createApi(async records => {
      calls.push(records.length);
      for (const record of records) record.alias += '!';
      return { returns: records.map(record => ({ record })), logs: [] };
    });
    const names = Array.from({ length: 250 }, (_, i) => String(i));
    for (const name of names) assert.ok(plugins.add(createRecord(api, name)));
    await plugins.close();
    assert.deepEqual(
      stored,
      names.map(name => `${name}!`),
    );
    assert.deepEqual(calls, [100, 100, 50]);
  });

  test('records of a plugin that does not end are stored without texts when the gateway stops', async context => {
    context.mock.timers.enable({ apis: ['setTimeout'] });
    const { stored, plugins } = open();
    assert.ok(
      plugins.add(
        createRecord(
          createApi(() => new Promise(() => undefined)),
          'ann',
        ),
      ),
    );
    const closed = plugins.close();
    context.mock.timers.tick(3000);
    await closed;
    assert.deepEqual(stored, ['']);
  });

  for (const [method, kept] of Object.entries({ GET: 'GET', 'client-text': 'other' }))
    test(`a record of the method ${method} whose plugin failed has no text of the client in any column`, async () => {
      const stored: CapturedRecord[] = [];
      const store = (record: CapturedRecord) => void stored.push(record);
      const plugins = createRecordPlugins({ log: silent, store, nowMs: () => 0 });
      const record = new CapturedRecord(
        createApi(async () => {
          throw new Error('broken');
        }),
        0,
      );
      for (const column of wordColumns) record.setWord(column, `client-${column}`);
      record.setWord('method', method);
      plugins.add(record);
      await plugins.close();
      const [found] = stored as [CapturedRecord];
      const words = wordColumns.flatMap(column => (found.word(column) === '' ? [] : [[column, found.word(column)]]));
      assert.deepEqual(Object.fromEntries(words), {
        version: 'client-version',
        refusal: 'client-refusal',
        graphqlType: 'client-graphqlType',
        mcpPrimitiveType: 'client-mcpPrimitiveType',
        keyHash: anonymousKey,
        path: 'other',
        method: kept,
      });
    });

  test('a plugin can change the method of a message to an MCP proxy', async () => {
    const words: string[] = [];
    const store = (record: CapturedRecord) => void words.push(record.word('mcpMethod'));
    const plugins = createRecordPlugins({ log: silent, store, nowMs: () => 0 });
    const api = createApi(async records => ({
      returns: records.map(record => ({ record: { ...record, mcp_method: record.mcp_method.toUpperCase() } })),
      logs: [],
    }));
    const record = new CapturedRecord(api, 0);
    record.setWord('mcpMethod', 'tools/call');
    plugins.add(record);
    await plugins.close();
    assert.deepEqual(words, ['TOOLS/CALL']);
  });

  test('the queue of an organisation is bounded, and leaves that of another as it is', async () => {
    const { plugins } = open();
    const [one, other] = ['one', 'other'].map(org => createApi(() => new Promise(() => undefined), org)) as [
      ApiAnalytics,
      ApiAnalytics,
    ];
    let accepted = 0;
    while (plugins.add(createRecord(one, 'x'))) accepted++;
    assert.equal(accepted, 2000);
    assert.ok(plugins.add(createRecord(other, 'x')));
  });
});
