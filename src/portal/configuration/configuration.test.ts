import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeSetting } from '#base/settings.ts';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { portalTimePattern, requestPortal } from '../../../tests/support/portal.ts';

onEveryEngine('configuration of the portal', (app, engine) => {
  test('the configuration is returned with every secret masked', async () => {
    const [config, ...more] = await requestPortal(app(), 'GET', '/portal-api/configs');
    assert.deepEqual(more, []);
    const { settings } = app().application.installation.services;
    assert.match(config.Version, /^\d+\.\d+\.\d+/);
    assert.match(config.BootstrappedAt, portalTimePattern);
    assert.equal(config.HostPort, settings['portal.port']);
    assert.equal(config.LogLevel, settings['log.level']);
    const ConnectionString = engine === 'sqlite' ? '' : '********';
    assert.deepEqual(config.Database, { Dialect: engine, ConnectionString });
    assert.equal(config.PortalAPISecret, '********');
    const general = new Map(config.General.map((it: { Name: string }) => [it.Name, it]));
    const { about } = describeSetting('portal.try_it');
    const Value = settings['portal.try_it'];
    const tryIt = {
      ...{ Name: 'portal.try_it', Value, Source: 'default', About: about },
      ...{ IsEditable: true, Configured: Value, IsMultiline: false, Options: ['off', 'users', 'all'] },
    };
    assert.deepEqual(general.get('portal.try_it'), tryIt);
    assert.ok([...general.keys()].every(name => String(name).startsWith('portal.')));
    assert.ok(!JSON.stringify(config).includes(app().credentials.portal_token));
  });
});
