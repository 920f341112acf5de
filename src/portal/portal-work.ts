import { type AnnouncementServices, startAnnouncements } from './changelog/announcement.ts';
import { type SettingRefreshOptions, startSettingRefresh } from './configuration/stored-settings.ts';
import { type ExpiryServices, startExpiryNotices } from './expiry-notices/expiry-notices.ts';
import { type MailSenderOptions, startMailSender } from './mails/mail-sender.ts';
import { startProviderTaskRunner, type TaskRunnerOptions } from './provider-tasks/task-runner.ts';
import { type QuotaNoticeServices, startQuotaNotices } from './quota-notices/quota-notices.ts';
import { type IndexServices, startIndexing } from './search/missing-entries.ts';

/** Starts the periodic work of the portal: mails, calls of providers, notices, announcements, the search index. */
export function startPortalWork(
  options: MailSenderOptions &
    TaskRunnerOptions &
    ExpiryServices &
    QuotaNoticeServices &
    AnnouncementServices &
    IndexServices &
    SettingRefreshOptions,
) {
  const works = [
    startMailSender(options),
    startProviderTaskRunner(options),
    startExpiryNotices(options),
    startQuotaNotices(options),
    startAnnouncements(options),
    startIndexing(options),
    startSettingRefresh(options),
  ];
  return { close: () => Promise.all(works.map(work => work.close())) };
}
