import { sql } from 'kysely';
import type { Records } from '#storage/records.ts';
import { createNumberedStore } from '../numbered-store.ts';
import { problem } from '../problems.ts';
import type { StoredBlock, StoredPage } from './schema.ts';

/** Member of the stored JSON: inside of texts quotation marks are escaped, so that no text looks like it. */
const published = '%"Status":"Published"%';

export function createPageStore(records: Records) {
  const pages = createNumberedStore<'portal_pages', StoredPage>(
    records,
    'portal_pages',
    it => ({ cid: it.CID, path: it.Path }),
    problem.page_exists,
  );
  const blocks = createNumberedStore<'portal_blocks', StoredBlock>(
    records,
    'portal_blocks',
    it => ({ cid: it.CID, page_id: it.PageID, name: it.Name }),
    problem.block_exists,
  );
  return {
    ...pages,
    blocks,
    /** Published pages with a greater id, oldest first; pages are short, their texts are blocks. */
    publishedAfter: async (id: number, limit: number): Promise<StoredPage[]> =>
      (
        await pages.rows
          .listing({ order: ['id'], filter: query => query.where(sql<boolean>`id > ${id} and body like ${published}`) })
          .limit(limit)
          .execute()
      ).map(pages.rows.parse),
    byPaths: (paths: readonly string[]): Promise<StoredPage[]> =>
      paths.length === 0
        ? Promise.resolve([])
        : pages.rows.all({ order: ['id'], filter: query => query.where(sql<boolean>`path in (${sql.join(paths)})`) }),
    /** Inside a transaction: reads a page under a row lock. */
    lock: (id: number) => pages.rows.lock({ id }),
    /** Removes a page with its blocks. */
    remove: (id: number) =>
      records.write(async () => {
        await pages.rows.lock({ id });
        await blocks.rows.remove({ page_id: id });
        return pages.remove(id);
      }),
  };
}
