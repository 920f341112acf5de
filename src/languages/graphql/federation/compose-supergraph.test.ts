import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { composeSupergraph } from './compose-supergraph.ts';

const listTypes = (count: number, prefix: string, fields = 'id: ID') =>
  Array.from({ length: count }, (_, at) => `type ${prefix}${at} { ${fields} }`).join('\n');

describe('Composition of supergraphs', () => {
  test('subgraphs that have too many types or tokens together are refused with the number', () => {
    const compose = (one: string, other: string) =>
      composeSupergraph([
        { name: 'one', sdl: `type Query { a: Int } ${one}` },
        { name: 'other', sdl: other },
      ]);
    assert.deepEqual(compose(listTypes(1200, 'A'), listTypes(1200, 'B')), {
      errors: [{ at: 1, message: 'all subgraphs together have more than 2000 types' }],
    });
    const fields = Array.from({ length: 200 }, (_, at) => `f${at}: ID`).join(' ');
    assert.deepEqual(compose(listTypes(100, 'A', fields), listTypes(100, 'B', fields)), {
      errors: [{ at: 1, message: 'all subgraphs together have more than 100000 tokens' }],
    });
  });

  test('equal subgraphs are composed once', () => {
    const list = [{ name: 'one', sdl: 'type Query { once: Int }' }];
    const first = composeSupergraph(list);
    assert.equal(composeSupergraph(structuredClone(list)), first);
  });
});
