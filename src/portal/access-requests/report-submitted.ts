import { type AccessMailServices, mailSubmitted } from '../mails/access-mails.ts';
import type { PortalServices } from '../portal-stores.ts';
import { portalMessages } from '../webhooks/notify.ts';
import type { StoredAccessRequest } from './schema.ts';

const minFailureMailIntervalMs = 3_600_000;
/** At least the requests that a developer can send in the interval. */
const maxExaminedRequests = 200;

/** Inside a transaction: reports a request that an administrator decides, by event and mail. */
export async function reportSubmitted(request: StoredAccessRequest, services: AccessMailServices): Promise<void> {
  await notifyCreated(request, services);
  await mailSubmitted(request, services);
}

/**
 * Inside a transaction: as `reportSubmitted`, for a request that a failed approval left pending. While a provider is down
 * a developer can delete and repeat requests: mails are one an hour for a developer and provider.
 */
export async function reportFailed(
  request: StoredAccessRequest,
  services: AccessMailServices & Pick<PortalServices, 'clock'>,
): Promise<void> {
  const { portal, clock } = services;
  await notifyCreated(request, services);
  const { ID, UserID, ProviderID } = request;
  const nowMs = clock.now();
  const { items } = await portal.accessRequests.pageOfUser(UserID, ProviderID, maxExaminedRequests);
  if (items.some(({ FailureMailedAt = 0 }) => FailureMailedAt > nowMs - minFailureMailIntervalMs)) return;
  await portal.accessRequests.change(ID, it => ({ ...it, FailureMailedAt: nowMs }));
  await mailSubmitted(request, services);
}

/** A change is an event of its own, sent with its insertion. */
async function notifyCreated(request: StoredAccessRequest, { portal }: AccessMailServices): Promise<void> {
  if (!request.Changes) await portal.notify('AccessRequestCreated', portalMessages.accessRequest(request));
}
