import { type ExpiryServices, startExpiryNotices } from './expiry-notices/expiry-notices.ts';
import { type MailSenderOptions, startMailSender } from './mails/mail-sender.ts';
import { startProviderTaskRunner, type TaskRunnerOptions } from './provider-tasks/task-runner.ts';
import { type QuotaNoticeServices, startQuotaNotices } from './quota-notices/quota-notices.ts';

/** Starts the periodic work of the portal: mails, calls of providers, notices of expiry and of quotas. */
export function startPortalWork(options: MailSenderOptions & TaskRunnerOptions & ExpiryServices & QuotaNoticeServices) {
  const works = [
    startMailSender(options),
    startProviderTaskRunner(options),
    startExpiryNotices(options),
    startQuotaNotices(options),
  ];
  return { close: () => Promise.all(works.map(work => work.close())) };
}
