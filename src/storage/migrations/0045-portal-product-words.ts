import { createIndex, createTable, type Migration, type Schema } from '../migration.ts';
import { listSearchWords } from '../search-words.ts';

const rowsPerRead = 100;
const wordsPerInsert = 400;

interface ProductTexts {
  readonly Name?: string;
  readonly DisplayName?: string;
  readonly Description?: string;
  readonly Content?: string;
  readonly APIDetails?: readonly {
    readonly Name: string;
    readonly ChosenName?: string;
    readonly Description: string;
  }[];
}

/** Words by which searches of the portal find products. */
export const portalProductWords: Migration = {
  name: 'portal-product-words',
  async up(schema) {
    const columns = { word: 'text not null', product_id: 'number not null' };
    await createTable(schema, 'portal_product_words', columns, 'primary key (word, product_id)');
    await createIndex(schema, 'portal_product_words', 'product', 'product_id');
    await fillWords(schema);
  },
};

async function fillWords({ db }: Schema): Promise<void> {
  for (let last = 0; ; ) {
    const rows = await db
      .selectFrom('portal_products')
      .select(['id', 'body'])
      .where('id', '>', last)
      .orderBy('id')
      .limit(rowsPerRead)
      .execute();
    for (const { id, body } of rows) {
      const words = listSearchWords(joinTexts(JSON.parse(body) as ProductTexts));
      for (let start = 0; start < words.length; start += wordsPerInsert) {
        const values = words.slice(start, start + wordsPerInsert).map(word => ({ word, product_id: Number(id) }));
        await db.insertInto('portal_product_words').values(values).execute();
      }
    }
    if (rows.length < rowsPerRead) return;
    last = Number(rows.at(-1)!.id);
  }
}

const joinTexts = ({ Name = '', DisplayName = '', Description = '', Content = '', APIDetails = [] }: ProductTexts) =>
  [Name, DisplayName, Description]
    .concat(APIDetails.flatMap(api => [api.ChosenName || api.Name, api.Description]))
    .concat(Content)
    .join('\n');
