import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startApp, type TestApp } from './support/app.ts';
import { walkOf } from './support/doc-commands.ts';

let app: TestApp;
before(async () => {
  app = await startApp('sqlite');
});
after(() => app?.close());

test('the guide to single sign-on works as documented', async () => {
  const walk = walkOf('docs/guide/single-sign-on.md');
  assert.ok(walk.promised.length >= 4);
  const { admin_secret, admin_access_key, organisation_id } = app.credentials;
  await walk.run({
    DASHBOARD: app.url.dashboard,
    ADMIN_SECRET: admin_secret,
    ACCESS_KEY: admin_access_key,
    ORG_ID: organisation_id,
  });
});
