import { type RawBuilder, sql } from 'kysely';
import type { Records } from '#storage/records.ts';
import { listSearchWords } from '#storage/search-words.ts';
import { readDocuments } from '../batch-store.ts';
import type { StoredProduct } from '../products/schema.ts';
import { selectProductsWithWord } from '../products/word-store.ts';
import { selectProductsWithEntry } from '../search/word-store.ts';

export interface OfferQuery {
  readonly catalogueIds: readonly number[];
  /** Each of them begins a word of the product, or of one of its tags, operations or guides. */
  readonly words?: readonly string[] | undefined;
  readonly tag?: string | undefined;
  readonly featuredOnly?: boolean;
  readonly limit: number;
  readonly offset?: number;
}

/** A card shows less. */
const maxDescriptionChars = 500;

/** A product as lists show it: its long texts are not kept. */
const withoutLongTexts = (product: StoredProduct): StoredProduct => ({
  ...product,
  Content: '',
  Description: product.Description.slice(0, maxDescriptionChars),
  APIDetails: product.APIDetails.map(it => ({ ...it, Description: '' })),
});

/** Rows of a query, as a part of a statement. */
async function selectOffered(
  records: Records,
  { catalogueIds, words = [], tag, featuredOnly }: Omit<OfferQuery, 'limit'>,
): Promise<RawBuilder<unknown>> {
  const tags = words.length > 0 ? await readTagWords(records) : [];
  const conditions = [
    sql<boolean>`hidden = 0`,
    isInCatalogue(catalogueIds),
    ...(featuredOnly ? [sql<boolean>`featured = 1`] : []),
    ...(tag === undefined ? [] : [isTagged(sql`select id from portal_tags where name = ${tag}`)]),
    ...words.map(word => hasWord(word, tags)),
  ];
  return sql`from portal_products where ${sql.join(conditions, sql` and `)}`;
}

/** Pages of offered products, by the rule of `findVisibleProducts`: not hidden, and in one of the given catalogues. */
export function createOfferStore(records: Records) {
  const selectFrom = (query: Omit<OfferQuery, 'limit'>) => selectOffered(records, query);

  /** Whole products in batches: featured ones first, then by name. */
  async function* readProducts(query: OfferQuery): AsyncGenerator<StoredProduct[]> {
    if (query.catalogueIds.length === 0) return;
    const rows = sql`${await selectFrom(query)}
      order by featured desc, lower(name), id
      limit ${query.limit} offset ${query.offset ?? 0}`;
    yield* readDocuments<StoredProduct>(records, 'portal_products', rows);
  }

  return {
    readProducts,

    /** In the order of `readProducts`, without long texts. */
    async listProducts(query: OfferQuery): Promise<StoredProduct[]> {
      const found: StoredProduct[] = [];
      for await (const batch of readProducts(query)) found.push(...batch.map(withoutLongTexts));
      return found;
    },

    /** Paths alone: the documents are not read. */
    async listPaths(catalogueIds: readonly number[], limit: number): Promise<string[]> {
      if (catalogueIds.length === 0) return [];
      const rows = await selectFrom({ catalogueIds });
      const statement = sql<{ path: string }>`select path ${rows} order by id limit ${limit}`;
      return (await statement.execute(records.db)).rows.map(({ path }) => path);
    },

    /** The given paths without those that no offered product has. */
    async filterPaths(catalogueIds: readonly number[], paths: readonly string[]): Promise<string[]> {
      if (catalogueIds.length === 0 || paths.length === 0) return [];
      const statement = sql<{ path: string }>`select path ${await selectFrom({ catalogueIds })}
        and path in (${sql.join(paths)})`;
      return (await statement.execute(records.db)).rows.map(({ path }) => path);
    },

    /** At most `limit`: counting takes time. */
    async countProducts(query: OfferQuery): Promise<number> {
      if (query.catalogueIds.length === 0) return 0;
      const counted = sql`select 1 ${await selectFrom(query)} limit ${query.limit}`;
      const statement = sql<{ total: number }>`select count(*) as total from (${counted}) as counted`;
      return Number((await statement.execute(records.db)).rows[0]!.total);
    },

    /** Names of tags that products of the catalogues have. */
    async listTags(catalogueIds: readonly number[], limit: number): Promise<string[]> {
      if (catalogueIds.length === 0) return [];
      const tagged = sql`select 1 from portal_product_tags
        inner join portal_products on portal_products.id = portal_product_tags.product_id
        where tag_id = portal_tags.id and hidden = 0 and ${isInCatalogue(catalogueIds)}`;
      const statement = sql<{ name: string }>`select name from portal_tags where exists (${tagged})
        order by name limit ${limit}`;
      return (await statement.execute(records.db)).rows.map(({ name }) => name);
    },
  };
}

/** By the product: a list of all ids of a large catalogue is not made for each page. */
export const isInCatalogue = (catalogueIds: readonly number[]) =>
  sql<boolean>`exists (select 1 from portal_catalogue_products
    where portal_catalogue_products.product_id = portal_products.id and catalogue_id in (${sql.join(catalogueIds)}))`;

const isTagged = (tagIds: RawBuilder<unknown>) =>
  sql<boolean>`id in (select product_id from portal_product_tags where tag_id in (${tagIds}))`;

interface TagWords {
  readonly id: number;
  readonly words: readonly string[];
}

/** A search sees the oldest tags. */
const maxSearchedTags = 2000;

/** Engines fold the case of ASCII letters alone, so that names of tags are compared here. */
async function readTagWords({ db }: Records): Promise<TagWords[]> {
  const rows = await db.selectFrom('portal_tags').select(['id', 'name']).orderBy('id').limit(maxSearchedTags).execute();
  return rows.map(({ id, name }) => ({ id: Number(id), words: listSearchWords(name) }));
}

function hasWord(word: string, tags: readonly TagWords[]): RawBuilder<boolean> {
  const ids = tags.filter(({ words }) => words.some(it => it.startsWith(word))).map(({ id }) => id);
  const tagged = sql`union select product_id from portal_product_tags where tag_id in (${sql.join(ids)})`;
  const described = sql`union ${selectProductsWithEntry(word)}`;
  return sql<boolean>`id in (${selectProductsWithWord(word)} ${described} ${ids.length > 0 ? tagged : sql``})`;
}
