import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { systemClock } from '#base/clock.ts';
import { resolveNodeId } from '#storage/node-id.ts';
import { engines } from '../../../tests/support/app.ts';
import { eventually, testInstallation } from '../../../tests/support/installation.ts';
import { startMailServer } from '../../../tests/support/mail.ts';

const dayMs = 86_400_000;

for (const engine of engines)
  describe(`outbox of the portal (${engine})`, () => {
    test('a restart sends what an ended process had claimed; old mails are deleted, and a full outbox drops all but required ones', async () => {
      const server = await startMailServer({ user: 'portal', password: 'mail-secret-2' });
      const installation = await testInstallation(engine, {
        'mail.smtp_url': server.url,
        'mail.from': 'portal@example.org',
        'mail.require_tls': 'false',
        'portal.max_queued_mails': '4',
        'portal.mail_retention_days': '2',
      });
      try {
        const first = await installation.start();
        const { portal, records, clock, settings } = first.application.installation.services;
        const send = (Email: string) =>
          portal.sendMail.send('deactivate', { First: '', Last: '', Email }, { name: '', reason: '' });
        const node = resolveNodeId(settings, first.application.installation.directory);
        await portal.mails.add(anOldMail(), 10);
        // The claim commits with the mails, so that this process never sends them: as if it ended right after it.
        await records.write(async () => {
          for (let count = 0; count < 5; count++) await send(`user-${count}@example.org`);
          const links = { login_url: '', reset_password_url: '' };
          for (let count = 0; count < 2; count++)
            await portal.sendMail.send('account_exists', { First: '', Last: '', Email: 'required@example.org' }, links);
          await portal.mails.claim(node, clock.now(), dayMs, 10);
        });
        await first.stop();
        assert.equal(server.mails.length, 0);
        const second = await installation.start();
        const received = [await server.take(), await server.take(), await server.take(), await server.take()];
        assert.deepEqual(
          received.flatMap(it => it.to).sort(),
          ['required', 'user-0', 'user-1', 'user-2'].map(it => `${it}@example.org`),
        );
        const { mails } = second.application.installation.services.portal;
        await eventually(async () => {
          const stored = await mails.page({ page: 1, per_page: 10 });
          assert.deepEqual(
            stored.map(it => [it.State, it.Sealed]),
            Array(4).fill(['sent', '']),
          );
        });
      } finally {
        await installation.close();
        await server.close();
      }
    });
  });

const anOldMail = () => {
  const past = systemClock.now() - 3 * dayMs;
  const times = { DueAt: past, CreatedAt: past, UpdatedAt: past };
  const state = { State: 'sent' as const, Attempts: 1, Error: '', MessageID: '<old@example.org>', Sealed: '' };
  return { Name: 'approve' as const, To: 'old@example.org', ...state, ...times };
};
