import { type RawBuilder, sql } from 'kysely';
import type { Records } from '#storage/records.ts';
import { isInCatalogue } from '../visibility/offer-store.ts';
import type { EntryKind, IndexedEntry, SearchSource } from './schema.ts';
import { beginsWord, maxComparedEntries } from './word-store.ts';

export type EntryStore = ReturnType<typeof createEntryStore>;

export interface EntryQuery {
  readonly kind: EntryKind;
  readonly catalogueIds: readonly number[];
  /** Each of them begins a word of the entry. */
  readonly words: readonly string[];
  readonly limit: number;
}

/** Entry of a product in one of the catalogues. */
export interface FoundEntry extends SearchSource {
  readonly place: string;
  readonly title: string;
  readonly summary: string;
}

const rowsPerInsert = 300;
/** Bounds the count of entries with a word. */
const maxCounted = 1000;

/** Index of what searches of the site find inside of products. Writes are part of the transactions of their sources. */
export function createEntryStore(records: Records) {
  const removeSources = (where: RawBuilder<boolean>): Promise<void> =>
    records.write(async () => {
      const ids = sql`select id from portal_search_sources where ${where}`;
      for (const table of ['portal_search_words', 'portal_search_entries'])
        await sql`delete from ${sql.table(table)} where source_id in (${ids})`.execute(records.db);
      await sql`delete from portal_search_sources where ${where}`.execute(records.db);
    });

  return {
    /** Replaces the entries of a source. */
    replace: ({ owner, productId }: SearchSource, entries: readonly IndexedEntry[]): Promise<void> =>
      records.write(async () => {
        await removeSources(sql<boolean>`owner = ${owner}`);
        const source = records.db.insertInto('portal_search_sources').values({ owner, product_id: productId });
        const sourceId = Number((await source.returning('id').executeTakeFirstOrThrow()).id);
        await insertEntries(records, sourceId, entries);
      }),

    async has(owner: string): Promise<boolean> {
      const query = records.db.selectFrom('portal_search_sources').select('id').where('owner', '=', owner);
      return (await query.executeTakeFirst()) !== undefined;
    },
    removeOwner: (owner: string) => removeSources(sql<boolean>`owner = ${owner}`),
    /** Removes what belongs to an owner of files, and to everything below it. */
    removeBelow: (owner: string) =>
      removeSources(sql<boolean>`owner = ${owner} or (owner > ${`${owner}/`} and owner < ${`${owner}0`})`),
    removeOfProduct: (productId: number) => removeSources(sql<boolean>`product_id = ${productId}`),

    find: (query: EntryQuery) => findEntries(records, query),
    nextMissing: () => findMissing(records),
  };
}

/** Entries with all words: those of featured products first, then by the name of the product. */
async function findEntries(records: Records, { kind, catalogueIds, words, limit }: EntryQuery): Promise<FoundEntry[]> {
  if (catalogueIds.length === 0 || words.length === 0) return [];
  const [rarest, ...others] = await sortByRarity(records, words);
  const candidates = sql`select source_id, position from portal_search_words where ${beginsWord(rarest!)}
    limit ${maxComparedEntries}`;
  const conditions = others.map(word => sql<boolean>` and ${entryHasWord(word)}`);
  const statement = sql<Record<'owner' | 'product_id' | 'place' | 'title' | 'summary', string>>`
    select owner, product_id, place, title, summary from portal_search_entries as entry
    inner join portal_search_sources on portal_search_sources.id = entry.source_id
    inner join portal_products on portal_products.id = portal_search_sources.product_id
    where (entry.source_id, entry.position) in (${candidates}) and kind = ${kind}
    and hidden = 0 and ${isInCatalogue(catalogueIds)}${sql.join(conditions, sql``)}
    order by featured desc, lower(name), entry.source_id, entry.position limit ${limit}`;
  const { rows } = await statement.execute(records.db);
  return rows.map(({ product_id, ...row }) => ({ ...row, productId: Number(product_id) }));
}

/** A document or guide of before the index; undefined where all are in it. */
async function findMissing({ db }: Records): Promise<{ documentOwner: string } | { docId: number } | undefined> {
  const isKnown = (owner: RawBuilder<unknown>) =>
    sql`exists (select 1 from portal_search_sources where portal_search_sources.owner = ${owner})`;
  const file = sql<{ owner: string }>`select owner from portal_files
    where slot = 'oas' and not ${isKnown(sql`portal_files.owner`)} limit 1`;
  const [found] = (await file.execute(db)).rows;
  if (found) return { documentOwner: found.owner };
  const doc = sql<{ id: number }>`select id from portal_product_docs
    where not ${isKnown(sql`'docs/' || portal_product_docs.id`)} limit 1`;
  const [missing] = (await doc.execute(db)).rows;
  return missing && { docId: Number(missing.id) };
}

const entryHasWord = (word: string) =>
  sql<boolean>`exists (select 1 from portal_search_words as own
    where own.source_id = entry.source_id and own.position = entry.position and ${beginsWord(word)})`;

async function insertEntries({ db }: Records, sourceId: number, entries: readonly IndexedEntry[]): Promise<void> {
  const rows = entries.map(({ words: _words, ...entry }, position) => ({ source_id: sourceId, position, ...entry }));
  const words = entries.flatMap((entry, position) =>
    entry.words.map(word => ({ word, source_id: sourceId, position })),
  );
  for (let start = 0; start < rows.length; start += rowsPerInsert)
    await db
      .insertInto('portal_search_entries')
      .values(rows.slice(start, start + rowsPerInsert))
      .execute();
  for (let start = 0; start < words.length; start += rowsPerInsert)
    await db
      .insertInto('portal_search_words')
      .values(words.slice(start, start + rowsPerInsert))
      .execute();
}

/** Words of a search, that with the fewest entries first. */
async function sortByRarity({ db }: Records, words: readonly string[]): Promise<string[]> {
  if (words.length === 1) return [...words];
  const counted: (readonly [word: string, total: number])[] = [];
  for (const word of words) {
    const matches = sql`select 1 from portal_search_words where ${beginsWord(word)} limit ${maxCounted}`;
    const statement = sql<{ total: number }>`select count(*) as total from (${matches}) as counted`;
    counted.push([word, Number((await statement.execute(db)).rows[0]!.total)]);
  }
  return counted.sort(([, a], [, b]) => a - b).map(([word]) => word);
}
