import type { Vault } from '#base/vault.ts';
import type { Records } from '#storage/records.ts';
import { openRows } from '#storage/unreadable-rows.ts';
import { createJoinTableStore } from '../join-table-store.ts';
import { createNumberedStore } from '../numbered-store.ts';
import { problem } from '../problems.ts';
import type { PortalPageQuery, PortalRef } from '../shapes.ts';
import type { StoredClientType, StoredOauthProvider } from './schema.ts';

type SealedProvider = Omit<StoredOauthProvider, 'RegistrationAccessToken'> & { SealedToken: string };

const purpose = 'portal oauth provider registration token';

/** OAuth providers; their registration access tokens are sealed. */
export function createOauthProviderStore(records: Records, vault: Vault) {
  const providers = createNumberedStore<'portal_oauth_providers', SealedProvider>(
    records,
    'portal_oauth_providers',
    it => ({ cid: it.CID, name: it.Name }),
    problem.cid_taken,
  );
  const seal = ({ RegistrationAccessToken, ...provider }: StoredOauthProvider): SealedProvider => ({
    ...provider,
    SealedToken: RegistrationAccessToken && vault.seal(RegistrationAccessToken, purpose),
  });
  const open = ({ SealedToken, ...provider }: SealedProvider): StoredOauthProvider => ({
    ...provider,
    RegistrationAccessToken: SealedToken && vault.open(SealedToken, purpose),
  });
  const openMaybe = (provider: SealedProvider | undefined) => provider && open(provider);

  return {
    get: async (ref: PortalRef | number) => openMaybe(await providers.get(ref)),
    page: async (query: PortalPageQuery) => openRows(await providers.page(query), open, it => it.ID),
    insert: async (provider: Omit<StoredOauthProvider, 'ID'>) =>
      open(await providers.insert(seal({ ...provider, ID: 0 }))),
    change: async (id: number, change: (provider: StoredOauthProvider) => StoredOauthProvider) =>
      openMaybe(await providers.change(id, it => seal(change(open(it))))),
    remove: providers.remove,
  };
}

export function createClientTypeStore(records: Records) {
  const types = createNumberedStore<'portal_client_types', StoredClientType>(
    records,
    'portal_client_types',
    it => ({ cid: it.CID, name: it.Name, provider_id: it.ProviderID }),
    problem.cid_taken,
  );
  const products = createJoinTableStore(records, 'portal_product_client_types', 'client_type_id');
  return {
    ...types,
    products,
    ofProvider: (providerId: number) => types.all({ provider_id: providerId }),
    pageOfProvider: (query: PortalPageQuery, providerId: number) => types.page(query, { provider_id: providerId }),
  };
}
