import { buildSchema, graphql } from 'graphql';
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

const schema = buildSchema(bookshopSchema);

export async function runBookshopQuery(body: string): Promise<{ status: number; value: unknown }> {
  let sent: { query?: unknown; variables?: unknown; operationName?: unknown };
  try {
    sent = JSON.parse(body);
  } catch {
    return { status: 400, value: { errors: [{ message: 'the body is not JSON' }] } };
  }
  if (typeof sent?.query !== 'string') return { status: 400, value: { errors: [{ message: 'query is missing' }] } };
  const { query: source, variables, operationName } = sent;
  const variableValues = typeof variables === 'object' ? (variables as Record<string, unknown>) : null;
  const name = typeof operationName === 'string' ? operationName : null;
  return {
    status: 200,
    value: await graphql({ schema, source, rootValue, variableValues, operationName: name }),
  };
}
