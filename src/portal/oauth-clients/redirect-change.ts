import { createInvalidProblem } from '#operations/validation-error.ts';
import type { StoredAccessRequest } from '../access-requests/schema.ts';
import { present } from '../problems.ts';
import { claimClient } from '../provider-tasks/client-guard.ts';
import { performTask, type TaskServices } from '../provider-tasks/perform.ts';
import { parseRedirectUris } from './metadata.ts';
import type { StoredOauthClient } from './schema.ts';

interface RecordedChange {
  readonly clientId: number;
  /** Provider of the products of the client. */
  readonly providerId: number;
  apply(): Promise<unknown>;
  undo(): Promise<unknown>;
}

/** Changes the records, then the client at its identity provider; where that refuses, the records are as before. */
async function changeClient(
  { clientId, providerId, apply, undo }: RecordedChange,
  services: TaskServices,
): Promise<void> {
  const { portal, records, clock } = services;
  const task = await records.write(async () => {
    await apply();
    await claimClient(clientId, services);
    const wanted = { Kind: 'client' as const, ProviderID: providerId, Key: '', OauthClientID: clientId };
    return portal.providerTasks.add(wanted, clock.now());
  });
  try {
    await performTask(task, services);
  } catch (error) {
    await records.write(async () => {
      await undo();
      await portal.providerTasks.defer(task, (error as Error).message, clock.now());
    });
    throw error;
  }
}

/** Changes the redirect addresses of a request, and with them those of its OAuth client. */
export async function changeRedirectUris(
  request: StoredAccessRequest,
  clientId: number,
  text: string,
  services: TaskServices,
): Promise<void> {
  const { uris, fault = 'must name an address' } = parseRedirectUris(text);
  if (uris.length === 0) throw createInvalidProblem([{ path: 'Redirect URLs', message: fault }]);
  const setUris = (RedirectURIs: string[]) =>
    services.portal.accessRequests.change(request.ID, it => ({ ...it, RedirectURIs }));
  const undo = () => setUris(request.RedirectURIs ?? []);
  await changeClient({ clientId, providerId: request.ProviderID, apply: () => setUris(uris), undo }, services);
}

/** Lets a client send its users back to a page of the portal; registered with the first sign-in from there. */
export async function addPortalRedirect(
  { ID: clientId, PortalRedirectURI: former }: StoredOauthClient,
  providerId: number,
  uri: string,
  services: TaskServices,
): Promise<StoredOauthClient> {
  const { registeredClients } = services.portal;
  const setUri = (PortalRedirectURI: string) =>
    registeredClients.change(clientId, it => ({ ...it, PortalRedirectURI }));
  if (former !== uri)
    await changeClient({ clientId, providerId, apply: () => setUri(uri), undo: () => setUri(former ?? '') }, services);
  return present(await registeredClients.get(clientId), 'OAuth client', 'unknown');
}
