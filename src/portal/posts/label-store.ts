import { createSortableId } from '#base/ids.ts';
import { Problem } from '#base/problems.ts';
import { createInvalidProblem } from '#operations/validation-error.ts';
import type { Records } from '#storage/records.ts';
import { createNumberedStore } from '../numbered-store.ts';
import type { Reference } from '../shapes.ts';
import { problem } from './problems.ts';
import type { StoredLabel } from './schema.ts';

export type LabelStore = ReturnType<typeof createLabelStore>;

/** Categories or tags: unique names. */
export function createLabelStore(records: Records, table: 'portal_categories' | 'portal_tags') {
  // Both tables have the same columns.
  const { get, byIds, page, insert, change, remove, resolveReferences, rows } = createNumberedStore<
    'portal_tags',
    StoredLabel
  >(records, table as 'portal_tags', it => ({ cid: it.CID, name: it.Name }), problem.label_taken);

  async function createIfAbsent(Name: string, nowMs: number): Promise<void> {
    try {
      await insert({ CID: createSortableId(nowMs), Name, CreatedAt: nowMs, UpdatedAt: nowMs });
    } catch (error) {
      // Created concurrently: it exists, as required.
      if (!(error instanceof Problem && error.code === problem.label_taken.code)) throw error;
    }
  }

  return {
    get,
    byIds,
    page,
    insert,
    change,
    remove,
    findByName: (name: string) => rows.find({ name }),

    /**
     * Resolves references at `path` to ids: a number must exist, a missing name is created. Not inside a transaction:
     * a unique violation by a concurrent insert would abort it.
     */
    async resolveOrCreate(
      references: readonly Reference[],
      path: string,
      what: string,
      nowMs: number,
    ): Promise<number[]> {
      const existing = await byIds(references.filter(it => typeof it === 'number'));
      const faults = references.flatMap((it, place) =>
        typeof it === 'number' && !existing.has(it)
          ? [{ path: `${path}[${place}]`, message: `there is no ${what} ${it}` }]
          : [],
      );
      if (faults.length > 0) throw createInvalidProblem(faults);
      for (const name of new Set(references.filter(it => typeof it === 'string')))
        if (!(await rows.find({ name })) && !(await rows.find({ cid: name }))) await createIfAbsent(name, nowMs);
      return (await resolveReferences(references, path, what)).map(({ ID }) => ID);
    },
  };
}
