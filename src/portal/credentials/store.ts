import { type SqlBool, sql } from 'kysely';
import type { Vault } from '#base/vault.ts';
import type { Query } from '#storage/collection.ts';
import type { Records } from '#storage/records.ts';
import { openRows } from '#storage/unreadable-rows.ts';
import { createNumberedStore } from '../numbered-store.ts';
import type { PortalPageQuery } from '../shapes.ts';
import type { StoredCredential } from './schema.ts';

const purpose = 'portal credential';

/** Credentials; the key is sealed in the row. */
export function createCredentialStore(records: Records, vault: Vault) {
  const credentials = createNumberedStore<'portal_credentials', StoredCredential>(
    records,
    'portal_credentials',
    it => ({
      access_request_id: it.AccessRequestID,
    }),
  );
  const mapSecret =
    (transform: (text: string, purpose: string) => string) =>
    <C extends { Credential: string }>(it: C): C => ({ ...it, Credential: transform(it.Credential, purpose) });
  const seal = mapSecret(vault.seal);
  const open = mapSecret(vault.open);

  async function change(
    id: number,
    change: (it: StoredCredential) => StoredCredential,
  ): Promise<StoredCredential | undefined> {
    const changed = await credentials.change(id, it => seal(change(open(it))));
    return changed && open(changed);
  }

  return {
    async get(id: number): Promise<StoredCredential | undefined> {
      const stored = await credentials.get(id);
      return stored && open(stored);
    },
    /** Oldest first. */
    async ofRequests(requestIds: readonly number[]): Promise<StoredCredential[]> {
      if (requestIds.length === 0) return [];
      const filter = (query: Query) => query.where(sql<SqlBool>`access_request_id in (${sql.join(requestIds)})`);
      return openRows(await credentials.rows.all({ filter, order: ['id'] }), open, it => it.ID);
    },
    page: async (requestId: number, query: PortalPageQuery) =>
      openRows(await credentials.page(query, { access_request_id: requestId }), open, it => it.ID),
    insert: async (it: Omit<StoredCredential, 'ID'>) => open(await credentials.insert(seal(it))),
    change,
    /** Removes the credential; false, without removing, when it was rotated meanwhile: the new key would stay valid. */
    remove: ({ ID, Credential }: StoredCredential): Promise<boolean> =>
      records.write(async () => {
        let same = true;
        await change(ID, it => {
          same = it.Credential === Credential;
          return it;
        });
        if (same) await credentials.remove(ID);
        return same;
      }),
  };
}
