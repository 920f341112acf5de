import { type ExpiryServices, startExpiryNotices } from './expiry-notices/expiry-notices.ts';
import { type MailSenderOptions, startMailSender } from './mails/mail-sender.ts';
import { startProviderTaskRunner, type TaskRunnerOptions } from './provider-tasks/task-runner.ts';

/** Starts the periodic work of the portal: mails, calls of providers, notices of expiry. */
export function startPortalWork(options: MailSenderOptions & TaskRunnerOptions & ExpiryServices) {
  const works = [startMailSender(options), startProviderTaskRunner(options), startExpiryNotices(options)];
  return { close: () => Promise.all(works.map(work => work.close())) };
}
