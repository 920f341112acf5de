import { type Expression, type SqlBool, sql } from 'kysely';
import { constantTimeEqual } from '#base/constant-time.ts';
import type { Vault } from '#base/vault.ts';
import { createCollection, hasNameWith, type PageRequest, type Query, type RowChange } from '#storage/collection.ts';
import { selectListed } from '#storage/listed-values.ts';
import { noteObjectName } from '#storage/operation-context.ts';
import type { Records } from '#storage/records.ts';
import { openRows } from '#storage/unreadable-rows.ts';
import { problem } from './problems.ts';
import type { StoredClient } from './schema.ts';

export type OauthClientStore = ReturnType<typeof createOauthClientStore>;

const purpose = 'oauth client secret';

/** OAuth clients; secrets are sealed in the row. */
export function createOauthClientStore(records: Records, vault: Vault) {
  const rows = createClientRows(records, vault);
  return { ...createClientReads(records, rows), ...createClientWrites(records, rows) };
}

type ClientRows = ReturnType<typeof createClientRows>;

function createClientRows(records: Records, vault: Vault) {
  const clients = createCollection<'oauth_clients', StoredClient>(
    records,
    'oauth_clients',
    it => ({
      id: it.id,
      org_id: it.org_id,
      api_id: it.api_id,
      client_id: it.client_id,
      policy_id: it.policy_id,
      created_at: Date.parse(it.created_at),
    }),
    problem.client_exists,
    undefined,
    {
      kind: 'oauth_clients',
      toEntry: ({ client_id, client_name, description, api_id }) => ({
        names: [client_id, client_name, description],
        label: client_name || client_id,
        detail: api_id,
      }),
    },
    noteClientName,
  );
  const mapSecrets = (client: StoredClient, transform: (text: string, purpose: string) => string): StoredClient => ({
    ...client,
    secret: transform(client.secret, purpose),
    ...mapRegistrationToken(client, transform),
  });
  const seal = (client: StoredClient) => mapSecrets(client, vault.seal);
  const open = (client: StoredClient) => mapSecrets(client, vault.open);

  async function get(apiId: string, clientId: string): Promise<StoredClient | undefined> {
    const client = await clients.find({ api_id: apiId, client_id: clientId });
    return client && open(client);
  }

  return { clients, seal, open, get };
}

/** Filters of the clients of an organisation. */
export interface OauthClientFilter {
  /** Part of the id, name or description. */
  readonly text?: string | undefined;
  readonly apiId?: string | undefined;
  readonly policyId?: string | undefined;
  /** Excludes the clients of these APIs. */
  readonly hiddenApis?: readonly string[] | undefined;
}

const applyClientFilter =
  (records: Records, orgId: string, { text, apiId, policyId, hiddenApis = [] }: OauthClientFilter) =>
  (query: Query): Query => {
    const conditions: Expression<SqlBool>[] = [
      ...(text ? [hasNameWith('oauth_clients', orgId, text)] : []),
      ...(apiId === undefined ? [] : [sql<SqlBool>`api_id = ${apiId}`]),
      ...(policyId === undefined ? [] : [sql<SqlBool>`policy_id = ${policyId}`]),
      ...(hiddenApis.length === 0 ? [] : [sql<SqlBool>`api_id not in ${selectListed(records, hiddenApis)}`]),
    ];
    return conditions.reduce((narrowed, condition) => narrowed.where(condition), query);
  };

function createClientReads(records: Records, { clients, open, get }: ClientRows) {
  return {
    get,

    /** Clients of all APIs of an organisation, newest first. */
    async pageOfOrganisation(orgId: string, filter: OauthClientFilter, query: PageRequest) {
      const listing = { where: { org_id: orgId }, filter: applyClientFilter(records, orgId, filter) };
      const result = await clients.page({ ...listing, order: ['-created_at', '-id'] }, query);
      return { ...result, items: openRows(result.items, open, it => it.client_id) };
    },

    async page(apiId: string, query: PageRequest) {
      const result = await clients.page({ where: { api_id: apiId }, order: ['-created_at', '-id'] }, query);
      return { ...result, items: openRows(result.items, open, it => it.client_id) };
    },

    count: (orgId: string) => clients.count({ org_id: orgId }),

    /** Clients with this id, one per API; without `orgId`, of any organisation (operator only). */
    async findByClientId(clientId: string, orgId?: string): Promise<StoredClient[]> {
      const where = { client_id: clientId, ...(orgId && { org_id: orgId }) };
      return (await clients.all({ where, order: ['-created_at', '-id'] })).map(open);
    },

    /** Ids, of those given, of clients of an API that is not hidden. An id can also be of a client of a hidden one. */
    async findVisibleIds(
      orgId: string,
      clientIds: readonly string[],
      hiddenApis: readonly string[],
    ): Promise<string[]> {
      const named = records.db
        .selectFrom('oauth_clients')
        .select('client_id')
        .where('org_id', '=', orgId)
        .where('client_id', 'in', selectListed(records, clientIds));
      const hidden = named.where('api_id', 'in', selectListed(records, hiddenApis));
      const rows = await named.distinct().where('client_id', 'not in', hidden).execute();
      return rows.map(({ client_id }) => client_id);
    },

    /** Client authentication in constant time: an unknown client takes as long as a known one. */
    async clientSecretMatches(apiId: string, clientId: string, secret: string): Promise<boolean> {
      const client = await get(apiId, clientId);
      const same = constantTimeEqual(client?.secret ?? '', secret);
      return client !== undefined && secret !== '' && same;
    },
  };
}

function createClientWrites(records: Records, { clients, seal, open, get }: ClientRows) {
  return {
    /** Inserts all or none. */
    async insert(...newClients: readonly StoredClient[]): Promise<void> {
      await records.write(async () => {
        for (const client of newClients) {
          if (await get(client.api_id, client.client_id)) throw problem.client_exists();
          await clients.insert(seal(client));
        }
        records.markChanged('oauth');
      });
    },

    /** Read-modify-write in one transaction. */
    async change(apiId: string, clientId: string, change: (client: StoredClient) => StoredClient) {
      return records.write(async () => {
        const where = { api_id: apiId, client_id: clientId };
        const changed = await clients.change(where, client => seal(change(open(client))));
        if (changed) records.markChanged('oauth');
        return changed && open(changed);
      });
    },

    /** Replaces the secret; the previous one stops working at once. */
    async rotate(apiId: string, clientId: string, secret: string): Promise<StoredClient | undefined> {
      return this.change(apiId, clientId, client => ({ ...client, secret }));
    },

    async remove(apiId: string, clientId: string): Promise<boolean> {
      return records.write(async () => {
        const removed = await clients.remove({ api_id: apiId, client_id: clientId });
        if (removed) records.markChanged('oauth');
        return removed;
      });
    },

    /** Removes the clients of a deleted API. */
    async removeOfApi(apiId: string): Promise<void> {
      await records.write(async () => {
        if (await clients.remove({ api_id: apiId })) records.markChanged('oauth');
      });
    },
  };
}

/** Audit records name a client by its own id, not by that of its row. */
async function noteClientName({ before, after }: RowChange): Promise<void> {
  const { client_id, client_name } = JSON.parse((after ?? before)!) as StoredClient;
  noteObjectName('oauth_clients', [client_id], client_name);
}

/** Registration access token (RFC 7591) of a client: as sensitive as its secret. */
function mapRegistrationToken(client: StoredClient, transform: (text: string, purpose: string) => string): object {
  const registration = client.dcr_registration as { access_token?: string } | null | undefined;
  if (!registration?.access_token) return {};
  return { dcr_registration: { ...registration, access_token: transform(registration.access_token, purpose) } };
}
