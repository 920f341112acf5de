import { sql } from 'kysely';
import { toContainsPattern } from '#storage/collection.ts';
import type { Records } from '#storage/records.ts';
import { type DocumentTable, readDocuments } from './batch-store.ts';
import type { PortalPageQuery, PortalSearchQuery } from './shapes.ts';

/** Newest documents that one search reads. */
const maxSearched = 50_000;

/** Engines fold the case of ASCII characters alone: the others match anything. */
const toFoldedPattern = (text: string): string =>
  toContainsPattern(text.replaceAll(/[A-Z]+/g, it => it.toLowerCase())).replaceAll(/[^\x20-\x7e]+/g, '%');

/** Pattern for a text inside of stored JSON. */
const toBodyPattern = (text: string): string => toFoldedPattern(JSON.stringify(text).slice(1, -1));

/**
 * A page of the documents with a text, newest first. The database selects candidates, since a document has other words
 * than those of its names; these are compared here.
 */
async function searchDocuments<Doc extends { ID: number }>(
  records: Records,
  table: DocumentTable,
  { page, per_page, limit = per_page }: PortalPageQuery,
  text: string,
  textsOf: (doc: Doc) => readonly string[],
): Promise<Doc[]> {
  const wanted = text.toLowerCase();
  const start = (page - 1) * per_page;
  const end = start + Math.min(limit, per_page);
  const rows = sql`from ${sql.table(table)} where lower(body) like ${toBodyPattern(text)} escape '\\'
    order by id desc limit ${maxSearched}`;
  const found: Doc[] = [];
  for await (const batch of readDocuments<Doc>(records, table, rows)) {
    found.push(...batch.filter(doc => textsOf(doc).some(it => it.toLowerCase().includes(wanted))));
    if (found.length >= end) break;
  }
  return found.slice(start, end);
}

interface PagedStore<Doc> {
  page(query: PortalPageQuery): Promise<Doc[]>;
}

/** Pages of a list, of all documents or of those with a text. */
export const createPageSearch =
  <Doc extends { ID: number }>(
    records: Records,
    table: DocumentTable,
    store: PagedStore<Doc>,
    textsOf: (doc: Doc) => readonly string[],
  ) =>
  ({ q, ...page }: PortalSearchQuery): Promise<Doc[]> =>
    q === '' ? store.page(page) : searchDocuments(records, table, page, q, textsOf);
