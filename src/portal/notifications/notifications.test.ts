import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { engines, startApp, type TestApp } from '../../../tests/support/app.ts';
import { type MailServer, startMailServer } from '../../../tests/support/mail.ts';
import { addApp, addDeveloper, addPlan, addProduct, requestPortal } from '../../../tests/support/portal.ts';
import { sitePassword } from '../../../tests/support/portal-site.ts';
import { signedInClient } from '../../../tests/support/site-client.ts';
import { maxNotifications } from './store.ts';

const page = '/portal/private/notifications';
const onlySite = { site_requests: 'on', site_credentials: 'on', site_team: 'on' };

for (const engine of engines)
  describe(`notifications of the portal on ${engine}`, () => {
    let app: TestApp;
    let mail: MailServer;
    before(async () => {
      mail = await startMailServer({ user: 'gw', password: 'secret' });
      const server = { 'mail.smtp_url': mail.url, 'mail.from': 'portal@example.org', 'mail.require_tls': 'false' };
      app = await startApp(engine, { settings: { ...server, 'portal.admin_mail': 'admins@example.org' } });
    });
    after(async () => {
      await app?.close();
      await mail?.close();
    });
    const ok = (method: string, path: string, body?: unknown) => requestPortal(app, method, `/portal-api${path}`, body);
    const listMails = async (address: string): Promise<string[]> =>
      (await ok('GET', '/mail-outbox?per_page=1000'))
        .filter((it: { To: string }) => it.To === address)
        .map((it: { Name: string }) => it.Name);
    async function aClient() {
      const user = await addDeveloper(app, { Password: sitePassword });
      return { user, client: await signedInClient(app, user) };
    }
    /** Rejects a request of an app of the user. */
    async function reject(userId: number) {
      const { ID } = await addApp(app, { UserID: userId, Name: 'Shop' });
      const body = { PlanID: (await addPlan(app)).ID, ProductIDs: [(await addProduct(app)).ID] };
      const { AccessRequestID } = await ok('PUT', `/apps/${ID}/provision`, body);
      await ok('PUT', `/access_requests/${AccessRequestID}/reject?reason=no`);
      return ID as number;
    }

    test('a decision is shown with a bell, a link and a mark that reading removes', async () => {
      const { user, client } = await aClient();
      assert.match((await client.get('/')).text, /aria-label="Notifications"/);
      const appId = await reject(user.ID);
      assert.match((await client.get('/')).text, /Notifications, 1 unread/);
      const { text } = await client.get(page);
      assert.match(text, new RegExp(`href="/portal/private/apps/${appId}">Access not granted`));
      const last = /name="last" value="(\d+)"/.exec(text)![1]!;
      assert.equal((await client.post(`${page}/read`, { last })).location, page);
      assert.match((await client.get(page)).text, /aria-label="Notifications"/);
      assert.equal((await listMails(user.Email)).filter(it => it === 'reject').length, 1);
    });

    test('a kind without mail is shown alone, one that is off is neither shown nor mailed', async () => {
      const { user, client } = await aClient();
      await client.get(page);
      assert.equal((await client.post(`${page}/choices`, onlySite)).location, `${page}?done=saved`);
      await reject(user.ID);
      assert.match((await client.get(page)).text, /Access not granted/);
      assert.equal((await listMails(user.Email)).includes('reject'), false);
      await client.post(`${page}/choices`, {});
      await reject(user.ID);
      assert.match((await client.get('/')).text, /Notifications, 1 unread/);
      assert.equal((await listMails(user.Email)).includes('reject'), false);
    });

    test('notifications about the security of an account cannot be turned off', async () => {
      const { user, client } = await aClient();
      await client.get(page);
      await client.post(`${page}/choices`, {});
      await ok('PUT', `/users/${user.ID}`, { Email: `n-${createPublicId().toLowerCase()}@example.org` });
      assert.match((await client.get(page)).text, /Your account was changed/);
      assert.equal((await listMails(user.Email)).includes('security'), true);
    });

    test('a user sees and marks the own notifications alone, and at most the newest ones', async () => {
      const [first, second] = [await aClient(), await aClient()];
      const { notifications } = app.application.installation.services.portal;
      for (let count = 0; count <= maxNotifications; count++)
        await notifications.add(first.user.ID, 'team', `Note ${count}.`, '/portal/private/users');
      assert.equal((await notifications.ofUser(first.user.ID)).length, maxNotifications);
      assert.doesNotMatch((await first.client.get(page)).text, /Note 0\./);
      assert.doesNotMatch((await second.client.get(page)).text, /Note/);
      await second.client.post(`${page}/read`, { last: '999999999' });
      assert.equal(await notifications.countUnread(first.user.ID), maxNotifications);
      await ok('DELETE', `/users/${first.user.ID}`);
      assert.deepEqual(await notifications.ofUser(first.user.ID), []);
    });
  });
