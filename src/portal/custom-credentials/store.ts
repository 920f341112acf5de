import type { Vault } from '#base/vault.ts';
import type { Records } from '#storage/records.ts';
import { openRows } from '#storage/unreadable-rows.ts';
import { createNumberedStore } from '../numbered-store.ts';
import type { StoredOauthClient } from '../oauth-clients/schema.ts';
import type { RegisteredClientStore } from '../oauth-clients/store.ts';
import type { PortalPageQuery } from '../shapes.ts';
import type { StoredCustomCredential } from './schema.ts';

const purpose = 'portal custom credential';

/** Custom credentials; keys and secrets are sealed in the row. The OAuth client of one is read with it. */
export function createCustomCredentialStore(
  records: Records,
  vault: Vault,
  clients: Pick<RegisteredClientStore, 'get'>,
) {
  const credentials = createNumberedStore<'portal_custom_credentials', StoredCustomCredential>(
    records,
    'portal_custom_credentials',
    it => ({ app_id: it.AppID, plan_id: it.PlanID, provider_id: it.PlaneID }),
  );
  const mapSecrets =
    (transform: (text: string, purpose: string) => string) =>
    <C extends Omit<StoredCustomCredential, 'ID'>>(it: C): C => ({
      ...it,
      KeyID: it.KeyID && transform(it.KeyID, purpose),
      CredentialKey: it.CredentialKey && transform(it.CredentialKey, purpose),
      CredentialSecret: it.CredentialSecret && transform(it.CredentialSecret, purpose),
    });
  const seal = mapSecrets(vault.seal);
  const open = mapSecrets(vault.open);
  const openMaybe = (it: StoredCustomCredential | undefined) => it && open(it);

  return {
    async get(id: number): Promise<(StoredCustomCredential & { Client?: StoredOauthClient }) | undefined> {
      const found = openMaybe(await credentials.get(id));
      const Client = found?.OauthClientID ? await clients.get(found.OauthClientID) : undefined;
      return found && Client ? { ...found, Client } : found;
    },
    page: async (appId: number, query: PortalPageQuery) =>
      openRows(await credentials.page(query, { app_id: appId }), open, it => it.ID),
    ofApp: async (appId: number) => (await credentials.all({ app_id: appId })).map(open),
    ofProvider: async (providerId: number) => (await credentials.all({ provider_id: providerId })).map(open),
    countOfPlan: (planId: number) => credentials.count({ plan_id: planId }),
    insert: async (it: Omit<StoredCustomCredential, 'ID'>) => open(await credentials.insert(seal(it))),
    change: async (id: number, change: (it: StoredCustomCredential) => StoredCustomCredential) =>
      openMaybe(await credentials.change(id, it => seal(change(open(it))))),
    remove: credentials.remove,
  };
}
