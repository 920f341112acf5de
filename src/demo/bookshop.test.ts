import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { runBookshopQuery } from './bookshop.ts';

describe('GraphQL server of the demo', () => {
  const run = (query: string, more: object = {}) => runBookshopQuery(JSON.stringify({ query, ...more }));

  test('an operation is executed with its variables', async () => {
    const { status, value } = await run('query Q($id: ID!) { book(id: $id) { title author { name } } }', {
      variables: { id: '3' },
      operationName: 'Q',
    });
    assert.equal(status, 200);
    assert.deepEqual(JSON.parse(JSON.stringify(value)), {
      data: { book: { title: 'Kindred', author: { name: 'Octavia E. Butler' } } },
    });
  });

  test('an operation that grows with each fragment is refused before it is executed', async () => {
    const levels = Array.from({ length: 12 }, (_, level) => {
      const next = level === 11 ? 'name' : `...F${level + 1}`;
      const books = ['a', 'b', 'c', 'd'].map(alias => `${alias}: books { author { ${next} } }`);
      return `fragment F${level} on Author { ${books.join(' ')} }`;
    });
    const { status } = await run(`{ authors { ...F0 } } ${levels.join(' ')}`);
    assert.equal(status, 400);
    let nested = 'title';
    for (let level = 0; level < 12; level++) nested = `author { books { ${nested} } }`;
    const deep = await run(`{ books { ${nested} } }`);
    assert.equal(deep.status, 400);
    assert.match(JSON.stringify(deep.value), /the operation has the cost|nest/);
  });

  test('a body without a query is refused', async () => {
    for (const body of ['', '[]', '{"query": 1}', 'null'])
      assert.equal((await runBookshopQuery(body)).status, 400, body);
  });
});
