import { z } from 'zod';
import { closestMatch } from '#base/closest-match.ts';
import { readOnlyMembers } from '#base/members.ts';
import { webhookHeaderName, webhookHeaderValue, webhookMethod, webhookUrl } from '#events/webhook-shapes.ts';
import { formatOptionalTime, intBetween, nonEmptyText } from '../shapes.ts';

/** Events of portal webhooks. */
export const portalEvents = [
  'UserRegistered',
  'UserVerified',
  'UserAccountActivated',
  'UserAccountDeactivated',
  'PasswordReset',
  'RegisterInvite',
  'ApplicationRegistered',
  'ApplicationDeleted',
  'CredentialRegistered',
  'CredentialRotated',
  'CredentialRevoked',
  'CredentialExpiring',
  'CredentialExpired',
  'QuotaThreshold',
  'AccessRequestCreated',
  'AccessRequestApproved',
  'AccessRequestRejected',
  'PlanChangeRequested',
  'PlanChangeApproved',
  'PlanChangeRejected',
  'OrganisationRegistered',
  'OrganisationRequestCreated',
  'OrganisationRequestApproved',
  'OrganisationRequestRejected',
  'ProductPublished',
  'ProductChanged',
  'PlanChanged',
  'ProviderDown',
  'ProviderUp',
  'SyncFinished',
] as const;
export type PortalEvent = (typeof portalEvents)[number];

/** With the nearest name: the list of all is longer than an error. */
const event = z.enum(portalEvents, {
  error({ input }) {
    const meant = closestMatch(String(input), portalEvents);
    return `is no event of the portal; ${meant === undefined ? '/docs lists them' : `did you mean ${meant}?`}`;
  },
});
const events = z
  .array(event)
  .max(100)
  .transform(given => [...new Set(given)]);
const method = z.string().toUpperCase().pipe(webhookMethod);
/** Bounded by the timeout of outbound calls; 0 means the default of the installation. */
const timeoutSeconds = intBetween(0, 300);

export const defaultTimeoutSeconds = 10;

const writable = z.object({
  Name: nonEmptyText(),
  URL: webhookUrl,
  Method: method,
  Timeout: timeoutSeconds.nullish(),
  Events: events.nullish(),
});
/** Headers have operations of their own. */
const readOnly = ['ID', 'Headers', 'Secret', 'SecretChangedAt', 'OldSecretValidUntil', 'CreatedAt', 'UpdatedAt'];
export const WebhookWrite = readOnlyMembers(writable, readOnly);
export const WebhookChange = readOnlyMembers(
  writable.extend({ Name: nonEmptyText().nullish(), URL: webhookUrl.nullish(), Method: method.nullish() }),
  readOnly,
);

const readOnlyOfHeader = ['ID', 'WebhookID'];
export const WebhookHeaderWrite = readOnlyMembers(
  z.object({ Name: webhookHeaderName, Value: webhookHeaderValue }),
  readOnlyOfHeader,
);
export const WebhookHeaderChange = readOnlyMembers(
  z.object({ Name: webhookHeaderName.nullish(), Value: webhookHeaderValue.nullish() }),
  readOnlyOfHeader,
);

export interface WebhookHeader {
  ID: number;
  Name: string;
  Value: string;
}

export interface Webhook {
  ID: number;
  Name: string;
  URL: string;
  Method: string;
  Timeout: number;
  Events: PortalEvent[];
  Headers: WebhookHeader[];
  /** Last used header id. */
  HeaderCount: number;
  /** Absent while the secret of the operator's webhooks signs deliveries. */
  SecretChangedAt?: number;
  /** End of the overlap of the last rotation. */
  OldSecretValidUntil?: number;
  CreatedAt: number;
  UpdatedAt: number;
}

const text = z.string().regex(/^\d+$/);
export const WebhookHeaderRow = z.object({ ID: text, Name: z.string(), Value: z.string() });
export const WebhookHeaderView = WebhookHeaderRow.extend({ WebhookID: text });

export const WebhookView = z.object({
  ID: text,
  Name: z.string(),
  URL: z.string(),
  Method: z.string(),
  Timeout: z.int(),
  Headers: z.array(WebhookHeaderRow),
  Events: z.array(z.string()),
  SecretChangedAt: z.string().describe('Empty while deliveries are signed with the secret of the operator'),
  OldSecretValidUntil: z.string().describe('Until then deliveries are signed with the former secret too'),
  CreatedAt: z.string(),
  UpdatedAt: z.string(),
});

const secret = z.string().describe('Signs deliveries; returned only here');
export const NewWebhookView = WebhookView.extend({ Secret: secret });
export const WebhookSecretView = z.object({ Secret: secret, OldSecretValidUntil: z.string() });

export const toHeaderRow = ({ ID, Name, Value }: WebhookHeader) => ({ ID: String(ID), Name, Value });
export const toHeaderView = (header: WebhookHeader, webhookId: number) => ({
  ...toHeaderRow(header),
  WebhookID: String(webhookId),
});

export const toWebhookView = ({ HeaderCount: _count, ...hook }: Webhook): z.input<typeof WebhookView> => ({
  ...hook,
  ID: String(hook.ID),
  Headers: hook.Headers.map(toHeaderRow),
  SecretChangedAt: formatOptionalTime(hook.SecretChangedAt),
  OldSecretValidUntil: formatOptionalTime(hook.OldSecretValidUntil),
  CreatedAt: formatOptionalTime(hook.CreatedAt),
  UpdatedAt: formatOptionalTime(hook.UpdatedAt),
});
