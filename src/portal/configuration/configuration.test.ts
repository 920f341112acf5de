import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { requestPortal } from '../../../tests/support/portal.ts';

onEveryEngine('configuration of the portal', (app, engine) => {
  test('the configuration is returned with every secret masked', async () => {
    const [config, ...more] = await requestPortal(app(), 'GET', '/portal-api/configs');
    assert.deepEqual(more, []);
    const { settings } = app().application.installation.services;
    assert.equal(config.HostPort, settings['portal.port']);
    assert.equal(config.LogLevel, settings['log.level']);
    const ConnectionString = engine === 'sqlite' ? '' : '********';
    assert.deepEqual(config.Database, { Dialect: engine, ConnectionString });
    assert.equal(config.PortalAPISecret, '********');
  });
});
