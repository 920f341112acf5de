import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { engines, onEveryEngine, startApp, type TestApp } from '../../../tests/support/app.ts';
import { type MailServer, startMailServer } from '../../../tests/support/mail.ts';
import { addApp, addDeveloper, addPlan, addProduct, requestPortal } from '../../../tests/support/portal.ts';
import { eventually } from '../../../tests/support/upstream.ts';
import { mailTable } from './mail-table.ts';

for (const engine of engines)
  describe(`mails of the portal (${engine})`, () => {
    let started: TestApp;
    let server: MailServer;
    const app = () => started;
    before(async () => {
      server = await startMailServer({ user: 'portal', password: 'mail-secret-1' });
      const settings = {
        'mail.smtp_url': server.url,
        'mail.from': 'Acme <portal@example.org>',
        'mail.require_tls': 'false',
        'portal.url': 'https://dev.example.org',
        'portal.admin_mail': 'admins@example.org',
        'portal.support': 'help@example.org',
      };
      started = await startApp(engine, { settings });
    });
    after(async () => {
      await started?.close();
      await server?.close();
    });
    const ask = (method: string, path: string, body?: unknown) =>
      app().ask(method, `/portal-api${path}`, body === undefined ? {} : { body });
    const ok = (method: string, path: string, body?: unknown, status = 200) =>
      requestPortal(app(), method, `/portal-api${path}`, body, status);
    const takeFor = async (address: string) => {
      for (;;) {
        const mail = await server.take();
        if (mail.to.includes(address)) return mail;
      }
    };

    test('a new user gets a mail in text and HTML with links of portal.url and the support address', async () => {
      const { Email } = await addDeveloper(app(), { First: '<b>Eve</b>' });
      const { text, from } = await takeFor(Email);
      assert.equal(from, 'portal@example.org');
      assert.match(text, /Subject: Welcome to Developer portal/);
      assert.match(text, /Content-Type: text\/plain/);
      assert.match(text, /<a href="https:\/\/dev\.example\.org\/auth\/password\/login"/);
      assert.match(text, /help@example\.org/);
    });

    test('requests, decisions and rotations are mailed to administrators and the owner, without keys', async () => {
      const plan = await addPlan(app(), { RateLimit: 5, Per: 10 });
      const product = await addProduct(app());
      const owner = await addDeveloper(app());
      const owned = await addApp(app(), { UserID: owner.ID, Name: 'Pay\r\nBcc: x@example.org' });
      await takeFor(owner.Email);
      const provision = { PlanID: plan.ID, ProductIDs: [product.ID] };
      const Note = 'For a test.\n\nhttps://dev.example.org/';
      await ok('PUT', `/apps/${owned.ID}/provision`, { ...provision, Note });
      const submitted = await takeFor('admins@example.org');
      assert.match(submitted.text, /Subject: Access request \d+/);
      assert.match(submitted.text, /Note: For a test\. https:\/\/dev/, 'in one line');
      assert.equal(/^Bcc:/m.test(submitted.text.split('\r\n\r\n')[0]!), false);
      const [[request]] = (await ok('GET', `/apps/${owned.ID}`)).AccessRequests;
      await ok('PUT', `/access_requests/${request.ID}/approve`);
      const approved = await takeFor(owner.Email);
      assert.match(approved.text, /Access granted/);
      assert.match(approved.text, /5 calls per 10 seconds/);
      const [[{ Credentials }]] = (await ok('GET', `/apps/${owned.ID}`)).AccessRequests;
      assert.equal(approved.text.includes(Credentials[0].Credential), false);
      const path = `/apps/${owned.ID}/access-requests/${request.ID}/credentials/${Credentials[0].ID}`;
      await ok('PUT', `${path}/rotate`);
      assert.match((await takeFor(owner.Email)).text, /was rotated/);
      await ok('DELETE', path);
      assert.match((await takeFor(owner.Email)).text, /was revoked/);
      await ok('PUT', `/apps/${owned.ID}/provision`, provision);
      const [[, second]] = [(await ok('GET', `/apps/${owned.ID}/access-requests`)).reverse()];
      await ok('PUT', `/access_requests/${second.ID}/reject?reason=Tell+us+more`);
      assert.match((await takeFor(owner.Email)).text, /Reason: Tell us more/);
    });

    test('activation, deactivation, and a password or address set by an administrator are mailed', async () => {
      const user = await addDeveloper(app());
      await takeFor(user.Email);
      const Email = `new-${createPublicId()}@example.org`;
      await ok('PUT', `/users/${user.ID}`, { Active: false, Password: 'correct horse battery', Email });
      assert.match((await takeFor(Email)).text, /no longer active/);
      assert.match((await takeFor(user.Email)).text, /An administrator set a new password/);
      assert.match((await takeFor(user.Email)).text, /changed the e-mail address/);
      await ok('PUT', `/users/${user.ID}`, { Active: true });
      assert.match((await takeFor(Email)).text, /Your account is active/);
    });

    test('templates can be changed, previewed, tested, turned off and restored', async () => {
      const draft = { Subject: 'Hi {{.user.First}}', Text: 'At {{.site.name}}: <{{.login_url}}>' };
      const preview = await ok('POST', '/mails/welcome_dev/preview', draft);
      assert.deepEqual(
        [preview.Subject, preview.Text.split('\n')[0]],
        ['Hi Ada', 'At Developer portal: <https://portal.example.org/auth/password/login>'],
      );
      assert.match(preview.Html, /&lt;https:/);
      const changed = await ok('PUT', '/mails/welcome_dev', { ...draft, Html: '<i>{{.user.First}}</i>' });
      assert.deepEqual(await ok('GET', '/mails/welcome_dev'), changed);
      assert.deepEqual(await ok('PUT', '/mails/welcome_dev', changed), { ...changed, UpdatedAt: changed.UpdatedAt });
      const { Email } = await addDeveloper(app(), { First: '<Eve>' });
      const { text } = await takeFor(Email);
      assert.match(text, /Subject: Hi <Eve>/);
      assert.match(text, /<i>&lt;Eve&gt;<\/i>/);
      await ok('POST', '/mails/welcome_dev/test', { To: 'me@example.org' });
      assert.match((await takeFor('me@example.org')).text, /Hi Ada/);
      await ok('PUT', '/mails/welcome_dev', { Enabled: false });
      const silent = await addDeveloper(app());
      const listed = (await ok('GET', '/mail-outbox?per_page=1000')).map((it: { To: string }) => it.To);
      assert.equal(listed.includes(silent.Email), false);
      await ok('DELETE', '/mails/welcome_dev');
      assert.deepEqual((await ok('GET', '/mails/welcome_dev')).Text, '');
    });

    test('a template with a fault, an endless one and a required mail turned off are refused', async () => {
      for (const Text of ['{{.site', '{{range until 100000}}{{range until 100000}}x{{end}}{{end}}'])
        assert.match((await ask('PUT', '/mails/approve', { Text })).body.errors[0], /The template cannot be rendered/);
      assert.equal((await ask('PUT', '/mails/verify', { Enabled: false })).status, 422);
      assert.equal((await ask('PUT', '/mails/nothing', {})).status, 422);
      assert.equal((await ask('GET', '/mails/constructor')).status, 404);
      assert.deepEqual((await ask('PUT', '/mails/approve', { Subjct: 'x' })).body.errors, [
        'Subjct: no such member; did you mean Subject?',
      ]);
    });

    test('previews, tests and restores refuse unknown mails and templates that cannot be rendered', async () => {
      const { mails } = app().application.installation.services.portal;
      assert.equal((await ask('POST', '/mails/nothing/preview', {})).status, 422);
      assert.equal((await ask('POST', '/mails/nothing/test', { To: 'me@example.org' })).status, 422);
      assert.equal((await ask('DELETE', '/mails/nothing')).status, 404);
      assert.equal((await ask('POST', '/mails/reject/preview', { Html: '{{end}}' })).status, 422);
      const broken = { Subject: '', Text: '{{.site', Html: '', Enabled: true, UpdatedAt: 0 };
      await mails.putTemplate({ Name: 'reject', ...broken });
      assert.equal((await ask('POST', '/mails/reject/test', { To: 'me@example.org' })).status, 422);
      await ok('DELETE', '/mails/reject');
    });

    test('every mail can be previewed with its sample', async () => {
      for (const name of Object.keys(mailTable)) {
        const { Subject, Text, Html } = await ok('POST', `/mails/${name}/preview`, {});
        assert.equal(/<no value>|{{/.test(Subject + Text + Html), false, name);
      }
      assert.deepEqual(
        (await ok('GET', '/mails')).map((it: { Name: string }) => it.Name),
        Object.keys(mailTable),
      );
    });

    test('a mail to a refused recipient fails once, shows why without its content, and can be sent again', async () => {
      const To = `refused-${createPublicId()}@example.org`;
      server.refusedRecipients.add(To);
      await ok('POST', '/mails/approve/test', { To });
      const failed = await eventually(async () => {
        const found = (await ok('GET', '/mail-outbox?state=failed')).find((it: { To: string }) => it.To === To);
        assert.ok(found);
        return found;
      });
      assert.match(failed.Error, /550/);
      assert.deepEqual(Object.keys(failed).includes('Sealed'), false);
      server.refusedRecipients.delete(To);
      await ok('PUT', `/mail-outbox/${failed.ID}/retry`);
      await takeFor(To);
      assert.equal((await ask('PUT', `/mail-outbox/${failed.ID}/retry`)).status, 422);
      assert.equal((await ask('PUT', '/mail-outbox/999999/retry')).status, 422);
    });

    test('a mail of a rolled back change is not sent, and a flood to one address is bounded', async () => {
      const { portal, records, clock } = app().application.installation.services;
      const user = { First: '', Last: '', Email: `flood-${createPublicId()}@example.org` };
      const send = () => portal.sendMail.send('deactivate', user, { name: '', reason: '' });
      await assert.rejects(
        records.write(async () => {
          await send();
          throw new Error('rolled back');
        }),
      );
      // A claim of another process keeps the mails waiting.
      await records.write(async () => {
        for (let count = 0; count < 110; count++) await send();
        await portal.mails.claim('another process', clock.now(), 600_000, 1000);
      });
      const queued = (await ok('GET', '/mail-outbox?per_page=1000')).filter(
        (it: { To: string }) => it.To === user.Email,
      );
      assert.equal(queued.length, 100);
    });
  });

onEveryEngine('mails of a portal without a mail server', app => {
  test('a test is refused, and changes enqueue nothing', async () => {
    const answer = await app().ask('POST', '/portal-api/mails/approve/test', { body: { To: 'me@example.org' } });
    assert.equal(answer.status, 409);
    await addDeveloper(app());
    assert.deepEqual(await requestPortal(app(), 'GET', '/portal-api/mail-outbox'), []);
  });
});
