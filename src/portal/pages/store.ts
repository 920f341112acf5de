import type { Records } from '#storage/records.ts';
import { createNumberedStore } from '../numbered-store.ts';
import { problem } from '../problems.ts';
import type { StoredBlock, StoredPage } from './schema.ts';

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
