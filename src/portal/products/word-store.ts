import type { RawBuilder } from 'kysely';
import { sql } from 'kysely';
import type { RowChange } from '#storage/collection.ts';
import type { Records } from '#storage/records.ts';
import { listSearchWords, toWordRange } from '#storage/search-words.ts';
import type { StoredProduct } from './schema.ts';

const wordsPerInsert = 400;

/** Texts by which a search finds a product, besides its tags; the content last, because it may be long. */
const joinTexts = ({ Name, DisplayName, Description, Content, APIDetails }: StoredProduct) =>
  [Name, DisplayName, Description]
    .concat(APIDetails.flatMap(api => [api.ChosenName || api.Name, api.Description]))
    .concat(Content)
    .join('\n');

/** Replaces the words of a product in the transaction that writes it. */
export async function recordProductWords(records: Records, { id, after }: RowChange): Promise<void> {
  const productId = Number(id);
  await records.db.deleteFrom('portal_product_words').where('product_id', '=', productId).execute();
  const words = after === undefined ? [] : listSearchWords(joinTexts(JSON.parse(after) as StoredProduct));
  for (let start = 0; start < words.length; start += wordsPerInsert) {
    const values = words.slice(start, start + wordsPerInsert).map(word => ({ word, product_id: productId }));
    await records.db.insertInto('portal_product_words').values(values).execute();
  }
}

/** Ids of the products with a word that begins with the given one. */
export function selectProductsWithWord(word: string): RawBuilder<unknown> {
  const { first, end } = toWordRange(word);
  return sql`select product_id from portal_product_words where word >= ${first} and word < ${end}`;
}
