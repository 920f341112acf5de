import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { getIntrospectionQuery } from 'graphql';
import {
  type CheckedDocument,
  checkGraphqlDocument,
  coerceVariables,
  type DocumentFault,
  selectOperation,
} from './document.ts';
import { introspect } from './introspection.ts';
import type { AnalysedOperation } from './operations.ts';
import { compileGraphqlSchema, InvalidGraphqlSchema } from './schema.ts';

const compiled = compileGraphqlSchema(`
  interface Node { id: ID! }
  type User implements Node { id: ID! name: String friends(first: Int): [User] }
  type Query { node: Node user(id: ID!): User users: [User] }
  type Mutation { rename(id: ID!, name: String!): User }
`);
const bounds = { maxTokens: 5000, maxNesting: 200, maxFields: 10_000, maxAliases: 100, maxDirectives: 100 };
const check = (text: string, hidesSuggestions = false) =>
  checkGraphqlDocument(compiled, text, bounds, hidesSuggestions);
const messagesOf = (result: object) =>
  'errors' in result ? (result as DocumentFault).errors.map(it => it.message) : [];
const requireValid = (text: string): CheckedDocument => {
  const result = check(text);
  assert.deepEqual(messagesOf(result), []);
  return result as CheckedDocument;
};
const onlyOperation = (text: string) => requireValid(text).operations[0]!;

describe('GraphQL documents', () => {
  test('an unknown field is reported with its type, path and location', () => {
    assert.deepEqual(check('query A { user(id: 1) { nick } }'), {
      kind: 'invalid',
      errors: [
        {
          message: 'field: nick not defined on type: User',
          locations: [{ line: 1, column: 25 }],
          path: ['query', 'user', 'nick'],
        },
      ],
    });
  });

  test('a name of more than 256 characters is refused, in documents and in schemas', () => {
    const name = 'n'.repeat(256);
    requireValid(`{ ${name}: users { name } }`);
    const refused = ['a name is longer than 256 characters'];
    assert.deepEqual(messagesOf(check(`{ ${name}n: users { name } }`)), refused);
    assert.throws(() => compileGraphqlSchema(`type Query { ${name}n: Int }`), /longer than 256 characters/);
  });

  test('the depth counts nested selection sets, through fragments, and not fragments themselves', () => {
    assert.equal(onlyOperation('{ users { name } }').depth, 2);
    assert.equal(onlyOperation('{ users { ...F } } fragment F on User { friends { ... { name } } }').depth, 3);
    const { rootFields } = onlyOperation('{ users { friends { name } } node { id } }');
    assert.deepEqual(rootFields, [
      { name: 'users', depth: 2 },
      { name: 'node', depth: 1 },
    ]);
  });

  test('selected fields are grouped by parent type, also inside fragments of other types', () => {
    const { fields } = onlyOperation('{ node { id ... on User { ...F } } } fragment F on User { friends { name } }');
    assert.deepEqual(
      [...fields].map(([type, names]) => [type, ...names]),
      [
        ['Query', 'node'],
        ['Node', 'id'],
        ['User', 'friends', 'name'],
      ],
    );
  });

  test('suggestions name the schema only where introspection is allowed', () => {
    const text = '{ user(idd: 1) { name } }';
    assert.match(messagesOf(check(text)).join(), /Did you mean "id"/);
    assert.doesNotMatch(messagesOf(check(text, true)).join(), /Did you mean/);
  });

  test('several operations need a name, and an unknown name is an error', () => {
    const document = requireValid('query A { users { name } } query B { node { id } }');
    assert.match(messagesOf(selectOperation(document, undefined)).join(), /operationName is required/);
    assert.match(messagesOf(selectOperation(document, 'C')).join(), /unknown operation named "C"/);
    assert.equal((selectOperation(document, 'B') as AnalysedOperation).name, 'B');
  });

  test('variables are checked against their types', () => {
    const operation = onlyOperation('query A($id: ID!, $n: Int = 3) { user(id: $id) { friends(first: $n) { id } } }');
    assert.deepEqual(coerceVariables(compiled, operation, { id: 'a' }), { values: { id: 'a', n: 3 } });
    assert.equal(messagesOf(coerceVariables(compiled, operation, { n: 'x' })).length, 2);
  });

  test('a type definition is no part of a request', () => {
    assert.deepEqual(messagesOf(check('{ users { name } } type X { a: Int }')), [
      'the document holds a type definition',
    ]);
  });

  test('an invalid schema is refused with its errors', () => {
    for (const [sdl, expected] of [
      ['type Query { a: Missing }', /Unknown type "Missing"/],
      ['type Query {', /Syntax Error/],
      ['type A { a: Int }', /Query root type must be provided/],
      [`type Query { a: ${'['.repeat(5000)}Int${']'.repeat(5000)} }`, /nested deeper/],
    ] as const)
      assert.throws(
        () => compileGraphqlSchema(sdl),
        (error: Error) => error instanceof InvalidGraphqlSchema && expected.test(error.message),
      );
  });

  test('introspection is answered from the schema, within a bound on its values', () => {
    const document = requireValid(getIntrospectionQuery());
    const { result } = introspect(compiled, document, document.operations[0]!, {}) as { result: string };
    assert.ok(JSON.parse(result).data.__schema.types.some((it: { name: string }) => it.name === 'User'));
    const many = Array.from({ length: 1500 }, (_, at) => `type T${at} { a: T${at} b: Int c: Int d: Int }`).join(' ');
    const large = compileGraphqlSchema(`type Query { t: T1 } ${many}`);
    const fields = Array.from({ length: 80 }, (_, at) => `a${at}: types { fields { type { fields { name } } } }`);
    const wide = checkGraphqlDocument(large, `{ __schema { ${fields.join(' ')} } }`, bounds, false) as CheckedDocument;
    assert.match(messagesOf(introspect(large, wide, wide.operations[0]!, {})).join(), /too many values/);
  });
});

/** Each would take the parser, the validation or an executor seconds, or its stack. */
describe('hostile GraphQL documents', () => {
  const doubling = Array.from({ length: 60 }, (_, at) => `fragment F${at} on User { ...F${at + 1} ...F${at + 1} }`);
  const hostile: Record<string, [text: string, expected: RegExp]> = {
    'nested selections': [`{ users ${'{ friends '.repeat(4000)}`, /nested deeper than 200 levels/],
    'nested lists of an argument': [`{ user(id: ${'['.repeat(4000)}) }`, /nested deeper than 200 levels/],
    '100,000 tokens': [`{ ${'users { id } '.repeat(25_000)} }`, /more than 5000 tokens/],
    'one field many times': [`{ ${'users { id } '.repeat(1000)} }`, /users occurs more than 50 times/],
    'many aliases': [`{ ${Array.from({ length: 101 }, (_, at) => `a${at}: users { id } `).join('')} }`, /100 aliases/],
    'many directives': [`{ users ${'@include(if: true) '.repeat(101)} { id } }`, /more than 100 directives/],
    'doubling fragments': [
      `{ users { ...F0 } } ${doubling.join(' ')} fragment F60 on User { id }`,
      /more than 10000 fields/,
    ],
    'a fragment cycle': [
      '{ users { ...A } } fragment A on User { ...B } fragment B on User { friends { ...A } }',
      /Cannot spread fragment/,
    ],
    'an unused fragment of repeats': [
      `{ users { id } } fragment F on Query { ${'users { id } '.repeat(900)} }`,
      /Fragment "F" is never used/,
    ],
    'deep introspection': [
      '{ __schema { types { fields { type { fields { type { fields { name } } } } } } } }',
      /Maximum introspection depth exceeded/,
    ],
  };
  for (const [what, [text, expected]] of Object.entries(hostile))
    test(`${what} are refused`, () => {
      assert.match(messagesOf(check(text)).join(), expected);
    });
});
