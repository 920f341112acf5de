import type { StoredOauthProvider } from '../oauth-providers/schema.ts';
import { refuseFullQueue } from '../provider-tasks/guard.ts';
import { performOrDefer, performOrRecord, type TaskServices } from '../provider-tasks/perform.ts';
import type { DiscoveredProvider } from './identity-provider.ts';
import { testClientMetadata } from './metadata.ts';
import { saveRegistration } from './registration.ts';
import { unregisteredClient } from './schema.ts';

/**
 * Tests an identity provider: reads its discovery document, registers a client that can do nothing, and deletes it. The
 * client is recorded first, so that it is deleted even if the process ends.
 */
export async function testConnection(
  provider: StoredOauthProvider,
  services: TaskServices,
): Promise<DiscoveredProvider> {
  const { portal, records, clock, identityProvider } = services;
  const remote = identityProvider(provider);
  const found = await remote.discover();
  const now = clock.now();
  const { client, task } = await records.write(async () => {
    await refuseFullQueue(0, services);
    const ids = { AppID: 0, OauthProviderID: provider.ID, ClientTypeID: 0, IsShared: false };
    const times = { CreatedAt: now, UpdatedAt: now };
    const inserted = await portal.registeredClients.insert({ ...unregisteredClient, ...ids, ...times });
    const wanted = { Kind: 'client' as const, ProviderID: 0, Key: '', OauthClientID: inserted.ID };
    return { client: inserted, task: await portal.providerTasks.add(wanted, now) };
  });
  try {
    const registered = await remote.register(found, testClientMetadata(provider));
    await saveRegistration(client, registered, { scopes: [], redirectUris: [] }, services, found);
  } catch (error) {
    await performOrDefer(task, services);
    throw error;
  }
  await performOrRecord(task, services);
  return found;
}
