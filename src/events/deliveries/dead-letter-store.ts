import { sql } from 'kysely';
import type { Records } from '#storage/records.ts';

export type DeadLetterStore = ReturnType<typeof createDeadLetterStore>;

export interface DeadLetterCount {
  readonly hook: string;
  /** Empty for handlers inside definitions. */
  readonly hookName: string;
  readonly count: number;
  /** Number of the newest of them. */
  readonly lastId: number;
  readonly lastAtMs: number;
}

export const createDeadLetterStore = (records: Records) => ({
  /** Dead letters of an organisation by webhook, the newest first. */
  async countByHook(orgId: string, maxHooks: number): Promise<DeadLetterCount[]> {
    const rows = await records.db
      .selectFrom('deliveries')
      .leftJoin('hooks', 'hooks.id', 'deliveries.hook')
      .select([
        'deliveries.hook',
        sql<string | null>`max(hooks.name)`.as('name'),
        sql<number>`count(*)`.as('count'),
        sql<number>`max(deliveries.id)`.as('last'),
        sql<number>`max(deliveries.updated_at)`.as('changed'),
      ])
      .where('deliveries.org_id', '=', orgId)
      .where('deliveries.state', '=', 'dead')
      .groupBy('deliveries.hook')
      .orderBy('last', 'desc')
      .limit(maxHooks)
      .execute();
    return rows.map(({ hook, name, count, last, changed }) => ({
      hook,
      hookName: name ?? '',
      count: Number(count),
      lastId: Number(last),
      lastAtMs: Number(changed),
    }));
  },
});
