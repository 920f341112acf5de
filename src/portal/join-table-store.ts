import { sql } from 'kysely';
import type { PortalTables } from '#storage/portal-tables.ts';
import type { Records } from '#storage/records.ts';
import { toBatches } from './batch-store.ts';

/** Tables of two ids: neither documents nor files nor a search index. */
type JoinTable = {
  [T in keyof PortalTables]: PortalTables[T] extends
    | { body: string }
    | { content: string }
    | { stage: string }
    | { word: string }
    | { owner: string }
    | { source_id: number }
    ? never
    : T;
}[keyof PortalTables];

/** Join table: two id columns, read and replaced from either side. */
export function createJoinTableStore<T extends JoinTable>(
  records: Records,
  table: T,
  left: keyof PortalTables[T] & string,
) {
  const sides: Record<JoinTable, readonly [string, string]> = {
    portal_catalogue_plans: ['catalogue_id', 'plan_id'],
    portal_catalogue_products: ['catalogue_id', 'product_id'],
    portal_post_categories: ['category_id', 'post_id'],
    portal_post_tags: ['tag_id', 'post_id'],
    portal_product_client_types: ['client_type_id', 'product_id'],
    portal_product_subscribers: ['product_id', 'user_id'],
    portal_product_tags: ['tag_id', 'product_id'],
    portal_team_members: ['team_id', 'user_id'],
  };
  const right = sides[table].find(column => column !== left)!;
  const name = sql.table(table);

  /** Ids in column `other` by id in column `own`. */
  async function findPartners(own: string, other: string, ids: readonly number[]): Promise<Map<number, number[]>> {
    const partners = new Map<number, number[]>(ids.map(id => [id, []]));
    for (const batch of toBatches([...partners.keys()])) {
      const query = sql<{ own: number; other: number }>`
        select ${sql.ref(own)} as own, ${sql.ref(other)} as other from ${name}
        where ${sql.ref(own)} in (${sql.join(batch)}) order by ${sql.ref(other)}`;
      for (const row of (await query.execute(records.db)).rows) partners.get(Number(row.own))!.push(Number(row.other));
    }
    return partners;
  }

  async function replace(own: string, other: string, id: number, others: readonly number[]): Promise<void> {
    await records.write(async () => {
      await sql`delete from ${name} where ${sql.ref(own)} = ${id}`.execute(records.db);
      if (others.length === 0) return;
      const rows = [...new Set(others)].map(each => sql`(${id}, ${each})`);
      await sql`insert into ${name} (${sql.ref(own)}, ${sql.ref(other)}) values ${sql.join(rows)}`.execute(records.db);
    });
  }

  return {
    /** From the left: plans of a catalogue. */
    rightOf: (ids: readonly number[]) => findPartners(left, right, ids),
    setRightOf: (id: number, others: readonly number[]) => replace(left, right, id, others),
    /** From the right: catalogues of a plan. */
    leftOf: (ids: readonly number[]) => findPartners(right, left, ids),
    setLeftOf: (id: number, others: readonly number[]) => replace(right, left, id, others),
    setLeftOfAll: (ids: readonly number[], others: readonly number[]) =>
      replaceAll(records, table, [right, left], ids, others),
  };
}

/** Replaces the partners of many ids with two statements for each batch of them. */
const replaceAll = (
  records: Records,
  table: JoinTable,
  [own, other]: readonly [own: string, other: string],
  ids: readonly number[],
  others: readonly number[],
): Promise<void> =>
  records.write(async () => {
    const name = sql.table(table);
    const columns = sql`${sql.ref(own)}, ${sql.ref(other)}`;
    for (const batch of toBatches([...new Set(ids)])) {
      await sql`delete from ${name} where ${sql.ref(own)} in (${sql.join(batch)})`.execute(records.db);
      for (const each of new Set(others)) {
        const rows = batch.map(id => sql`(${id}, ${each})`);
        await sql`insert into ${name} (${columns}) values ${sql.join(rows)}`.execute(records.db);
      }
    }
  });

export const partnersOf = (partners: ReadonlyMap<number, number[]>, id: number): number[] => partners.get(id) ?? [];
