import { createSortableId } from '#base/ids.ts';
import { Problem } from '#base/problems.ts';
import { invalid } from '#operations/validation-error.ts';
import type { Records } from '#storage/records.ts';
import { numberedStore } from '../numbered-store.ts';
import type { Reference } from '../shapes.ts';
import { problem } from './problems.ts';
import type { StoredLabel } from './schema.ts';

export type LabelStore = ReturnType<typeof labelStore>;

/** Categories and tags: names, each there once. */
export function labelStore(records: Records, table: 'portal_categories' | 'portal_tags') {
  // Both tables have the same columns, which is all the compiler needs to know of either.
  const { get, byIds, insert, named, rows } = numberedStore<'portal_tags', StoredLabel>(
    records,
    table as 'portal_tags',
    it => ({ cid: it.CID, name: it.Name }),
    problem.label_taken,
  );

  async function make(Name: string, nowMs: number): Promise<void> {
    try {
      await insert({ CID: createSortableId(nowMs), Name, CreatedAt: nowMs, UpdatedAt: nowMs });
    } catch (error) {
      // Somebody else made it at the same moment, so it is there, which is all that was asked.
      if (!(error instanceof Problem && error.code === problem.label_taken.code)) throw error;
    }
  }

  return {
    get,
    byIds,

    /**
     * The numbers of what a body names at `path`: a number must be there, a name is made when it is not. Not to be
     * called inside a write: a name that is made twice at once would undo all of it.
     */
    async settle(references: readonly Reference[], path: string, what: string, nowMs: number): Promise<number[]> {
      const known = await byIds(references.filter(it => typeof it === 'number'));
      const faults = references.flatMap((it, place) =>
        typeof it === 'number' && !known.has(it)
          ? [{ path: `${path}[${place}]`, message: `there is no ${what} ${it}` }]
          : [],
      );
      if (faults.length > 0) throw invalid(faults);
      for (const name of new Set(references.filter(it => typeof it === 'string')))
        if (!(await rows.find({ name })) && !(await rows.find({ cid: name }))) await make(name, nowMs);
      return (await named(references, path, what)).map(({ ID }) => ID);
    },
  };
}
