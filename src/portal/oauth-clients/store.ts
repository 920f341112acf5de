import type { Vault } from '#base/vault.ts';
import type { Records } from '#storage/records.ts';
import { openRows } from '#storage/unreadable-rows.ts';
import { createNumberedStore } from '../numbered-store.ts';
import type { StoredOauthClient } from './schema.ts';

export type RegisteredClientStore = ReturnType<typeof createRegisteredClientStore>;

const purpose = 'portal oauth client';

/** OAuth clients of apps; secrets, tokens and responses are sealed in the row. */
export function createRegisteredClientStore(records: Records, vault: Vault) {
  const clients = createNumberedStore<'portal_oauth_clients', StoredOauthClient>(
    records,
    'portal_oauth_clients',
    it => ({ app_id: it.AppID, client_type_id: it.ClientTypeID }),
  );
  const mapSecrets =
    (transform: (text: string, purpose: string) => string) =>
    <C extends Omit<StoredOauthClient, 'ID'>>(it: C): C => ({
      ...it,
      ClientSecret: it.ClientSecret && transform(it.ClientSecret, purpose),
      RegistrationToken: it.RegistrationToken && transform(it.RegistrationToken, purpose),
      Response: it.Response && transform(it.Response, purpose),
    });
  const seal = mapSecrets(vault.seal);
  const open = mapSecrets(vault.open);
  const openMaybe = (it: StoredOauthClient | undefined) => it && open(it);

  return {
    get: async (id: number) => openMaybe(await clients.get(id)),
    byIds: async (ids: readonly number[]) =>
      new Map(openRows([...(await clients.byIds(ids)).values()], open, it => it.ID).map(it => [it.ID, it])),
    ofApp: async (appId: number) => openRows(await clients.all({ app_id: appId }), open, it => it.ID),
    ofType: async (typeId: number) => openRows(await clients.all({ client_type_id: typeId }), open, it => it.ID),
    insert: async (it: Omit<StoredOauthClient, 'ID'>) => open(await clients.insert(seal(it))),
    change: async (id: number, change: (it: StoredOauthClient) => StoredOauthClient) =>
      openMaybe(await clients.change(id, it => seal(change(open(it))))),
    remove: clients.remove,
  };
}
