import type { Clock } from '#base/clock.ts';
import { createFailureCounter } from '#base/failure-counter.ts';
import { describeMailFailure, type MailError, type Mailer, mailProblem } from '#base/mailer.ts';
import { problem } from './problems.ts';

/** Test mails of one user in an hour. */
const maxMailsPerUser = 5;
const hourMs = 3_600_000;
const maxKeys = 20_000;

export type TestMails = ReturnType<typeof createTestMails>;

/** Test mails of administrators to their own address: the response waits for the mail server. */
export function createTestMails(mailer: Mailer, clock: Clock) {
  const sent = createFailureCounter({ maxFailures: maxMailsPerUser, windowMs: hourMs, maxKeys }, clock);
  return {
    get isConfigured(): boolean {
      return mailer.isConfigured;
    },
    async send(userId: string, to: string): Promise<void> {
      if (!mailer.isConfigured) throw mailProblem.not_configured();
      if (to === '') throw problem.test_mail_failed({ detail: { reason: 'the account has no address' } });
      if (sent.isOverLimit(userId)) {
        const seconds = sent.retryAfterSeconds(userId);
        throw problem.test_mail_limited({ detail: { when: `in ${seconds} seconds`, retryAfter: seconds } });
      }
      sent.record(userId);
      const text = 'This mail was requested on the page Settings of the dashboard: mails reach this address.\n';
      await mailer.send({ to, subject: 'Test of the mail server', text }).catch((error: MailError) => {
        const { reason, ...rest } = describeMailFailure(error);
        throw problem.test_mail_failed({
          detail: { reason: [reason, ...Object.values(rest)].filter(Boolean).join(' ') },
        });
      });
    },
  };
}
