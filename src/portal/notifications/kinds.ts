import type { MailName } from '../mails/mail-table.ts';

/** Kinds of notifications; a user chooses for each whether it is shown on the site and mailed. */
export const notificationKinds = ['requests', 'credentials', 'products', 'team', 'security'] as const;
export type NotificationKind = (typeof notificationKinds)[number];

export interface NotificationChoice {
  readonly site: boolean;
  readonly mail: boolean;
}
export type NotificationChoices = Readonly<Record<NotificationKind, NotificationChoice>>;

const both: NotificationChoice = { site: true, mail: true };
/** Notifications about the protection of an account cannot be turned off. */
export const isRequiredKind = (kind: NotificationKind): boolean => kind === 'security';

/** Choices of a user: stored ones, and both ways for the others. */
export const completeChoices = (stored: Partial<NotificationChoices> = {}): NotificationChoices =>
  Object.fromEntries(
    notificationKinds.map(kind => [kind, isRequiredKind(kind) ? both : (stored[kind] ?? both)]),
  ) as unknown as NotificationChoices;

interface NotifiedMail {
  readonly kind: NotificationKind;
  /** Variable of the mail with the address of the page. */
  readonly url: string;
}

/** Mails that are notifications too; the subject is their text. The others are needed to use an account. */
const notifiedMails: Partial<Record<MailName, NotifiedMail>> = {
  approve: { kind: 'requests', url: 'app_url' },
  reject: { kind: 'requests', url: 'retry_url' },
  planchanged: { kind: 'requests', url: 'app_url' },
  rotated: { kind: 'credentials', url: 'app_url' },
  revoked: { kind: 'credentials', url: 'app_url' },
  keytoexpire: { kind: 'credentials', url: 'renew_url' },
  credentialnote: { kind: 'credentials', url: 'url' },
  keyexpired: { kind: 'credentials', url: 'renew_url' },
  certtoexpire: { kind: 'credentials', url: 'app_url' },
  certexpired: { kind: 'credentials', url: 'app_url' },
  quota: { kind: 'credentials', url: 'app_url' },
  announce: { kind: 'products', url: 'url' },
  organisation_approve: { kind: 'team', url: 'url' },
  organisation_reject: { kind: 'team', url: 'organisation_url' },
  security: { kind: 'security', url: 'help_url' },
};

export const findNotifiedMail = (name: MailName): NotifiedMail | undefined => notifiedMails[name];
