import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import { describeMailFailure, isRecipientRefused, type MailError, type Mailer } from '#base/mailer.ts';
import { every, type RepeatedWork } from '#base/repeat.ts';
import type { Settings } from '#base/settings.ts';
import type { StoredMail } from './schema.ts';
import type { MailStore } from './store.ts';

export interface MailSenderOptions {
  readonly portal: { readonly mails: MailStore };
  readonly mailer: Mailer;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Log;
  /** Identifies this process among those on the database, also after a restart. */
  readonly node: string;
}

/** Mails of one run, sent concurrently. */
const maxConcurrentMails = 5;
const pollIntervalMs = 1000;
/** Steps of an SMTP session, each of which may take the timeout: a longer lease belongs to a process that ended. */
const maxSessionSteps = 20;
const maxAttempts = 12;
const firstBackoffMs = 30_000;
const maxBackoffMs = 3_600_000;
const pruneIntervalMs = 3_600_000;
const dayMs = 86_400_000;

/**
 * Sends the mails of the outbox. At least once: one whose process ends between the acceptance by the mail server and
 * the record of it is sent again with the same `Message-ID`.
 */
export function startMailSender(options: MailSenderOptions): RepeatedWork {
  const { mailer, settings, clock, log, node } = options;
  const { mails } = options.portal;
  const leaseMs = maxSessionSteps * settings['mail.timeout_ms'];
  let isReleased = false;
  let prunedAt = 0;
  let isFailing = false;

  async function run(): Promise<void> {
    if (!isReleased) await mails.releaseOwn(node, clock.now());
    isReleased = true;
    for (;;) {
      const claimed = await mails.claim(node, clock.now(), leaseMs, maxConcurrentMails);
      isFailing = false;
      await Promise.all(claimed.map(mail => sendMail(mail, options)));
      if (claimed.length < maxConcurrentMails || loop.isStopping) break;
    }
    if (clock.now() - prunedAt < pruneIntervalMs) return;
    prunedAt = clock.now();
    while (await mails.prune(clock.now() - settings['portal.mail_retention_days'] * dayMs));
  }

  /** Logs once until the outbox works again. */
  function onError({ message: reason }: Error): void {
    if (!isFailing) log.warn({ reason }, 'mail outbox unavailable, retrying');
    isFailing = true;
  }

  const loop = { isStopping: false };
  if (!mailer.isConfigured) return { wake: async () => undefined, stop: () => undefined, close: async () => undefined };
  const work = every(pollIntervalMs, run, { onError, runsAtStart: true });
  const stop = () => {
    loop.isStopping = true;
    work.stop();
  };
  return {
    wake: work.wake,
    stop,
    close() {
      stop();
      return work.close();
    },
  };
}

async function sendMail(mail: StoredMail, { portal: { mails }, mailer, clock, log }: MailSenderOptions): Promise<void> {
  const { To: to, MessageID: messageId, ID, Name } = mail;
  const Attempts = mail.Attempts + 1;
  try {
    await mailer.send({ to, messageId, ...mails.open(mail) });
    await mails.record({ ...mail, Attempts, State: 'sent', Error: '', Sealed: '', UpdatedAt: clock.now() });
  } catch (error) {
    const failure = describeMailFailure(error as MailError);
    const isOver = isRecipientRefused(error as MailError) || Attempts >= maxAttempts;
    const backoffMs = Math.min(firstBackoffMs * 2 ** (Attempts - 1), maxBackoffMs);
    const now = clock.now();
    const state = isOver ? ('failed' as const) : ('waiting' as const);
    const reason = Object.values(failure).filter(Boolean).join(' ');
    await mails.record({ ...mail, Attempts, State: state, Error: reason, DueAt: now + backoffMs, UpdatedAt: now });
    log.warn(
      { id: ID, mail: Name, attempts: Attempts, ...failure },
      isOver ? 'mail not sent' : 'mail delayed, retrying',
    );
  }
}
