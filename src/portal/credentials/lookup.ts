import { z } from 'zod';
import type { PortalServices } from '../portal-stores.ts';
import { type Missing, present } from '../problems.ts';
import { numberedId } from '../shapes.ts';

/** Paths of access requests and credentials of an app. */
export const ofApp = z.object({ app_id: numberedId });
export const ofRequest = ofApp.extend({ access_request_id: numberedId });
export const ofCredential = ofRequest.extend({ credential_id: numberedId });
export const requestPath = '/portal-api/apps/{app_id}/access-requests/{access-request_id}';

type Services = Pick<PortalServices, 'portal'>;

/** A request of an app; one of another app is as good as none. */
export async function requireRequest(
  params: z.output<typeof ofRequest>,
  { portal }: Services,
  missing: Missing = 'not_found',
) {
  const request = await portal.accessRequests.get(params.access_request_id);
  return present(request?.AppID === params.app_id ? request : undefined, 'Access request', missing);
}

export async function requireCredential(
  params: z.output<typeof ofCredential>,
  services: Services,
  missing: Missing = 'not_found',
) {
  const request = await requireRequest(params, services, missing);
  const found = await services.portal.credentials.get(params.credential_id);
  const credential = present(found?.AccessRequestID === request.ID ? found : undefined, 'Credential', missing);
  return { request, credential };
}
