import { type Clock, formatIsoTime } from '#base/clock.ts';
import type { Settings } from '#base/settings.ts';
import type { Vault } from '#base/vault.ts';
import type { DeliveryStore, NewDelivery } from '#events/deliveries/store.ts';
import { headersPurpose } from '#events/delivery-builder.ts';
import type { StoredAccessRequest } from '../access-requests/schema.ts';
import type { StoredApp } from '../apps/schema.ts';
import type { StoredInvitation } from '../invitations/schema.ts';
import type { StoredOrganisationRequest } from '../organisation-requests/schema.ts';
import type { StoredPortalOrganisation } from '../organisations/schema.ts';
import type { StoredPlan } from '../plans/schema.ts';
import type { StoredProduct } from '../products/schema.ts';
import type { StoredPortalUser } from '../users/schema.ts';
import type { PortalEvent, Webhook } from './schema.ts';
import { operatorOrgId, type PortalWebhookStore, toDeliveryHook } from './store.ts';

export interface PortalNotifierOptions {
  readonly webhooks: Pick<PortalWebhookStore, 'wanting'>;
  readonly deliveries: Pick<DeliveryStore, 'add'>;
  readonly vault: Pick<Vault, 'seal'>;
  readonly clock: Clock;
  readonly settings: Settings;
}

interface UserAttributeText {
  readonly attribute: { readonly Identifier: string };
  readonly value: string;
}

/** Event messages by subject. */
export const portalMessages = {
  user: (it: StoredPortalUser, attributes: readonly UserAttributeText[] = []) => ({
    ID: it.ID,
    Email: it.Email,
    First: it.First,
    Last: it.Last,
    OrgID: it.OrganisationID,
    Provider: it.Provider,
    Status: it.Active ? 'active' : 'inactive',
    CreatedAt: formatIsoTime(it.CreatedAt),
    ByUser: 0,
    CustomAttributes: attributes.map(({ attribute, value }) => ({ Identifier: attribute.Identifier, Value: value })),
  }),
  /** In the shape of a user, with the number of the account where it exists. */
  invitation: (it: StoredInvitation) => ({
    ID: it.UserID,
    Email: it.Email,
    First: it.First,
    Last: it.Last,
    OrgID: it.OrganisationID,
    Provider: 'password',
    Status: 'inactive',
    CreatedAt: formatIsoTime(it.CreatedAt),
    ByUser: it.InviterID,
    CustomAttributes: [],
  }),
  product: (it: StoredProduct) => ({
    ID: it.ID,
    Name: it.Name,
    DisplayName: it.DisplayName,
    Path: it.Path,
    ProviderID: it.ProviderID,
    Status: it.Hidden ? 'hidden' : 'published',
    CreatedAt: formatIsoTime(it.CreatedAt),
    UpdatedAt: formatIsoTime(it.UpdatedAt),
  }),
  plan: (it: StoredPlan) => ({
    ID: it.ID,
    Name: it.Name,
    DisplayName: it.DisplayName,
    ProviderID: it.ProviderID,
    Status: it.Hidden ? 'hidden' : 'published',
    CreatedAt: formatIsoTime(it.CreatedAt),
    UpdatedAt: formatIsoTime(it.UpdatedAt),
  }),
  app: (it: StoredApp) => ({ ID: it.ID, Name: it.Name, UserID: it.UserID, CreatedAt: formatIsoTime(it.CreatedAt) }),
  organisation: (it: StoredPortalOrganisation) => ({
    ID: it.ID,
    Name: it.Name,
    CreatedAt: formatIsoTime(it.CreatedAt),
  }),
  organisationRequest: (it: StoredOrganisationRequest) => ({
    Name: it.Name,
    AdminEmail: it.AdminEmail,
    AdminID: it.AdminID,
    ByUser: it.AdminID,
    TeamIDs: [],
    Status: it.Status,
    CreatedAt: formatIsoTime(it.CreatedAt),
  }),
  accessRequest: (it: StoredAccessRequest) => ({
    ID: it.ID,
    AppID: it.AppID,
    ByUser: it.UserID,
    Status: it.Status,
    ProductIDs: it.ProductIDs,
    PlanID: it.PlanID,
    CreatedAt: formatIsoTime(it.CreatedAt),
  }),
  credential: (
    { ID, CreatedAt }: { ID: number; CreatedAt: number },
    { ID: requestId, UserID, AppID }: StoredAccessRequest,
  ) => ({
    ID,
    ByUser: UserID,
    AccessRequestID: requestId,
    AppID,
    CreatedAt: formatIsoTime(CreatedAt),
  }),
};

export const toEventBody = (event: PortalEvent, message: object, nowMs: number) => ({
  Event: event,
  Message: message,
  Timestamp: formatIsoTime(nowMs),
});
export const buildEventPayload = (...given: Parameters<typeof toEventBody>): string =>
  JSON.stringify(toEventBody(...given));

export const toHeaderMap = ({ Headers }: Pick<Webhook, 'Headers'>): Record<string, string> =>
  Object.fromEntries(Headers.map(({ Name, Value }) => [Name, Value]));

export type NotifyPortal = ReturnType<typeof createPortalNotifier>;

/**
 * Portal webhooks: enqueues one delivery per subscribed webhook. Inside a transaction deliveries commit with
 * the change they report.
 */
export function createPortalNotifier({ webhooks, deliveries, vault, clock, settings }: PortalNotifierOptions) {
  const buildDelivery = (hook: Webhook, event: PortalEvent, payload: string): NewDelivery => {
    return {
      orgId: operatorOrgId,
      apiId: '',
      hook: toDeliveryHook(hook),
      event,
      name: hook.Name,
      inline: {
        method: hook.Method,
        url: hook.URL,
        sealedHeaders: vault.seal(JSON.stringify(toHeaderMap(hook)), headersPurpose),
        ...(hook.Timeout > 0 && { timeoutMs: hook.Timeout * 1000 }),
      },
      payload,
      contentType: 'application/json',
      log: [],
      deduplicationKey: '',
      deduplicationMs: 0,
      isDead: false,
    };
  };

  return async (event: PortalEvent, message: object): Promise<void> => {
    const subscribers = await webhooks.wanting(event);
    if (subscribers.length === 0) return;
    const nowMs = clock.now();
    const payload = buildEventPayload(event, message, nowMs);
    await deliveries.add(
      subscribers.map(hook => buildDelivery(hook, event, payload)),
      nowMs,
      settings['events.max_queued'],
    );
  };
}
