import type { Clock } from '#base/clock.ts';
import { createPublicId } from '#base/ids.ts';
import type { Log } from '#base/log.ts';
import type { Mailer } from '#base/mailer.ts';
import type { Settings } from '#base/settings.ts';
import { findNotifiedMail } from '../notifications/kinds.ts';
import type { NotificationStore } from '../notifications/store.ts';
import { readPortalUrl } from '../portal-url.ts';
import type { SiteTheme } from '../themes/active-theme.ts';
import type { StoredPortalUser } from '../users/schema.ts';
import type { PortalUserStore } from '../users/store.ts';
import { type MailName, type MailVariables, mailTable } from './mail-table.ts';
import { describeTemplateFault, type MailData, type MailSite, renderMail } from './render.ts';
import type { MailTemplates, RenderedMail } from './schema.ts';
import type { MailStore } from './store.ts';

export interface PortalMailServices {
  readonly mails: MailStore;
  readonly notifications: Pick<NotificationStore, 'add' | 'readChoices'>;
  readonly users: Pick<PortalUserStore, 'listAdministrators'>;
  readonly readTheme: () => Promise<SiteTheme>;
  readonly mailer: Pick<Mailer, 'isConfigured'>;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn' | 'error'>;
}

type MailUser = Pick<StoredPortalUser, 'First' | 'Last' | 'Email'> & { readonly ID?: number };

/** Mails of the portal: rendered and put into the outbox, inside the transaction of the change that they report. */
export function createPortalMails(services: PortalMailServices) {
  const { mails, users, mailer, settings } = services;

  /** Renders a mail about a user, and enqueues it for each address. */
  async function sendTo<Name extends MailName>(
    addresses: readonly string[],
    name: Name,
    user: MailUser,
    variables: MailVariables<Name>,
  ): Promise<void> {
    if (!mailer.isConfigured || addresses.length === 0) return;
    const own = await mails.findTemplate(name);
    if (own && !own.Enabled && !('isRequired' in mailTable[name])) return;
    const content = await renderOrDefault(services, name, own ?? {}, user, variables);
    for (const address of addresses) await enqueueMail(services, name, address, content);
  }

  return {
    get isConfigured(): boolean {
      return mailer.isConfigured;
    },
    render: <Name extends MailName>(
      name: Name,
      own: Partial<MailTemplates>,
      user: MailUser,
      variables: MailVariables<Name>,
    ) => render(services, name, own, user, variables),
    /** Enqueues a mail to a user, and notifies the user on the site, as chosen. Without a mail server no mail is sent. */
    async send<Name extends MailName>(name: Name, user: MailUser, variables: MailVariables<Name>): Promise<void> {
      if (await notifyOnSite(services, name, user, variables)) await sendTo([user.Email], name, user, variables);
    },
    /** Enqueues a mail about a user to `portal.admin_mail`, or to the active administrators. */
    async sendToAdministrators<Name extends MailName>(
      name: Name,
      user: MailUser,
      variables: MailVariables<Name>,
    ): Promise<void> {
      if (!mailer.isConfigured) return;
      const own = settings['portal.admin_mail'];
      const addresses = own ? [own] : (await users.listAdministrators()).map(({ Email }) => Email);
      await sendTo(addresses.slice(0, maxAdministrators), name, user, variables);
    },
    /** Enqueues a rendered mail, as a test. */
    enqueue: (name: MailName, to: string, content: RenderedMail) => enqueueMail(services, name, to, content),
  };
}

/** Adds the notification of a mail; true where the user wants the mail too. */
async function notifyOnSite<Name extends MailName>(
  { notifications, settings }: PortalMailServices,
  name: Name,
  user: MailUser,
  variables: MailVariables<Name>,
): Promise<boolean> {
  const notified = findNotifiedMail(name);
  if (!notified || !user.ID) return true;
  const data = { ...(variables as object), site: describeSite(settings, undefined), user };
  const { subject } = renderMail(name, {}, { html: undefined, text: undefined }, data);
  const url = (variables as Readonly<Record<string, unknown>>)[notified.url];
  const page = typeof url === 'string' ? URL.parse(url) : null;
  await notifications.add(user.ID, notified.kind, subject, page ? page.pathname + page.search : '');
  return (await notifications.readChoices(user.ID))[notified.kind].mail;
}

async function render<Name extends MailName>(
  { readTheme, settings }: PortalMailServices,
  name: Name,
  own: Partial<MailTemplates>,
  { First, Last, Email }: MailUser,
  variables: MailVariables<Name>,
): Promise<RenderedMail> {
  const theme = await readTheme();
  const site = describeSite(settings, theme);
  const data: MailData = { ...(variables as object), site, user: { First, Last, Email } };
  return renderMail(name, own, theme.readMail(mailTable[name].theme), data);
}

/** A template that fails on real data, though it suits the sample, does not cost the mail. */
async function renderOrDefault<Name extends MailName>(
  services: PortalMailServices,
  name: Name,
  own: Partial<MailTemplates>,
  user: MailUser,
  variables: MailVariables<Name>,
): Promise<RenderedMail> {
  try {
    return await render(services, name, own, user, variables);
  } catch (error) {
    services.log.error(
      { mail: name, reason: describeTemplateFault(error) },
      'mail template failed, using the default one',
    );
    const data = { ...(variables as object), site: describeSite(services.settings, undefined), user };
    return renderMail(name, {}, { html: undefined, text: undefined }, data);
  }
}

/** A tenth of the outbox is for mails without which an account cannot be used: a flood of others does not drop them. */
const findQueueBound = (name: MailName, maxQueued: number) =>
  'isRequired' in mailTable[name] ? maxQueued : Math.max(1, maxQueued - Math.ceil(maxQueued / 10));

async function enqueueMail(
  { mails, settings, clock, log }: PortalMailServices,
  name: MailName,
  to: string,
  content: RenderedMail,
): Promise<void> {
  const now = clock.now();
  const host = URL.parse(readPortalUrl(settings))?.hostname ?? 'localhost';
  const mail = {
    Name: name,
    To: to,
    State: 'waiting' as const,
    Attempts: 0,
    Error: '',
    MessageID: `<${createPublicId()}@${host}>`,
    Sealed: mails.seal(content),
    DueAt: now,
    CreatedAt: now,
    UpdatedAt: now,
  };
  if (await mails.add(mail, findQueueBound(name, settings['portal.max_queued_mails']))) return;
  log.warn({ mail: name }, 'mail dropped, outbox full');
}

/** Administrators who get a mail each. */
const maxAdministrators = 50;

/** Links of mails are those of the configured address: a `Host` header is chosen by the client. */
function describeSite(settings: Settings, theme: SiteTheme | undefined): MailSite {
  const url = readPortalUrl(settings);
  return {
    name: theme?.title || settings['portal.name'],
    url,
    logo: theme?.logo ? url + theme.logo : '',
    support: settings['portal.support'],
  };
}
