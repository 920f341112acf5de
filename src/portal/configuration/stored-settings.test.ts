import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { createLog } from '#base/log.ts';
import { findSettingSource, readSettings, type SettingSources } from '#base/settings.ts';
import { createMetaStore } from '#storage/meta.ts';
import { openRecords } from '#storage/records.ts';
import { onBothEngines } from '../../../tests/lifecycle/databases.ts';
import { createStoredSettings } from './stored-settings.ts';

const directory = mkdtempSync(join(tmpdir(), 'gw-stored-settings-'));
after(() => rmSync(directory, { recursive: true }));
const path = join(directory, 'gw.yaml');
writeFileSync(path, 'portal:\n  name: Of the file\n  try_it: all\n');

onBothEngines('stored settings of the portal', fresh => {
  async function open(sources: SettingSources) {
    const records = await openRecords((await fresh()).options);
    const lines: string[] = [];
    const log = createLog({ level: 'warn', format: 'json', write: line => void lines.push(line) });
    const settings = readSettings({ file: { path, required: true }, ...sources });
    return { records, lines, stored: createStoredSettings({ settings, records, meta: createMetaStore(records), log }) };
  }

  test('a stored value is in place of that of the file, below one of the environment', async () => {
    const { records, stored } = await open({ environment: { GW_PORTAL_TRY_IT: 'users' } });
    const { settings } = stored;
    const read = (name: 'portal.name' | 'portal.try_it') => [settings[name], findSettingSource(settings, name)];
    assert.deepEqual(
      [read('portal.name'), read('portal.try_it')],
      [
        ['Of the file', 'file'],
        ['users', 'environment'],
      ],
    );
    await stored.change({ 'portal.name': 'Stored', 'portal.try_it': 'off' });
    assert.deepEqual(
      [read('portal.name'), read('portal.try_it')],
      [
        ['Stored', 'stored'],
        ['users', 'environment'],
      ],
    );
    assert.deepEqual([stored.isPinned('portal.name'), stored.isPinned('portal.try_it')], [false, true]);
    await stored.change({ 'portal.name': null });
    assert.deepEqual(read('portal.name'), ['Of the file', 'file']);
    await records.close();
  });

  test('the last values hold while the database is unavailable, and the failed read is logged', async () => {
    const { records, lines, stored } = await open({});
    await stored.change({ 'portal.name': 'Stored' });
    await records.close();
    await assert.rejects(stored.refresh());
    await stored.tryRefresh();
    assert.equal(stored.settings['portal.name'], 'Stored');
    assert.ok(lines.some(line => line.includes('settings of the portal not read, using the last ones')));
  });
});
