import type { Log } from '#base/log.ts';
import { describeMailFailure, type MailError } from '#base/mailer.ts';

/** Jobs that wait for the mail server. */
const maxQueuedJobs = 100;

export type MailQueue = ReturnType<typeof createMailQueue>;

/** Queue of mails behind the response of a request, one after the other; one beyond the bound is dropped and logged. */
export function createMailQueue(log: Log) {
  let queued = 0;
  let last: Promise<void> = Promise.resolve();

  return {
    /** `about` names the mail in the log. */
    enqueue(about: string, send: () => Promise<void>): void {
      if (queued >= maxQueuedJobs) return log.warn({ mail: about, queued }, 'mail dropped, queue full');
      queued++;
      last = last
        .then(send)
        .catch((error: MailError) => log.error({ mail: about, ...describeMailFailure(error) }, 'mail not sent'))
        .finally(() => void queued--);
    },
    /** Resolves when the queue is empty. */
    drain: () => last,
  };
}
