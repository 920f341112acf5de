import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { engines, startApp, type TestApp } from '../../../tests/support/app.ts';
import { addPerson } from '../../../tests/support/browser.ts';
import { type MailServer, startMailServer } from '../../../tests/support/mail.ts';

const settingsPath = '/api/org/settings';
const testPath = '/api/org/test-mail';

for (const engine of engines)
  describe(`Settings of an organisation (${engine})`, () => {
    let app: TestApp;
    let mail: MailServer;
    before(async () => {
      mail = await startMailServer({ user: 'gw', password: 'secret' });
      const settings = {
        'mail.smtp_url': mail.url,
        'mail.from': 'Gatewright <gw@example.org>',
        'mail.require_tls': 'false',
        'audit.retention_days': '7',
      };
      app = await startApp(engine, { settings });
    });
    after(async () => {
      await app?.close();
      await mail?.close();
    });

    test('an administrator reads the limits and retention of the own organisation, another user does not', async () => {
      const { orgId, accessKey: credential } = await app.stranger();
      const read = async () => (await app.ask('GET', settingsPath, { credential })).body;
      assert.equal((await read()).limits, null);
      const limits = { rate: 10, per: 60, quota_max: 1000, quota_renewal_rate: 3600 };
      const body = { org_id: orgId, allowance: 10, ...limits };
      const created = await app.ask('POST', '/admin/org/keys', { body });
      assert.equal(created.status, 200, created.text);
      const { limits: stored, retention_days, has_mail_server } = await read();
      assert.deepEqual(stored, limits);
      assert.equal(retention_days.audit, 7);
      assert.equal(has_mail_server, true);
      assert.equal((await app.ask('GET', settingsPath)).body.limits, null, 'another organisation');
      const person = await addPerson(app, { user_permissions: { apis: 'read' } });
      assert.equal((await app.ask('GET', settingsPath, { credential: person.accessKey })).status, 403);
    });

    test('a test mail goes to the own address; a refusal of the server is named, and a sixth mail is limited', async () => {
      const person = await addPerson(app, { user_permissions: { IsAdmin: 'admin' } });
      const send = () => app.ask('POST', testPath, { credential: person.accessKey });
      assert.equal((await send()).status, 200);
      assert.deepEqual((await mail.take()).to, [person.username]);
      mail.refusedRecipients.add(person.username);
      const refused = await send();
      assert.equal(refused.status, 502, refused.text);
      assert.match(refused.text, /The mail server did not accept the mail: EENVELOPE/);
      for (let count = 0; count < 3; count++) await send();
      const limited = await send();
      assert.equal(limited.status, 429, limited.text);
    });
  });

describe('Settings of an organisation without a mail server', () => {
  let app: TestApp;
  before(async () => {
    app = await startApp('sqlite');
  });
  after(() => app?.close());

  test('a test mail is refused with the setting that is missing', async () => {
    assert.equal((await app.ask('GET', settingsPath)).body.has_mail_server, false);
    const answer = await app.ask('POST', testPath);
    assert.equal(answer.status, 409, answer.text);
    assert.match(answer.text, /mail\.smtp_url is not set/);
  });
});
