import type { Records } from '#storage/records.ts';
import { createDocStore } from './docs/store.ts';
import { createPortalFileStore } from './files/store.ts';
import { createEntryStore } from './search/store.ts';

/** Stores of files and docs, which write the search index too. */
export function createDocumentStores(records: Records) {
  const search = createEntryStore(records);
  return { search, files: createPortalFileStore(records, search), docs: createDocStore(records, search) };
}
