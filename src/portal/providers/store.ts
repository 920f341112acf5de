import { sql } from 'kysely';
import type { Vault } from '#base/vault.ts';
import type { Records } from '#storage/records.ts';
import { openRows } from '#storage/unreadable-rows.ts';
import { createNumberedStore } from '../numbered-store.ts';
import { problem } from '../problems.ts';
import type { PortalPageQuery, PortalRef } from '../shapes.ts';
import type { OfferCounts, StoredProvider } from './schema.ts';

const purpose = 'portal provider secret';

/** Providers; the secret is sealed in the row. */
export function createProviderStore(records: Records, vault: Vault) {
  const providers = createNumberedStore<'portal_providers', StoredProvider>(
    records,
    'portal_providers',
    it => ({ cid: it.CID, name: it.Name }),
    problem.cid_taken,
  );
  const mapSecret =
    (transform: (text: string, purpose: string) => string) =>
    <P extends { Secret: string }>(provider: P): P => ({
      ...provider,
      Secret: provider.Secret && transform(provider.Secret, purpose),
    });
  const seal = mapSecret(vault.seal);
  const open = mapSecret(vault.open);
  const openMaybe = (provider: StoredProvider | undefined) => provider && open(provider);

  return {
    get: async (ref: PortalRef | number) => openMaybe(await providers.get(ref)),
    page: async (query: PortalPageQuery) => openRows(await providers.page(query), open, it => it.ID),
    all: async () => openRows(await providers.all(), open, it => it.ID),
    insert: async (provider: Omit<StoredProvider, 'ID'>) => open(await providers.insert(seal(provider))),
    change: async (id: number, change: (provider: StoredProvider) => StoredProvider) =>
      openMaybe(await providers.change(id, provider => seal(change(open(provider))))),
    /** Inside a transaction: locks the provider row, so that writes that add to it are serialised. */
    lock: async (id: number) => {
      await providers.change(id, it => it);
    },
    remove: providers.remove,
    /** Numbers of products and plans by provider; one without either is not in it. */
    async countOffers(): Promise<ReadonlyMap<number, OfferCounts>> {
      const count = async (table: 'portal_products' | 'portal_plans') => {
        const total = sql<number>`count(*)`.as('total');
        const rows = await records.db.selectFrom(table).select(['provider_id', total]).groupBy('provider_id').execute();
        return new Map(rows.map(row => [Number(row.provider_id), Number(row.total)]));
      };
      const [products, plans] = [await count('portal_products'), await count('portal_plans')];
      const ids = new Set([...products.keys(), ...plans.keys()]);
      return new Map([...ids].map(id => [id, { Products: products.get(id) ?? 0, Plans: plans.get(id) ?? 0 }]));
    },
  };
}
