import { type RawBuilder, sql } from 'kysely';
import { toWordRange } from '#storage/search-words.ts';

/** Entries with one word that are compared: the time of a search does not grow with their number. */
export const maxComparedEntries = 10_000;

/** Rows of the index whose word begins with the given one. */
export function beginsWord(word: string): RawBuilder<boolean> {
  const { first, end } = toWordRange(word);
  return sql<boolean>`word >= ${first} and word < ${end}`;
}

/** Ids of the products with an operation or a guide that has the word. */
export const selectProductsWithEntry = (word: string): RawBuilder<unknown> =>
  sql`select product_id from portal_search_sources where id in (select source_id from (
    select source_id from portal_search_words where ${beginsWord(word)} limit ${maxComparedEntries}) as compared)`;
