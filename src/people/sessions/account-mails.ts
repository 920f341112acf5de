import { type Clock, formatHttpDate } from '#base/clock.ts';
import { createFailureCounter } from '#base/failure-counter.ts';
import type { Mailer } from '#base/mailer.ts';
import type { OrganisationStore } from '../organisations/store.ts';
import type { StoredUser } from '../users/schema.ts';
import type { MailQueue } from './mail-queue.ts';

/** Changes of credentials that the owner of an account gets a mail about. */
const changes = {
  'totp-added': 'An authenticator app was added.',
  'totp-removed': 'The authenticator app was removed.',
  'recovery-codes-renewed': 'The recovery codes were replaced.',
  'passkey-added': 'A passkey was added.',
  'passkey-removed': 'A passkey was removed.',
  'factors-removed': 'An administrator removed the authenticator app, recovery codes and passkeys.',
  'codes-limited':
    'Sign-ins with the right password and wrong codes reached the limit: further codes are refused for a time. If it was not you, set a new password.',
} as const;
export type AccountChange = keyof typeof changes;

export interface AccountMailServices {
  mailer: Mailer;
  mailQueue: MailQueue;
  organisations: OrganisationStore;
  clock: Clock;
}

/** Mails about changes to one account in a day. */
const maxMailsPerAccount = 20;
const dayMs = 86_400_000;
const maxKeys = 20_000;

export type AccountMails = ReturnType<typeof createAccountMails>;

/** Notices by mail of changes to the second factors of an account, where a mail server is configured. */
export function createAccountMails({ mailer, mailQueue, organisations, clock }: AccountMailServices) {
  const sent = createFailureCounter({ maxFailures: maxMailsPerAccount, windowMs: dayMs, maxKeys }, clock);

  async function send({ email_address: to, org_id }: StoredUser, change: AccountChange, atMs: number): Promise<void> {
    const organisation = await organisations.get(org_id);
    await mailer.send({
      to,
      subject: change === 'codes-limited' ? 'Failed sign-ins to your account' : 'Sign-in to your account was changed',
      text: [
        changes[change],
        `Account: ${to}\nOrganisation: ${organisation?.owner_name ?? org_id}\nTime: ${formatHttpDate(atMs)}`,
        'If it was not you, set a new password and report it to an administrator.\n',
      ].join('\n\n'),
    });
  }

  return {
    /** Queues a mail; the response of the request does not wait for it. */
    notify(user: StoredUser, change: AccountChange): void {
      if (!mailer.isConfigured || sent.isOverLimit(user.id)) return;
      sent.record(user.id);
      const atMs = clock.now();
      mailQueue.enqueue(`account change ${change}`, () => send(user, change, atMs));
    },
  };
}
