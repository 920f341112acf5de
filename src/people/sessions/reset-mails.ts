import type { Log } from '#base/log.ts';
import type { Mailer } from '#base/mailer.ts';
import type { OrganisationStore } from '../organisations/store.ts';
import type { UserStore } from '../users/store.ts';
import { createResetLink, type ResetLinkServices } from './reset-link.ts';

export interface ResetMailServices extends ResetLinkServices {
  users: UserStore;
  organisations: OrganisationStore;
  mailer: Mailer;
  log: Log;
}

export type ResetMails = ReturnType<typeof createResetMails>;

/** Requests that wait for the mail server. */
const maxQueuedRequests = 100;

/**
 * Mails with a link to set a password. Accounts are looked up and mails sent behind the response, one after the other:
 * its time does not depend on whether the address has an account.
 */
export function createResetMails(services: ResetMailServices) {
  const { log } = services;
  let queued = 0;
  let last: Promise<void> = Promise.resolve();

  async function send(email: string, orgId: string | undefined): Promise<void> {
    const accounts = (await services.users.findByEmail(email, orgId)).filter(user => user.active);
    if (accounts.length === 0) return;
    const parts = await Promise.all(
      accounts.map(async user => {
        const { link } = await createResetLink(services, user, services.settings['sign_in.reset_ttl_seconds']);
        const organisation = await services.organisations.get(user.org_id);
        return `${organisation?.owner_name ?? user.org_id}:\n${link}\n`;
      }),
    );
    const minutes = Math.floor(services.settings['sign_in.reset_ttl_seconds'] / 60);
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
    /** Queues a request; one beyond the bound is dropped and logged. */
    enqueue(email: string, orgId: string | undefined): void {
      if (queued >= maxQueuedRequests) return log.warn({ queued }, 'password reset mail dropped, queue full');
      queued++;
      last = last
        .then(() => send(email, orgId))
        .catch((error: MailError) => log.error(describeFailure(error), 'password reset mail not sent'))
        .finally(() => void queued--);
    },
    async close(): Promise<void> {
      await last;
      services.mailer.close();
    },
  };
}

interface MailError extends Error {
  readonly code?: string;
  readonly command?: string;
  readonly responseCode?: number;
}

/** Failure of the mail server, without its message: servers repeat the address in it. */
const describeFailure = ({ message, code, command, responseCode }: MailError) =>
  command === undefined ? { reason: message } : { reason: code, command, status: responseCode };
