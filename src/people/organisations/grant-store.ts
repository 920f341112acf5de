import type { Settings } from '#base/settings.ts';
import type { Meta } from '#storage/meta.ts';
import type { Records } from '#storage/records.ts';
import { defaultOrgMetaName } from '../installation/default-organisation.ts';
import { problem } from '../problems.ts';
import {
  type Grants,
  type GrantsWrite,
  type ObjectLimitName,
  operatorGrants,
  readTenantDefaults,
  resolveGrants,
} from './grants.ts';
import { createReservedHosts, type ReservedHosts } from './reserved-hosts.ts';

type CountObjects = (orgId: string) => Promise<number>;

async function rejectReachedLimit(name: ObjectLimitName, max: number | null, count: () => Promise<number>) {
  if (max !== null && (await count()) >= max) throw problem.limit_reached({ detail: { name, max } });
}

export type GrantStore = ReturnType<typeof createGrantStore>;

/** Grants of organisations as the management side reads and writes them. */
export function createGrantStore(records: Records, meta: Meta, settings: Settings) {
  const defaults = readTenantDefaults(settings);
  const isOperator = async (orgId: string) => (await meta.get(defaultOrgMetaName)) === orgId;

  /** Effective grants of the organisation. */
  async function find(orgId: string): Promise<Grants> {
    if (await isOperator(orgId)) return operatorGrants;
    const row = await records.db
      .selectFrom('organisation_grants')
      .select('body')
      .where('org_id', '=', orgId)
      .executeTakeFirst();
    return resolveGrants(row ? (JSON.parse(row.body) as GrantsWrite) : {}, defaults);
  }

  return {
    isOperator,
    find,
    /** Object limit without a lock: for checks that write nothing, and for writers that hold a lock of their own. */
    ensureBelowLimit: async (orgId: string, name: ObjectLimitName, count: CountObjects): Promise<void> =>
      rejectReachedLimit(name, (await find(orgId))[name], () => count(orgId)),
    /**
     * Object limit: rejects one object more than granted. Inside the transaction that inserts it; the organisation's
     * row stays locked until the commit, so that two writers do not both take the last place.
     */
    async checkObjectLimit(orgId: string, name: ObjectLimitName, count: CountObjects): Promise<void> {
      const { [name]: max } = await find(orgId);
      if (max === null) return;
      await records.db.updateTable('organisations').set({ id: orgId }).where('id', '=', orgId).execute();
      await rejectReachedLimit(name, max, () => count(orgId));
    },
    async readReservedHosts(): Promise<ReservedHosts> {
      const rows = await records.db.selectFrom('organisation_grants').select(['org_id', 'body']).execute();
      const domainsOf = (body: string) => (JSON.parse(body) as GrantsWrite).domains ?? [];
      return createReservedHosts(rows.map(({ org_id, body }) => ({ orgId: org_id, domains: domainsOf(body) })));
    },
    /** Replaces the grants; gateways reload them. */
    async write(orgId: string, granted: GrantsWrite): Promise<void> {
      const body = JSON.stringify(granted);
      await records.write(async () => {
        await records.db
          .insertInto('organisation_grants')
          .values({ org_id: orgId, body })
          .onConflict(conflict => conflict.column('org_id').doUpdateSet({ body }))
          .execute();
        records.markChanged('organisations', orgId);
      });
    },
    /** Inside the transaction that removes the organisation. */
    async remove(orgId: string): Promise<void> {
      await records.db.deleteFrom('organisation_grants').where('org_id', '=', orgId).execute();
      records.markChanged('organisations', orgId);
    },
  };
}
