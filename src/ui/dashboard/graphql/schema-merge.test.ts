import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { mergeSdl } from './schema-merge.ts';

const base = 'type Query {\n  books: [Book]\n}\n\n"""A book."""\ntype Book {\n  title: String\n}\n';

describe('Merge of GraphQL schemas', () => {
  test('definitions that different sides changed, added and removed are all in the result', () => {
    const mine = base.replace('title: String', 'title: String\n  isbn: ID');
    const theirs = `${base.replace('books: [Book]', 'books: [Book]\n  count: Int')}\nscalar Time\n`;
    const merged = mergeSdl(base, mine, theirs);
    for (const part of ['isbn: ID', 'count: Int', 'scalar Time', '"""A book."""'])
      assert.ok(merged.includes(part), part);
    assert.equal(merged.match(/type Book/g)?.length, 1);
    assert.ok(!mergeSdl(`${base}\nscalar Time`, base, `${base}\nscalar Time`).includes('scalar Time'));
  });

  test('of a definition that both sides changed, the one of the editor stays', () => {
    const merged = mergeSdl(base, base.replace('title', 'mine'), base.replace('title', 'theirs'));
    assert.ok(merged.includes('mine: String') && !merged.includes('theirs'));
  });
});
