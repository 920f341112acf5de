import { type AccessMailServices, mailSubmitted } from '../mails/access-mails.ts';
import { portalMessages } from '../webhooks/notify.ts';
import type { StoredAccessRequest } from './schema.ts';

/** Inside a transaction: reports a request that an administrator decides, by event and mail. */
export async function reportSubmitted(request: StoredAccessRequest, services: AccessMailServices): Promise<void> {
  // A change is an event of its own, sent with its insertion.
  if (!request.Changes) await services.portal.notify('AccessRequestCreated', portalMessages.accessRequest(request));
  await mailSubmitted(request, services);
}
