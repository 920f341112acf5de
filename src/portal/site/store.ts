import { sql } from 'kysely';
import type { Records } from '#storage/records.ts';
import type { StoredProduct } from '../products/schema.ts';

/** Reads of the catalogue, which never returns a product that is hidden or in none of the given catalogues. */
export type OfferStore = ReturnType<typeof createOfferStore>;

export interface OfferQuery {
  readonly catalogueIds: readonly number[];
  /** Products with this text somewhere in their document, or in the name of a tag. */
  readonly text?: string | undefined;
  readonly tag?: string | undefined;
  readonly featuredOnly?: boolean;
  readonly limit: number;
  readonly offset?: number;
}

/** Members of the stored JSON: inside of texts quotation marks are escaped, so that no text looks like one. */
const hidden = '%"Hidden":true%';
const featured = '%"Feature":true%';

const toPattern = (text: string) => `%${text.toLowerCase().replaceAll(/[\\%_]/g, it => `\\${it}`)}%`;

export function createOfferStore(records: Records) {
  function selectFrom({ catalogueIds, text, tag, featuredOnly }: Omit<OfferQuery, 'limit'>) {
    const conditions = [
      sql<boolean>`body not like ${hidden}`,
      sql<boolean>`id in (select product_id from portal_catalogue_products
        where catalogue_id in (${sql.join(catalogueIds)}))`,
      ...(featuredOnly ? [sql<boolean>`body like ${featured}`] : []),
      ...(tag === undefined ? [] : [isTagged(sql<boolean>`lower(name) = ${tag.toLowerCase()}`)]),
      ...(text ? [hasText(text)] : []),
    ];
    return sql`from portal_products where ${sql.join(conditions, sql` and `)}`;
  }

  return {
    /** Featured ones first, then by name. */
    async listProducts(query: OfferQuery): Promise<StoredProduct[]> {
      if (query.catalogueIds.length === 0) return [];
      const statement = sql<{ body: string }>`select body ${selectFrom(query)}
        order by case when body like ${featured} then 0 else 1 end, lower(name), id
        limit ${query.limit} offset ${query.offset ?? 0}`;
      return (await statement.execute(records.db)).rows.map(({ body }) => JSON.parse(body) as StoredProduct);
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

/** Candidates of a search, of which `matchesText` decides: the document has other words than those of its texts. */
function hasText(text: string) {
  const inBody = toPattern(JSON.stringify(text).slice(1, -1));
  const inName = toPattern(text);
  return sql<boolean>`(lower(body) like ${inBody} escape '\\' or
    ${isTagged(sql<boolean>`lower(name) like ${inName} escape '\\'`)})`;
}
