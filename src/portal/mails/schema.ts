import { z } from 'zod';
import { readOnlyMembers } from '#base/members.ts';
import { formatOptionalTime, lenientBool, optionalMember, textUpTo } from '../shapes.ts';
import { type MailName, mailTable } from './mail-table.ts';

/** Changed templates of a mail; an empty one is that of the active theme, or the default one. */
export interface MailTemplates {
  Subject: string;
  Text: string;
  Html: string;
}

export interface StoredMailTemplate extends MailTemplates {
  Name: MailName;
  Enabled: boolean;
  UpdatedAt: number;
}

export const mailStates = ['waiting', 'sent', 'failed'] as const;
export type MailState = (typeof mailStates)[number];

/** Mail in the outbox. */
export interface StoredMail {
  ID: number;
  Name: MailName;
  To: string;
  State: MailState;
  Attempts: number;
  /** Last failure; empty without one. */
  Error: string;
  /** The same in every attempt, so that servers and readers recognise a repetition (RFC 5322, section 3.6.4). */
  MessageID: string;
  /** Sealed subject and bodies, which may have links with tokens; empty once it is sent. */
  Sealed: string;
  /** When the next attempt is due, as written last; a claim moves the column. */
  DueAt: number;
  CreatedAt: number;
  UpdatedAt: number;
}

/** Rendered mail. */
export interface RenderedMail {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export const maxTemplateLength = 32 * 1024;

const templates = {
  Subject: optionalMember(textUpTo(500)).describe('Template of the subject; empty: that of the theme, or the default'),
  Text: optionalMember(textUpTo(maxTemplateLength)).describe('Template of the plain text; empty as for Subject'),
  Html: optionalMember(textUpTo(maxTemplateLength)).describe(
    'Template of the HTML body; empty: that of the theme, or the text with a frame',
  ),
};
export const MailDraft = z.object(templates);

export const MailTemplateChange = readOnlyMembers(z.object({ ...templates, Enabled: optionalMember(lenientBool) }), [
  'Name',
  'Trigger',
  'Recipient',
  'Required',
  'Variables',
  'Defaults',
  'Sent',
  'Waiting',
  'Failed',
  'LastSentAt',
  'UpdatedAt',
]);
export type MailTemplateChange = z.output<typeof MailTemplateChange>;

export const PortalMailRow = z.object({
  Name: z.string(),
  Trigger: z.string(),
  Recipient: z.enum(['user', 'administrators']),
  Required: z.boolean().describe('It cannot be turned off'),
  Enabled: z.boolean(),
  Subject: z.string(),
  Sent: z.int().describe('Mails of the outbox that were sent'),
  Waiting: z.int(),
  Failed: z.int(),
  LastSentAt: z.string(),
});

export const PortalMail = PortalMailRow.extend({
  Text: z.string(),
  Html: z.string(),
  Defaults: z.object({ Subject: z.string(), Text: z.string() }),
  Variables: z.array(z.string()).describe('Members of the data of the templates'),
  UpdatedAt: z.string(),
});

export const MailPreview = z.object({ Subject: z.string(), Text: z.string(), Html: z.string() });

export const OutboxMail = z.object({
  ID: z.int(),
  Name: z.string(),
  To: z.string(),
  State: z.enum(mailStates),
  Attempts: z.int(),
  Error: z.string(),
  CreatedAt: z.string(),
  UpdatedAt: z.string(),
});

/** Mail of the outbox without its content. */
export const toOutboxView = ({
  Sealed: _content,
  MessageID: _id,
  DueAt: _due,
  ...mail
}: StoredMail): z.output<typeof OutboxMail> => ({
  ...mail,
  CreatedAt: formatOptionalTime(mail.CreatedAt),
  UpdatedAt: formatOptionalTime(mail.UpdatedAt),
});

/** Totals of one mail in the outbox. */
export interface MailTotals {
  readonly sent: number;
  readonly waiting: number;
  readonly failed: number;
  readonly lastSentMs: number;
}

export const toMailRow = (
  name: MailName,
  stored: StoredMailTemplate | undefined,
  { sent, waiting, failed, lastSentMs }: MailTotals,
): z.output<typeof PortalMailRow> => {
  const kind = mailTable[name];
  return {
    Name: name,
    Trigger: kind.trigger,
    Recipient: kind.recipient,
    Required: 'isRequired' in kind,
    Enabled: stored?.Enabled ?? true,
    Subject: stored?.Subject || kind.subject,
    Sent: sent,
    Waiting: waiting,
    Failed: failed,
    LastSentAt: lastSentMs === 0 ? '' : formatOptionalTime(lastSentMs),
  };
};

export const toMailView = (
  name: MailName,
  stored: StoredMailTemplate | undefined,
  totals: MailTotals,
): z.output<typeof PortalMail> => {
  const kind = mailTable[name];
  return {
    ...toMailRow(name, stored, totals),
    Subject: stored?.Subject ?? '',
    Text: stored?.Text ?? '',
    Html: stored?.Html ?? '',
    Defaults: { Subject: kind.subject, Text: kind.text },
    Variables: ['site', 'user', ...Object.keys(kind.sample)],
    UpdatedAt: formatOptionalTime(stored?.UpdatedAt),
  };
};
