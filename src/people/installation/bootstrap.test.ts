import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readSettings } from '#base/settings.ts';
import { createMetaStore } from '#storage/meta.ts';
import { withRecords } from '../../../tests/lifecycle/databases.ts';
import { testInstallation } from '../../../tests/support/installation.ts';
import { type BootstrapServices, bootstrap } from './bootstrap.ts';

withRecords('bootstrap.enabled', given => {
  test('without it, a process on an empty database fails after its wait, and has created nothing', async () => {
    const settings = readSettings({ flags: { 'bootstrap.enabled': 'false' } });
    const meta = createMetaStore(given());
    const services = { records: given(), meta, settings, bootstrapTimeoutMs: 1 } as BootstrapServices;
    await assert.rejects(bootstrap(services), /bootstrap\.enabled is off: start a process that has it on/);
    assert.equal(await meta.get('default_org'), undefined);
  });
});

describe('bootstrap.access_key', () => {
  test('a key that is changed after the first start is reported, and has no effect', async () => {
    const lines: string[] = [];
    const { start, close } = await testInstallation('sqlite', {}, line => lines.push(line));
    try {
      const first = await start('one', { 'bootstrap.access_key': 'first-access-key' });
      await first.stop();
      const changed = await start('one', { 'bootstrap.access_key': 'second-access-key' });
      assert.match(lines.join(''), /bootstrap\.access_key applies to the first start only/);
      assert.ok((await changed.write('GET', '/api/system/nodes')).data, 'the first key is accepted');
    } finally {
      await close();
    }
  });
});

describe('First start of several roles', () => {
  test('a gateway without bootstrap.enabled waits for the dashboard, which alone has the credentials', async () => {
    const { start, close } = await testInstallation('postgres', { 'bootstrap.access_key': '' });
    try {
      const gateway = start('gateway', {
        ...{ role: 'gateway', 'gateway.control_port': '0', 'bootstrap.enabled': 'false' },
      });
      const dashboard = await start('dashboard', { role: 'dashboard', 'bootstrap.access_key': 'chosen-access-key' });
      const { application } = await gateway;
      assert.equal(application.credentials, undefined);
      assert.equal(dashboard.application.credentials?.admin_access_key, 'chosen-access-key');
      assert.ok((await dashboard.write('GET', '/api/system/nodes')).data);
    } finally {
      await close();
    }
  });
});
