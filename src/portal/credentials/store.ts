import { type SqlBool, sql } from 'kysely';
import type { Vault } from '#base/vault.ts';
import type { Query } from '#storage/collection.ts';
import type { Records } from '#storage/records.ts';
import { openRows } from '#storage/unreadable-rows.ts';
import { readDocuments } from '../batch-store.ts';
import { createNumberedStore } from '../numbered-store.ts';
import type { RegisteredClientStore } from '../oauth-clients/store.ts';
import type { PortalPageQuery } from '../shapes.ts';
import type { StoredCredential } from './schema.ts';

const purpose = 'portal credential';
/** Newest credentials that the list of all has. */
const maxListed = 50_000;

/** A credential without its key. */
export type CredentialOutline = Omit<StoredCredential, 'Credential'>;

/** Credentials; the key is sealed in the row. OAuth clients are read with them. */
export function createCredentialStore(records: Records, vault: Vault, clients: Pick<RegisteredClientStore, 'byIds'>) {
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
  const sealKey = mapSecret(vault.seal);
  const seal = <C extends { Credential: string; Client?: unknown }>({ Client: _client, ...it }: C) => sealKey(it);
  const open = mapSecret(vault.open);

  async function change(
    id: number,
    change: (it: StoredCredential) => StoredCredential,
  ): Promise<StoredCredential | undefined> {
    const changed = await credentials.change(id, it => seal(change(open(it))));
    return changed && open(changed);
  }

  async function withClients(found: StoredCredential[]): Promise<StoredCredential[]> {
    const ids = found.flatMap(({ OauthClientID }) => OauthClientID || []);
    const byId = ids.length > 0 ? await clients.byIds(ids) : new Map<number, never>();
    return found.map(it => {
      const Client = byId.get(it.OauthClientID ?? 0);
      return Client ? { ...it, Client } : it;
    });
  }

  return {
    async get(id: number): Promise<StoredCredential | undefined> {
      const stored = await credentials.get(id);
      return stored && (await withClients([open(stored)]))[0];
    },
    /** Oldest first. */
    async ofRequests(requestIds: readonly number[]): Promise<StoredCredential[]> {
      if (requestIds.length === 0) return [];
      const filter = (query: Query) => query.where(sql<SqlBool>`access_request_id in (${sql.join(requestIds)})`);
      return withClients(openRows(await credentials.rows.all({ filter, order: ['id'] }), open, it => it.ID));
    },
    page: async (requestId: number, query: PortalPageQuery) =>
      withClients(openRows(await credentials.page(query, { access_request_id: requestId }), open, it => it.ID)),
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

/** Credentials of all apps without their keys, which stay sealed, newest first, in batches. */
export const readCredentialOutlines = (records: Records): AsyncGenerator<CredentialOutline[]> =>
  readDocuments<StoredCredential>(
    records,
    'portal_credentials',
    sql`from portal_credentials order by id desc limit ${maxListed}`,
  );
