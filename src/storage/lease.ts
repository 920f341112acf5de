import type { Records } from './records.ts';

/** Lease of periodic work: one of several processes on a database has it, until it ends or is released. */
export function createLease(records: Records, name: string, holder: string) {
  const find = () => records.db.selectFrom('meta').select('value').where('name', '=', name).executeTakeFirst();
  return {
    /** Takes or renews the lease; false while another process has it. */
    async take(nowMs: number, leaseMs: number): Promise<boolean> {
      const value = `${nowMs + leaseMs} ${holder}`;
      const inserted = await records.db
        .insertInto('meta')
        .values({ name, value })
        .onConflict(conflict => conflict.column('name').doNothing())
        .executeTakeFirst();
      if ((inserted.numInsertedOrUpdatedRows ?? 0n) > 0n) return true;
      const current = (await find())?.value;
      if (current === undefined) return false;
      if (!isHeldBy(current, holder) && Number.parseInt(current, 10) > nowMs) return false;
      // Compare and swap: of two processes that find an ended lease, one takes it.
      const { numUpdatedRows } = await records.db
        .updateTable('meta')
        .set({ value })
        .where('name', '=', name)
        .where('value', '=', current)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    async release(): Promise<void> {
      const current = (await find())?.value;
      if (current === undefined || !isHeldBy(current, holder)) return;
      await records.db.deleteFrom('meta').where('name', '=', name).where('value', '=', current).execute();
    },
  };
}

const isHeldBy = (value: string, holder: string): boolean => value.slice(value.indexOf(' ') + 1) === holder;
