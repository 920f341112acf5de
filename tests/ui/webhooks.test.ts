import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { Person } from '../support/browser.ts';
import { assertAccessible, testDashboard } from '../support/dashboard-app.ts';
import { eventually } from '../support/upstream.ts';
import { handling, type Receiver, startReceiver } from '../support/webhooks.ts';

describe('Webhook pages', () => {
  const dashboard = testDashboard({ settings: { 'events.max_attempts': '1' } });
  let receiver: Receiver;
  let admin: Person;
  before(async () => {
    receiver = await startReceiver();
    admin = await dashboard.addPerson({ user_permissions: { IsAdmin: 'admin' } });
  });
  after(() => receiver.close());

  const createWebhook = async (page: Page, name: string, path: string) => {
    await page.getByLabel('Name').fill(name);
    await page.getByLabel('URL').fill(receiver.url + path);
    await page.getByLabel('Headers').fill('X-Team: payments');
    await page.getByRole('button', { name: 'Create webhook' }).click();
    await page.getByText(`Webhook ${name} created`).waitFor();
    await page.getByRole('heading', { name }).waitFor();
    return new URL(page.url()).pathname.split('/').at(-1)!;
  };

  test('a created webhook is tested in the page, with its request and the response as text', async () => {
    const page = await dashboard.openAs(admin, '/webhooks/new');
    await page.getByRole('button', { name: 'Create webhook' }).click();
    await page.getByText('Enter a name.').waitFor();
    await page.getByLabel('Body template', { exact: true }).fill('{"text": "{{.Type}}"}');
    await page.getByRole('button', { name: 'Show preview' }).click();
    await page.getByText('{"text": "AuthFailure"}').waitFor();
    const id = await createWebhook(page, 'Alarms', '/alarms');
    receiver.answer = (_request, response) => void response.writeHead(200).end('<b>taken</b>');
    await page.getByRole('button', { name: 'Send test' }).click();
    const dialog = page.getByRole('dialog', { name: 'Result of the test' });
    await dialog.getByText(/The receiver answered 200/).waitFor();
    await dialog.getByText('<b>taken</b>').waitFor();
    await assertAccessible(page, 'result of a test');
    receiver.answer = undefined;
    const [call] = receiver.at('/alarms');
    assert.deepEqual([call!.headers['x-team'], call!.body], ['payments', '{"text": "AuthFailure"}']);
    await page.keyboard.press('Escape');

    assert.equal(await page.getByLabel('Headers').inputValue(), 'X-Team: ********');
    await page.getByLabel('Name').fill('Alarms 2');
    await page.getByRole('button', { name: 'Save webhook' }).click();
    await page.getByRole('heading', { name: 'Alarms 2' }).waitFor();
    assert.equal((await dashboard.app().ask('GET', `/api/hooks/${id}`)).body.header_map['X-Team'], 'payments');

    await page.getByRole('link', { name: 'Signature' }).click();
    await page.getByRole('button', { name: 'Read secret' }).click();
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    const { secret } = (await dashboard.app().ask('GET', `/api/hooks/${id}/secret`)).body;
    await page.getByText(secret, { exact: true }).waitFor();
  });

  test('a dead letter of a failing receiver is delivered by a retry', async () => {
    const page = await dashboard.openAs(admin, '/webhooks/new');
    const id = await createWebhook(page, 'Refusals', '/refusals');
    const { ask, url } = dashboard.app();
    const definition = {
      api_id: 'guarded',
      name: 'Guarded',
      use_standard_auth: true,
      auth: { auth_header_name: 'Authorization' },
      proxy: { listen_path: '/guarded/', target_url: receiver.url },
      ...handling('AuthFailure', { handler_name: 'eh_web_hook_handler', handler_meta: { id } }),
    };
    await ask('POST', '/api/apis?wait=applied', { body: { api_definition: definition } });
    receiver.answer = (_request, response) => void response.writeHead(500).end();
    assert.equal((await fetch(`${url.gateway}/guarded/`, { headers: { authorization: 'wrong' } })).status, 403);
    await eventually(async () => {
      const { body } = await ask('GET', `/api/dead-letters?hook_id=${id}`);
      assert.equal(body.deliveries.length, 1);
    });
    receiver.answer = undefined;
    await page.goto(`${url.dashboard}/deliveries?state=dead&hook_id=${id}`);
    await page.getByRole('button', { name: 'AuthFailure' }).waitFor();
    await page.goto(`${url.dashboard}/deliveries?start=1&end=2`);
    await page.getByRole('heading', { name: 'No match' }).waitFor();
    await page.getByLabel('Time range').selectOption('Last hour');
    await page.getByRole('button', { name: 'AuthFailure' }).click();
    assert.equal(new URL(page.url()).search, '?range=1h');
    const dialog = page.getByRole('dialog', { name: 'AuthFailure' });
    await dialog.getByText(/^500 after/).waitFor();
    const command = dialog.getByRole('region', { name: 'As curl' });
    await command.getByText(/^curl -sS -X POST .*--data-raw/).waitFor();
    await command.getByRole('button', { name: 'Copy as curl' }).waitFor();
    await assertAccessible(page, 'delivery');
    await dialog.getByRole('button', { name: 'Retry delivery' }).click();
    await page.getByText('The delivery will be tried again').waitFor();
    await receiver.take('/refusals', 2);
    await eventually(async () => {
      const { body } = await ask('GET', `/api/hooks/${id}/health`);
      assert.deepEqual([body.failed, body.delivered], [0, 1]);
    });

    await page.goto(`${url.dashboard}/webhooks`);
    await page.getByRole('row').filter({ hasText: 'Refusals' }).getByRole('link', { name: 'Guarded' }).waitFor();
    await page.getByRole('button', { name: 'Actions for Refusals' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    const confirmation = page.getByRole('alertdialog', { name: 'Delete webhook Refusals?' });
    await confirmation.getByText('API Guarded').waitFor();
    await confirmation.getByRole('checkbox').check();
    await confirmation.getByRole('button', { name: 'Delete webhook Refusals' }).click();
    await page.getByText('Webhook Refusals deleted').waitFor();
  });

  test('a user who may only read webhooks sees no secret, no test and no save', async () => {
    const body = { name: 'Seen', method: 'POST', target_path: `${receiver.url}/seen` };
    const id = (await dashboard.app().ask('POST', '/api/hooks', { body })).body.ID;
    const reader = await dashboard.addPerson({ user_permissions: { hooks: 'read' } });
    const page = await dashboard.openAs(reader, `/webhooks/${id}`);
    await page.getByRole('heading', { name: 'Seen' }).waitFor();
    assert.equal(await page.getByLabel('URL').isDisabled(), true);
    for (const name of ['Send test', 'Save webhook', 'Show preview'])
      assert.equal(await page.getByRole('button', { name }).count(), 0, name);
    assert.equal(await page.getByRole('link', { name: 'Signature' }).count(), 0);
  });
});
