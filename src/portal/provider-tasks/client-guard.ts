import type { StoredAccessRequest } from '../access-requests/schema.ts';
import { grantToClient } from '../oauth-clients/registration.ts';
import { unregisteredClient } from '../oauth-clients/schema.ts';
import type { ChangedRights, ClientRights } from '../oauth-clients/scopes.ts';
import { present, problem } from '../problems.ts';
import { refuseFullQueue } from './guard.ts';
import { performOrDefer, type TaskServices } from './perform.ts';
import type { StoredProviderTask } from './schema.ts';

/**
 * Inside a transaction, with the lock of the client: refuses a second change of it while one is made. What waits
 * for a repetition is replaced, since every change sends all scopes of the client.
 */
export async function claimClient(clientId: number, { portal }: TaskServices): Promise<void> {
  const client = await portal.registeredClients.change(clientId, it => it);
  const { Name: name = '' } = (await portal.oauthProviders.get(client?.OauthProviderID ?? 0)) ?? {};
  for (const { ID, Kind, Holder } of await portal.providerTasks.ofClient(clientId)) {
    if (Kind !== 'client' || Holder !== '')
      throw problem.provider_refused({
        detail: { name, reason: 'another change of the OAuth client is in progress; try again later' },
      });
    await portal.providerTasks.remove(ID);
  }
}

/** Origin of a client: an access request, or a custom credential, which has one to itself. */
interface ClientWish extends Pick<StoredAccessRequest, 'AppID' | 'ProviderID'> {
  readonly clientTypeId: number;
  readonly isShared: boolean;
  /** 0 for a custom credential. */
  readonly requestId: number;
}

/**
 * Records that the OAuth client of an app is registered or changed, before it is: after the end of the process it is
 * brought to what the records say. Inside a transaction; the lock of the client type serialises concurrent ones.
 */
export async function guardClient(
  { AppID, ProviderID, clientTypeId, isShared, requestId }: ClientWish,
  services: TaskServices,
  nowMs = services.clock.now(),
): Promise<StoredProviderTask> {
  const { portal } = services;
  await refuseFullQueue(ProviderID, services);
  const type = present(await portal.clientTypes.change(clientTypeId, it => it), 'Client type', 'unknown');
  const existing = isShared
    ? (await portal.registeredClients.ofApp(AppID)).find(it => it.IsShared && it.ClientTypeID === type.ID)
    : undefined;
  if (existing) await claimClient(existing.ID, services);
  const ids = { AppID, OauthProviderID: type.ProviderID, ClientTypeID: type.ID, IsShared: isShared };
  const times = { CreatedAt: nowMs, UpdatedAt: nowMs };
  const client = existing ?? (await portal.registeredClients.insert({ ...unregisteredClient, ...ids, ...times }));
  const OauthClientID = client.ID;
  return portal.providerTasks.add({ Kind: 'client', ProviderID, Key: '', RequestID: requestId, OauthClientID }, nowMs);
}

/**
 * Registers or changes the guarded client for a credential, without a lock during the calls; `store` runs in the
 * transaction that ends the guard. Where either fails, the client is as before, or deleted.
 */
export async function issueGuardedClient<Result>(
  guard: StoredProviderTask,
  changed: ChangedRights & { readonly rights: ClientRights },
  services: TaskServices,
  store: (clientId: number) => Promise<Result>,
): Promise<Result> {
  const { portal, records } = services;
  const clientId = guard.OauthClientID!;
  try {
    await grantToClient(clientId, changed, services);
    return await records.write(async () => {
      if (!(await portal.providerTasks.remove(guard.ID))) throw problem.rotated_already();
      return store(clientId);
    });
  } catch (error) {
    // The caller reports the failure at the request.
    await performOrDefer({ ...guard, RequestID: 0 }, services);
    throw error;
  }
}
