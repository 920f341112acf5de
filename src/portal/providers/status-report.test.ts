import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { engines, startApp, type TestApp } from '../../../tests/support/app.ts';
import { type MailServer, startMailServer } from '../../../tests/support/mail.ts';
import { addApi, addApp, addDeveloper, addPlan, addProduct, requestPortal } from '../../../tests/support/portal.ts';
import { sitePassword } from '../../../tests/support/portal-site.ts';
import { signedInClient } from '../../../tests/support/site-client.ts';
import { type Receiver, startReceiver } from '../../../tests/support/webhooks.ts';

for (const engine of engines)
  describe(`reports of providers and apps on ${engine}`, () => {
    let app: TestApp;
    let mail: MailServer;
    let receiver: Receiver;
    before(async () => {
      [mail, receiver] = await Promise.all([startMailServer({ user: 'gw', password: 'secret' }), startReceiver()]);
      const server = { 'mail.smtp_url': mail.url, 'mail.from': 'portal@example.org', 'mail.require_tls': 'false' };
      app = await startApp(engine, {
        settings: { ...server, 'portal.admin_mail': 'admins@example.org' },
      });
    });
    after(async () => {
      await app?.close();
      await mail?.close();
      await receiver?.close();
    });
    const ok = (method: string, path: string, body?: unknown, status = 200) =>
      requestPortal(app, method, `/portal-api${path}`, body, status);
    async function createHook(...Events: string[]) {
      const path = `/${createPublicId()}`;
      await ok('POST', '/webhooks', { Name: 'crm', URL: receiver.url + path, Method: 'POST', Events }, 201);
      return async (count: number) =>
        (await receiver.take(path, count)).map(({ body }) => {
          const { Event, Message } = JSON.parse(body);
          return [Event, Message.ID];
        });
    }

    test('a provider that goes down is mailed to administrators once, and its return is an event', async () => {
      const take = await createHook('ProviderDown', 'ProviderUp', 'SyncFinished');
      const MetaData = JSON.stringify({ URL: 'http://127.0.0.1:9', Secret: 's', OrgID: 'o', Gateway: '' });
      const { ID } = await ok('POST', '/providers', { Name: 'Europe', Type: 'gw-pro', Configuration: { MetaData } });
      for (let attempt = 0; attempt < 2; attempt++) await ok('PUT', `/providers/${ID}/synchronize`, undefined, 422);
      let text = '';
      while (!/Provider Europe needs attention/.test(text)) ({ text } = await mail.take());
      const outbox = await ok('GET', '/mail-outbox?per_page=1000');
      assert.equal(outbox.filter((it: { Name: string }) => it.Name === 'ops').length, 1);
      const { providers } = app.application.installation.services.portal;
      await providers.change(1, it => ({ ...it, Status: 'Down' }));
      await ok('PUT', '/providers/1/synchronize');
      assert.deepEqual(await take(3), [
        ['ProviderDown', ID],
        ['ProviderUp', 1],
        ['SyncFinished', 1],
      ]);
    });

    test('requests under an automatic plan that the provider refuses are events, and one mail to administrators an hour', async () => {
      const take = await createHook('AccessRequestCreated');
      const product = await addProduct(app, { APIDetails: [{ APIID: await addApi(app) }], Catalogues: [1] });
      const plan = await addPlan(app, { Catalogues: [1], AutoApproveAccessRequests: true });
      const client = await signedInClient(app, await addDeveloper(app, { Password: sitePassword }));
      const choice = { product: product.Path, plan: String(plan.ID), catalogue: '1' };
      await client.get(`/portal/private/cart/provision?${new URLSearchParams(choice)}`);
      const { providers } = app.application.installation.services.portal;
      const moveTo = (URL: string) => providers.change(1, it => ({ ...it, MetaData: { ...it.MetaData, URL } }));
      await moveTo('http://127.0.0.1:9');
      const request = async (client_name: string) => {
        const fields = { ...choice, request_id: createPublicId(), 'app-action': 'create', client_name };
        assert.equal((await client.post('/portal/private/cart/provision', fields)).status, 303);
        const outbox = await ok('GET', '/mail-outbox?per_page=1000');
        return outbox.filter((it: { Name: string }) => it.Name === 'submitted').length;
      };
      try {
        assert.equal(await request('Refused app'), 1);
        const [[event, id]] = (await take(1)) as [[string, number]];
        assert.equal(event, 'AccessRequestCreated');
        await ok('DELETE', `/access_requests/${id}`);
        assert.equal(await request('Second app'), 1);
        assert.equal(await request('Third app'), 1);
        assert.equal((await take(3)).length, 3, 'each is an event');
        const { records } = app.application.installation;
        const { body } = await records.db
          .selectFrom('portal_access_requests')
          .select('body')
          .where('id', '=', id)
          .executeTakeFirstOrThrow();
        const ended = { ...JSON.parse(body), FailureMailedAt: JSON.parse(body).FailureMailedAt - 3_600_000 };
        await records.db
          .updateTable('portal_access_requests')
          .set({ body: JSON.stringify(ended) })
          .where('id', '=', id)
          .execute();
        assert.equal(await request('Fourth app'), 2, 'an hour later');
      } finally {
        await moveTo('');
      }
    });

    test('the deletion of an app is an event', async () => {
      const take = await createHook('ApplicationDeleted');
      const { ID } = await addApp(app);
      await ok('DELETE', `/apps/${ID}`);
      assert.deepEqual(await take(1), [['ApplicationDeleted', ID]]);
    });
  });
