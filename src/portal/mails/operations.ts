import { z } from 'zod';
import { mailProblem } from '#base/mailer.ts';
import { operation } from '#operations/operation.ts';
import type { PortalServices } from '../portal-stores.ts';
import { present, problem } from '../problems.ts';
import {
  applyLimit,
  numberedId,
  okMessage,
  okMessageResponse,
  okResponse,
  okStatus,
  portalPageQuery,
} from '../shapes.ts';
import { type MailName, mailTable } from './mail-table.ts';
import { renderSampleMail, requireMailName } from './sample-mail.ts';
import {
  MailDraft,
  MailPreview,
  MailTemplateChange,
  mailStates,
  OutboxMail,
  PortalMail,
  PortalMailRow,
  toMailRow,
  toMailView,
  toOutboxView,
} from './schema.ts';

const declared = { surface: 'portal', noun: 'mails', permission: 'secret' } as const;
const params = z.object({ mail_name: z.string().max(100).describe('Name of the mail, such as `approve`') });
type Services = Pick<PortalServices, 'portal'>;

export const listPortalMails = operation({
  ...declared,
  name: 'listPortalMails',
  method: 'GET',
  path: '/portal-api/mails',
  about: 'Lists the mails that the portal sends, with the numbers of each in the outbox.',
  returns: z.array(PortalMailRow),
  async handle(_call, { portal: { mails } }: Services) {
    const totalsOf = await mails.totals();
    const stored = await mails.listTemplates();
    return (Object.keys(mailTable) as MailName[]).map(name => toMailRow(name, stored.get(name), totalsOf(name)));
  },
});

const loadMail = async (name: MailName, { portal: { mails } }: Services) =>
  toMailView(name, await mails.findTemplate(name), (await mails.totals())(name));

export const getPortalMail = operation({
  ...declared,
  name: 'getPortalMail',
  method: 'GET',
  path: '/portal-api/mails/{mail_name}',
  about: 'Returns a mail with its changed templates, which are empty for the default ones, and its variables.',
  params,
  returns: PortalMail,
  problems: [problem.not_found],
  handle: async ({ params: { mail_name } }, services: Services) => loadMail(requireMailName(mail_name), services),
});

export const updatePortalMail = operation({
  ...declared,
  name: 'updatePortalMail',
  method: 'PUT',
  path: '/portal-api/mails/{mail_name}',
  about:
    'Changes the templates of a mail, or turns it off. They are rendered with sample data first; an empty one restores ' +
    'that of the theme, or the default one.',
  params,
  body: MailTemplateChange,
  returns: PortalMail,
  problems: [problem.unknown, problem.template_failed, problem.mail_required],
  async handle({ params: { mail_name }, body, audit }, services: Pick<PortalServices, 'portal' | 'clock' | 'records'>) {
    const { portal, clock, records } = services;
    const name = requireMailName(mail_name, 'unknown');
    audit(name);
    await records.write(async () => {
      const before = await portal.mails.findTemplate(name);
      const next = {
        Name: name,
        Subject: body.Subject ?? before?.Subject ?? '',
        Text: body.Text ?? before?.Text ?? '',
        Html: body.Html ?? before?.Html ?? '',
        Enabled: body.Enabled ?? before?.Enabled ?? true,
        UpdatedAt: clock.now(),
      };
      if (!next.Enabled && 'isRequired' in mailTable[name]) throw problem.mail_required();
      await renderSampleMail(name, next, services);
      await portal.mails.putTemplate(next);
    });
    return loadMail(name, services);
  },
});

export const restorePortalMail = operation({
  ...declared,
  name: 'restorePortalMail',
  method: 'DELETE',
  path: '/portal-api/mails/{mail_name}',
  about: 'Restores the templates of a mail, and turns it on.',
  params,
  returns: okResponse,
  problems: [problem.not_found],
  async handle({ params: { mail_name }, audit }, { portal }: Services) {
    audit(mail_name);
    await portal.mails.removeTemplate(requireMailName(mail_name));
    return okStatus;
  },
});

export const previewPortalMail = operation({
  ...declared,
  name: 'previewPortalMail',
  method: 'POST',
  path: '/portal-api/mails/{mail_name}/preview',
  about: 'Renders a mail with sample data. Templates of the body are used instead of the stored ones.',
  params,
  body: MailDraft,
  returns: MailPreview,
  problems: [problem.unknown, problem.template_failed],
  async handle({ params: { mail_name }, body }, services: Services) {
    const name = requireMailName(mail_name, 'unknown');
    const stored = await services.portal.mails.findTemplate(name);
    const draft = Object.fromEntries(Object.entries(body).filter(([, text]) => text !== undefined));
    const { subject, text, html } = await renderSampleMail(name, { ...stored, ...draft }, services);
    return { Subject: subject, Text: text, Html: html };
  },
});

export const testPortalMail = operation({
  ...declared,
  name: 'testPortalMail',
  method: 'POST',
  path: '/portal-api/mails/{mail_name}/test',
  about: 'Sends a mail with sample data to an address.',
  params,
  body: z.object({
    To: z
      .string()
      .trim()
      .max(254)
      .pipe(z.email({ error: 'must be an e-mail address' })),
  }),
  example: { To: 'me@example.org' },
  returns: okMessageResponse,
  problems: [problem.unknown, problem.template_failed, mailProblem.not_configured],
  async handle({ params: { mail_name }, body, audit }, services: Services) {
    const { portal } = services;
    const name = requireMailName(mail_name, 'unknown');
    audit(name);
    if (!portal.sendMail.isConfigured) throw mailProblem.not_configured();
    await portal.sendMail.enqueue(
      name,
      body.To,
      await renderSampleMail(name, (await portal.mails.findTemplate(name)) ?? {}, services),
    );
    return okMessage('Send test');
  },
});

export const listOutboxMails = operation({
  ...declared,
  name: 'listOutboxMails',
  method: 'GET',
  path: '/portal-api/mail-outbox',
  about: 'Lists the mails of the outbox without their content, newest first.',
  query: portalPageQuery.extend({ state: z.enum(mailStates).optional().describe('Only mails in this state') }),
  returns: z.array(OutboxMail),
  async handle({ query }, { portal }: Services) {
    return applyLimit((await portal.mails.page(query, query.state)).map(toOutboxView), query);
  },
});

export const retryOutboxMail = operation({
  ...declared,
  name: 'retryOutboxMail',
  method: 'PUT',
  path: '/portal-api/mail-outbox/{mail_id}/retry',
  about: 'Sends a mail again that failed.',
  params: z.object({ mail_id: numberedId }),
  returns: okMessageResponse,
  problems: [problem.unknown, problem.mail_not_failed],
  async handle({ params: { mail_id }, audit }, { portal, clock }: Pick<PortalServices, 'portal' | 'clock'>) {
    audit(String(mail_id));
    const { State } = present(await portal.mails.get(mail_id), 'Mail', 'unknown');
    if (!(await portal.mails.retry(mail_id, clock.now()))) throw problem.mail_not_failed({ detail: { state: State } });
    return okMessage('Retry');
  },
});

export const mailOperations = [
  listPortalMails,
  getPortalMail,
  updatePortalMail,
  restorePortalMail,
  previewPortalMail,
  testPortalMail,
  listOutboxMails,
  retryOutboxMail,
];
