import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startApp, type TestApp } from '../support/app.ts';
import { findUnavailableReason, openApi, publish } from '../support/traffic.ts';

describe('Definitions that could crash a traffic thread', () => {
  let app: TestApp;
  const crashes: string[] = [];
  before(async () => {
    app = await startApp('sqlite', { onLog: line => void (line.includes('crashed') && crashes.push(line)) });
  });
  after(() => app?.close());

  test('an API with a gw:// target without an API name is not served', async () => {
    const balanced = { enable_load_balancing: true, target_list: ['gw:///x'] };
    for (const proxy of [{ target_url: 'gw:///x' }, { target_url: 'gw://' }, { target_url: '', ...balanced }]) {
      const url = await publish(app, openApi({ url: '' }, { proxy }));
      assert.match(await findUnavailableReason(app, url), /references no API/);
    }
    assert.deepEqual(crashes, []);
  });

  test('loop_limit is capped at 100, so that loops end before the call stack overflows', async () => {
    const pattern = { path: '/', method: 'GET', match_pattern: '.*', rewrite_to: 'gw://self/?loop_limit=1000000' };
    const version = { name: 'Default', use_extended_paths: true, extended_paths: { url_rewrites: [pattern] } };
    const version_data = { not_versioned: true, versions: { Default: version } };
    const endless = openApi({ url: 'gw://self/?loop_limit=1000000' });
    for (const definition of [endless, openApi({ url: 'http://127.0.0.1:9' }, { version_data })]) {
      const reply = await fetch(await publish(app, definition));
      assert.equal(reply.status, 500);
      assert.match(await reply.text(), /more than 100 loops/);
    }
    assert.deepEqual(crashes, []);
  });
});
