import { execute } from 'graphql';
import { objectOrEmpty } from '#base/json-tree.ts';
import {
  checkGraphqlDocument,
  compileGraphqlSchema,
  computeCost,
  selectOperation,
} from '#languages/graphql/graphql.ts';
import { bookshopSchema } from './apis/bookshop-schema.ts';

/** GraphQL server of the upstream: operations are executed against three books. */

const rows = [
  { id: '1', title: 'The Left Hand of Darkness', year: 1969, writer: 'Ursula K. Le Guin' },
  { id: '2', title: 'The Dispossessed', year: 1974, writer: 'Ursula K. Le Guin' },
  { id: '3', title: 'Kindred', year: 1979, writer: 'Octavia E. Butler' },
];
const writers = [...new Set(rows.map(({ writer }) => writer))];

const toAuthor = (name: string) => ({
  id: String(writers.indexOf(name) + 1),
  name,
  books: () => rows.filter(({ writer }) => writer === name).map(toBook),
});
const toBook = ({ id, title, year, writer }: (typeof rows)[number]): object => ({
  id,
  title,
  year,
  author: () => toAuthor(writer),
});
const findBook = (id: string) => {
  const row = rows.find(it => it.id === id);
  return row ? toBook(row) : null;
};

const rootValue = {
  books: ({ year }: { year?: number }) => rows.filter(it => year === undefined || it.year === year).map(toBook),
  book: ({ id }: { id: string }) => findBook(id),
  authors: () => writers.map(toAuthor),
  reserve: ({ book }: { book: string }) => findBook(book),
};

const compiled = compileGraphqlSchema(bookshopSchema);

/** Other programs of this machine can send operations to the upstream: their execution is bounded too. */
const bounds = { maxTokens: 2000, maxNesting: 30, maxFields: 500, maxAliases: 50, maxDirectives: 10 };
const listSize = rows.length;
const maxCost = 5000;

interface BookshopResponse {
  readonly status: number;
  readonly value: unknown;
}

const createFault = (...errors: readonly { readonly message: string }[]): BookshopResponse => ({
  status: 400,
  value: { errors },
});

function parseRequest(body: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return objectOrEmpty(JSON.parse(body));
  } catch {
    return undefined;
  }
}

export async function runBookshopQuery(body: string): Promise<BookshopResponse> {
  const sent = parseRequest(body);
  if (typeof sent?.query !== 'string') return createFault({ message: 'the body is not JSON with a query' });
  const document = checkGraphqlDocument(compiled, sent.query, bounds, false);
  if ('errors' in document) return createFault(...document.errors);
  const operationName = typeof sent.operationName === 'string' ? sent.operationName : undefined;
  const operation = selectOperation(document, operationName);
  if ('errors' in operation) return createFault(...operation.errors);
  const variableValues = { ...objectOrEmpty(sent.variables) };
  const cost = computeCost(compiled.schema, document.document, operation, {
    defaultListSize: listSize,
    variables: variableValues,
  });
  if (cost > maxCost) return createFault({ message: `the operation has the cost ${cost}, the limit is ${maxCost}` });
  const value = await execute({
    schema: compiled.schema,
    document: document.document,
    rootValue,
    variableValues,
    ...(operationName !== undefined && { operationName }),
  });
  return { status: 200, value };
}
