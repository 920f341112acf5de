import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { engines, startApp, type TestApp } from '../../tests/support/app.ts';
import { type MailServer, startMailServer } from '../../tests/support/mail.ts';
import { requestPortal } from '../../tests/support/portal.ts';
import { type NoticeFlow, noticeFlows } from '../../tests/support/portal-notices.ts';
import { eventually } from '../../tests/support/upstream.ts';
import { type Receiver, startReceiver } from '../../tests/support/webhooks.ts';
import { mailTable } from './mails/mail-table.ts';
import { portalEvents } from './webhooks/schema.ts';

for (const engine of engines)
  describe(`events and mails of the portal on ${engine}`, () => {
    let app: TestApp;
    let mail: MailServer;
    let receiver: Receiver;
    before(async () => {
      [mail, receiver] = await Promise.all([startMailServer({ user: 'gw', password: 'secret' }), startReceiver()]);
      app = await startApp(engine, {
        settings: {
          'mail.smtp_url': mail.url,
          'mail.from': 'portal@example.org',
          'mail.require_tls': 'false',
          'portal.url': 'https://dev.example.org',
          'portal.admin_mail': 'admins@example.org',
          'portal.registration': 'approval',
        },
      });
    });
    after(async () => {
      await app?.close();
      await mail?.close();
      await receiver?.close();
    });

    const waitForOutbox = () =>
      eventually(async () => {
        const outbox = await requestPortal(app, 'GET', '/portal-api/mail-outbox?per_page=1000');
        assert.deepEqual(
          outbox.filter((it: { State: string }) => it.State !== 'sent'),
          [],
        );
      });
    /** Long lines of a head are folded (RFC 5322, section 2.2.3). */
    const readMails = (from: number) => mail.mails.slice(from).map(({ text }) => text.replaceAll(/\r\n[ \t]/g, ' '));

    /** A webhook with all events, and the mails from now on. */
    async function watch() {
      const path = `/${createPublicId()}`;
      const hook = { Name: 'all', URL: receiver.url + path, Method: 'POST', Events: portalEvents };
      const { ID } = await requestPortal(app, 'POST', '/portal-api/webhooks', hook, 201);
      await waitForOutbox();
      const first = mail.mails.length;
      return {
        readMails: () => readMails(first),
        takeEvents: async (count: number): Promise<string[]> =>
          (await receiver.take(path, count)).map(({ body }) => JSON.parse(body).Event),
        remove: () => requestPortal(app, 'DELETE', `/portal-api/webhooks/${ID}`),
      };
    }

    async function check({ run, events, mails }: NoticeFlow) {
      let watched: Awaited<ReturnType<typeof watch>> | undefined;
      await run({
        app,
        upstreamUrl: receiver.url,
        begin: async () => {
          watched = await watch();
        },
        readToken: subject =>
          eventually(() => {
            const found = watched!.readMails().find(text => subject.test(text));
            return /token=([\w-]+)/.exec(found ?? '')?.[1] ?? assert.fail(`no mail ${subject}`);
          }),
      });
      const { takeEvents, readMails: read, remove } = watched!;
      assert.deepEqual(await takeEvents(events.length), events);
      const expected = Object.values(mails);
      await eventually(() => {
        const texts = read();
        assert.equal(texts.length, expected.length, texts.map(text => /^Subject:.*/m.exec(text)?.[0]).join('\n'));
        for (const pattern of expected) assert.equal(texts.filter(text => pattern.test(text)).length, 1, `${pattern}`);
      });
      await remove();
    }

    for (const flow of noticeFlows)
      test(`${flow.name}: each event is delivered and each mail is sent once`, () => check(flow));
  });

describe('events and mails of the portal', () => {
  test('every event and every mail belongs to a flow of this test', () => {
    const events = new Set(noticeFlows.flatMap(it => it.events));
    const mails = new Set(noticeFlows.flatMap(it => Object.keys(it.mails)));
    assert.deepEqual([...events].sort(), [...portalEvents].sort());
    assert.deepEqual([...mails].sort(), Object.keys(mailTable).sort());
  });
});
