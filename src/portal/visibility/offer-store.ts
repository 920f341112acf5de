import { sql } from 'kysely';
import { toContainsPattern } from '#storage/collection.ts';
import type { Records } from '#storage/records.ts';
import { readDocuments } from '../batch-store.ts';
import type { StoredProduct } from '../products/schema.ts';

/** Pages of offered products, by the rule of `findVisibleProducts`: not hidden, and in one of the given catalogues. */
export type OfferStore = ReturnType<typeof createOfferStore>;

export interface OfferQuery {
  readonly catalogueIds: readonly number[];
  /** Candidates of a search for this text: what they have of it besides ASCII characters is not compared. */
  readonly text?: string | undefined;
  readonly tag?: string | undefined;
  readonly featuredOnly?: boolean;
  readonly limit: number;
  readonly offset?: number;
}

/** Members of the stored JSON: inside of texts quotation marks are escaped, so that no text looks like one. */
const hidden = '%"Hidden":true%';
const featured = '%"Feature":true%';

/** A card shows less. */
const maxDescriptionChars = 500;

/** A product as lists show it: its long texts are not kept. */
const withoutLongTexts = (product: StoredProduct): StoredProduct => ({
  ...product,
  Content: '',
  Description: product.Description.slice(0, maxDescriptionChars),
  APIDetails: product.APIDetails.map(it => ({ ...it, Description: '' })),
});

export function createOfferStore(records: Records) {
  function selectFrom({ catalogueIds, text, tag, featuredOnly }: Omit<OfferQuery, 'limit'>) {
    const conditions = [
      sql<boolean>`body not like ${hidden}`,
      sql<boolean>`id in (select product_id from portal_catalogue_products
        where catalogue_id in (${sql.join(catalogueIds)}))`,
      ...(featuredOnly ? [sql<boolean>`body like ${featured}`] : []),
      ...(tag === undefined ? [] : [isTagged(sql<boolean>`name = ${tag}`)]),
      ...(text ? [hasText(text)] : []),
    ];
    return sql`from portal_products where ${sql.join(conditions, sql` and `)}`;
  }

  /** Whole products in batches: featured ones first, then by name. */
  async function* readProducts(query: OfferQuery): AsyncGenerator<StoredProduct[]> {
    if (query.catalogueIds.length === 0) return;
    const rows = sql`${selectFrom(query)}
      order by case when body like ${featured} then 0 else 1 end, lower(name), id
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
      const statement = sql<{ path: string }>`select path ${selectFrom({ catalogueIds })} order by id limit ${limit}`;
      return (await statement.execute(records.db)).rows.map(({ path }) => path);
    },

    async countProducts(query: Omit<OfferQuery, 'limit'>): Promise<number> {
      if (query.catalogueIds.length === 0) return 0;
      const statement = sql<{ total: number }>`select count(*) as total ${selectFrom(query)}`;
      return Number((await statement.execute(records.db)).rows[0]!.total);
    },

    /** Names of tags that products of the catalogues have. */
    async listTags(catalogueIds: readonly number[], limit: number): Promise<string[]> {
      if (catalogueIds.length === 0) return [];
      const statement = sql<{ name: string }>`select distinct name from portal_tags where id in (
        select tag_id from portal_product_tags where product_id in (select id ${selectFrom({ catalogueIds })}))
        order by name limit ${limit}`;
      return (await statement.execute(records.db)).rows.map(({ name }) => name);
    },
  };
}

const isTagged = (condition: ReturnType<typeof sql<boolean>>) =>
  sql<boolean>`id in (select product_id from portal_product_tags where tag_id in (
    select id from portal_tags where ${condition}))`;

/**
 * Candidates of a search, which the caller compares again: the document has other words than those of its texts, and
 * engines fold the case of ASCII characters alone. The others match anything.
 */
function hasText(text: string) {
  const inBody = toFoldedPattern(JSON.stringify(text).slice(1, -1));
  const inName = toFoldedPattern(text);
  return sql<boolean>`(lower(body) like ${inBody} escape '\\' or
    ${isTagged(sql<boolean>`lower(name) like ${inName} escape '\\'`)})`;
}

const toFoldedPattern = (text: string) =>
  toContainsPattern(text.replaceAll(/[A-Z]+/g, it => it.toLowerCase())).replaceAll(/[^\x20-\x7e]+/g, '%');
