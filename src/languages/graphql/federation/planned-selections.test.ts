import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Kind, parse } from 'graphql';
import { composeSupergraph } from './compose-supergraph.ts';
import { countPlannedSelections } from './planned-selections.ts';

const head = 'extend schema @link(url: "https://specs.apollo.dev/federation/v2.6", import: ["@key"])\n';
const composed = composeSupergraph([
  {
    name: 'nodes',
    sdl: `${head} interface I { id: ID! next: I } interface Local { id: ID! next: Local }
      ${['A', 'B', 'C'].map(type => `type ${type} implements I @key(fields: "id") { id: ID! next: I own: I }`).join(' ')}
      type X implements Local { id: ID! next: Local } type Y implements Local { id: ID! next: Local }
      union U = A | B
      type Query { i: I u: U local: Local a: A }`,
  },
  {
    name: 'values',
    sdl: `${head} interface I { id: ID! v: Int }
      ${['A', 'B', 'C'].map(type => `type ${type} implements I @key(fields: "id") { id: ID! v: Int }`).join(' ')}`,
  },
]);
assert.ok(!('errors' in composed));
const types = composed.readTypes();

function count(query: string, max = 1000): number {
  const document = parse(query);
  const operation = document.definitions.find(it => it.kind === Kind.OPERATION_DEFINITION)!;
  return countPlannedSelections(types, document, operation, max);
}

describe('Planned selections', () => {
  const counts: readonly (readonly [subject: string, query: string, expected: number])[] = [
    ['an object', '{ a { id v } }', 2],
    ['an interface of two subgraphs', '{ i { v } }', 1 + 3],
    ['nested interfaces', '{ i { next { next { v } } } }', 1 + 3 + 9 + 27],
    ['a nested interface behind one type', '{ i { ... on A { own { v } } } }', 1 + 3 + 3],
    [
      'a nested interface behind a fragment of the same type',
      '{ i { ...F } } fragment F on I { next { v } }',
      1 + 3 + 9,
    ],
    ['an interface fragment on a union', '{ u { ... on I { next { v } } } }', 1 + 2 + 6],
    ['interfaces of one subgraph', '{ local { next { next { id } } } }', 4],
    ['aliases', '{ a: i { v } b: i { v } }', 1 + 3 + 3],
    ['introspection', '{ __schema { types { name } } }', 1],
  ];
  for (const [subject, query, expected] of counts)
    test(`${subject}: selections count once for each possible type`, () => assert.equal(count(query), expected));

  test('counting ends above the maximum, however deep the operation is', () => {
    const query = `{ i ${'{ a: next { v } b: next '.repeat(60)} { v } ${'}'.repeat(60)} }`;
    const counted = count(query, 300);
    assert.ok(counted > 300 && counted < 3000, String(counted));
  });
});
