import type { Vault } from '#base/vault.ts';
import type { Records } from '#storage/records.ts';
import { numberedStore } from '../numbered-store.ts';
import { problem } from '../problems.ts';
import type { PageQuery, PortalRef } from '../shapes.ts';
import type { StoredProvider } from './schema.ts';

const purpose = 'portal provider secret';

/** The secret of a provider is sealed in its record. */
export function providerStore(records: Records, vault: Vault) {
  const providers = numberedStore<'portal_providers', StoredProvider>(
    records,
    'portal_providers',
    it => ({ cid: it.CID, name: it.Name }),
    problem.cid_taken,
  );
  const turned =
    (turn: (text: string, purpose: string) => string) =>
    <P extends { Secret: string }>(provider: P): P => ({
      ...provider,
      Secret: provider.Secret && turn(provider.Secret, purpose),
    });
  const sealed = turned(vault.seal);
  const opened = turned(vault.open);
  const maybe = (provider: StoredProvider | undefined) => provider && opened(provider);

  return {
    get: async (ref: PortalRef | number) => maybe(await providers.get(ref)),
    page: async (query: PageQuery) => (await providers.page(query)).map(opened),
    all: async () => (await providers.all()).map(opened),
    insert: async (provider: Omit<StoredProvider, 'ID'>) => opened(await providers.insert(sealed(provider))),
    change: async (id: number, change: (provider: StoredProvider) => StoredProvider) =>
      maybe(await providers.change(id, provider => sealed(change(opened(provider))))),
    /** Inside a write: keeps the provider as it is until the write ends, so that whoever adds to it takes turns. */
    hold: async (id: number) => {
      await providers.change(id, it => it);
    },
    remove: providers.remove,
  };
}
