import { createInvalidProblem } from '#operations/validation-error.ts';
import type { StoredAccessRequest } from '../access-requests/schema.ts';
import { claimClient } from '../provider-tasks/client-guard.ts';
import { performTask, type TaskServices } from '../provider-tasks/perform.ts';
import { parseRedirectUris } from './metadata.ts';

/**
 * Changes the redirect addresses of a request, and with them those of its OAuth client. Where the identity provider
 * refuses them, the former ones are in force again.
 */
export async function changeRedirectUris(
  request: StoredAccessRequest,
  clientId: number,
  text: string,
  services: TaskServices,
): Promise<void> {
  const { portal, records, clock } = services;
  const { uris, fault = 'must name an address' } = parseRedirectUris(text);
  if (uris.length === 0) throw createInvalidProblem([{ path: 'Redirect URLs', message: fault }]);
  const setUris = (RedirectURIs: string[]) => portal.accessRequests.change(request.ID, it => ({ ...it, RedirectURIs }));
  const task = await records.write(async () => {
    await setUris(uris);
    await claimClient(clientId, services);
    const wanted = { Kind: 'client' as const, ProviderID: request.ProviderID, Key: '', OauthClientID: clientId };
    return portal.providerTasks.add(wanted, clock.now());
  });
  try {
    await performTask(task, services);
  } catch (error) {
    await records.write(async () => {
      await setUris(request.RedirectURIs ?? []);
      await portal.providerTasks.defer(task, (error as Error).message, clock.now());
    });
    throw error;
  }
}
