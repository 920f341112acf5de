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

  test('texts of descriptions that look like definitions are no definitions', () => {
    const describe = (name: string, field: string) =>
      `"""\ntype of a ${name}, \\""" too\n"""\ntype ${name} {\n"the id"\nid(\ninput: Int\n): ID\n${field}: Int\n}`;
    const toSchema = (a: string, b: string) => `${describe('A', a)}\n\n${describe('B', b)}`;
    const merged = mergeSdl(toSchema('one', 'two'), toSchema('mine', 'two'), toSchema('one', 'theirs'));
    assert.equal(merged, toSchema('mine', 'theirs'));
  });

  test('of a definition that both sides changed, the one of the editor stays', () => {
    const merged = mergeSdl(base, base.replace('title', 'mine'), base.replace('title', 'theirs'));
    assert.ok(merged.includes('mine: String') && !merged.includes('theirs'));
  });
});
