import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onEveryEngine } from '../../tests/support/app.ts';
import type { catalogue } from '../catalogue.ts';
import { CallFailed, createOperationClient } from './client.ts';

onEveryEngine('the typed client', app => {
  const admin = () =>
    createOperationClient<typeof catalogue>({
      url: app().url.dashboard,
      headers: { 'admin-auth': app().credentials.admin_secret },
    });

  test('a call by route fills in the parameters and returns the typed response', async () => {
    const body = { email_address: 'c@example.org', first_name: 'C', last_name: 'D' };
    const made = await admin()('POST /admin/users', { body });
    const read = await admin()('GET /admin/users/{userId}', { params: { userId: made.Meta.id } });
    assert.equal(read.email_address, 'c@example.org');
    const page = await admin()('GET /admin/organisations', { query: { p: -1 } });
    assert.equal(page.organisations.length, 1);
  });

  test('an error response is thrown with its status and body', async () => {
    const call = admin()('GET /admin/users/{userId}', { params: { userId: 'no/such?user' } });
    await assert.rejects(call, (error: unknown) => error instanceof CallFailed && error.status === 404);
  });
});
