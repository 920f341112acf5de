import type { Mailer } from '#base/mailer.ts';
import type { OrganisationStore } from '../organisations/store.ts';
import type { UserStore } from '../users/store.ts';
import type { MailQueue } from './mail-queue.ts';
import { createResetLink, createResetToken, type ResetLinkServices } from './reset-link.ts';

export interface ResetMailServices extends ResetLinkServices {
  users: UserStore;
  organisations: OrganisationStore;
  mailer: Mailer;
  mailQueue: MailQueue;
}

export type ResetMails = ReturnType<typeof createResetMails>;

/** Owner of the tokens of unknown addresses; no account has this id. */
const unknownOwner = { id: 'unknown address', org_id: '' };

/**
 * Mails with a link to set a password. Accounts are looked up and mails sent behind the response, one after the other:
 * its time does not depend on whether the address has an account.
 */
export function createResetMails(services: ResetMailServices) {
  const ttlSeconds = services.settings['sign_in.reset_ttl_seconds'];

  async function send(email: string, orgId: string | undefined): Promise<void> {
    const accounts = (await services.users.findByEmail(email, orgId)).filter(user => user.active);
    if (accounts.length === 0) {
      // User enumeration by timing: a write delays other requests, so that an unknown address gets one too.
      await createResetToken(services, unknownOwner, ttlSeconds);
      return;
    }
    const parts = await Promise.all(
      accounts.map(async user => {
        const { link } = await createResetLink(services, user, ttlSeconds);
        const organisation = await services.organisations.get(user.org_id);
        return `${organisation?.owner_name ?? user.org_id}:\n${link}\n`;
      }),
    );
    const minutes = Math.floor(ttlSeconds / 60);
    await services.mailer.send({
      to: email,
      subject: 'Set a new password',
      text: [
        `A new password was requested for this address. The link works once, within ${minutes} minutes:`,
        ...parts,
        'If you did not request it, ignore this mail: the password stays as it is.\n',
      ].join('\n\n'),
    });
  }

  return {
    get isConfigured(): boolean {
      return services.mailer.isConfigured;
    },
    /** Queues a request. */
    enqueue(email: string, orgId: string | undefined): void {
      services.mailQueue.enqueue('password reset', () => send(email, orgId));
    },
    async close(): Promise<void> {
      await services.mailQueue.drain();
      services.mailer.close();
    },
  };
}
