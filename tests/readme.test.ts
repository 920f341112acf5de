import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { startApp, type TestApp } from './support/app.ts';
import { walkOf } from './support/doc-commands.ts';

const readme = walkOf('README.md');

describe('README.md', () => {
  let app: TestApp;
  before(async () => {
    app = await startApp('sqlite');
  });
  after(() => app.close());

  test('its walkthrough works as documented', async () => {
    assert.ok(readme.promised.length >= 8);
    await readme.run({
      DASHBOARD: app.url.dashboard,
      PORTAL: app.url.portal,
      GATEWAY: app.url.gateway,
      DATA: app.directory,
    });
  });

  test('it names both commands, and CI runs the test command', () => {
    assert.match(readme.text, /npm ci && npm start/);
    const ci = readFileSync(new URL('../.ci/run', import.meta.url), 'utf8');
    assert.match(readme.text, /npm ci && npm test/);
    assert.match(ci, /^npm ci && npm test$/m);
  });
});
