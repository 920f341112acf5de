import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkGraphqlDocument, coerceVariables, type DocumentFault, selectOperation } from './document.ts';
import type { AnalysedOperation } from './operations.ts';
import { checkGraphqlSchema, compileGraphqlSchema, InvalidGraphqlSchema } from './schema.ts';
import { formatSuggestion } from './suggestions.ts';

const bounds = { maxTokens: 5000, maxNesting: 200, maxFields: 10_000, maxAliases: 100, maxDirectives: 100 };
const repeat = (count: number, write: (at: number) => string) => Array.from({ length: count }, (_, at) => write(at));
const longName = (at: number) => `${'n'.repeat(240)}${at}`;
const reasonOf = (sdl: string): string => {
  try {
    checkGraphqlSchema(sdl);
  } catch (error) {
    if (error instanceof InvalidGraphqlSchema) return error.message;
    throw error;
  }
  return '';
};

describe('names of a GraphQL schema', () => {
  const compiled = compileGraphqlSchema(
    `enum Colour { RED } input Filter { name: String } type User { id: ID }
     type Query { user(id: ID, filter: Filter, colour: Colour): User ${repeat(500, at => `f${at}: ${longName(at)}`)} }
     ${repeat(500, at => `type ${longName(at)} { id: ID }`).join(' ')}`,
  );
  const messagesOf = (text: string, hidesSuggestions = false) =>
    (checkGraphqlDocument(compiled, text, bounds, hidesSuggestions) as DocumentFault).errors.map(it => it.message);

  test('the first error of a document has a suggestion, within a bound, and the others have none', () => {
    assert.deepEqual(messagesOf('{ ... on Usr { id } ... on Uses { id } }'), [
      'Unknown type "Usr". Did you mean "User"?',
      'Unknown type "Uses".',
    ]);
    assert.deepEqual(messagesOf('{ user(idd: 1) { id } }'), [
      'Unknown argument "idd" on field "Query.user". Did you mean "id"?',
    ]);
    assert.deepEqual(messagesOf('{ user(filter: {nam: "a"}) { id } }'), [
      'Field "nam" is not defined by type "Filter". Did you mean "name"?',
    ]);
    assert.deepEqual(messagesOf('{ ... on Usr { id } }', true), ['Unknown type "Usr".']);
  });

  test('long unknown names of a document and of variables are compared with a bounded number of names', () => {
    const errors = messagesOf(`{ ${repeat(10, at => `... on ${'n'.repeat(240)}x${at} { id }`).join(' ')} }`);
    assert.equal(errors.length, 10);
    assert.equal(errors.filter(it => it.includes('Did you mean')).length, 1);
    let compared = 0;
    function* names() {
      for (let at = 0; at < 100_000; at++) {
        compared++;
        yield longName(at);
      }
    }
    formatSuggestion('m'.repeat(240), names());
    assert.ok(compared < 5, `${compared} names`);
    const document = checkGraphqlDocument(compiled, 'query ($f: Filter) { user(filter: $f) { id } }', bounds, false);
    const operation = selectOperation(document as never, undefined) as AnalysedOperation;
    const coerced = coerceVariables(compiled, operation, { f: { nam: 'a' } });
    assert.match(JSON.stringify(coerced), /Field \\"nam\\" is not defined by type \\"Filter\\"\."/);
  });

  test('the first unknown name of SDL is the reason, with the nearest name', () => {
    for (const [sdl, expected] of [
      ['type Query { a: Usr b: Usr } type User { id: ID }', 'Unknown type "Usr". Did you mean "User"?'],
      ['type Query { a: Strin }', 'Unknown type "Strin". Did you mean "String"?'],
      ['type Query implements Nod { a: Int } interface Node { a: Int }', 'Unknown type "Nod". Did you mean "Node"?'],
      [
        'type Query { a: Int } extend type Qery { b: Int }',
        'Cannot extend type "Qery" because it is not defined. Did you mean "Query"?',
      ],
      [
        'type Query { a: Int @d(nam: 1) } directive @d(name: Int) on FIELD_DEFINITION',
        'Unknown argument "nam" on directive "@d". Did you mean "name"?',
      ],
    ] as const)
      assert.equal(reasonOf(sdl), expected);
  });

  const hostile: Readonly<Record<string, readonly [sdl: string, reason: RegExp]>> = {
    'unknown types': [repeat(5000, at => `type A${longName(at)} { a: B${longName(at)} }`).join(' '), /^Unknown type/],
    'unknown extended types': [
      repeat(5000, at => `type A${longName(at)} { a: Int } extend type B${longName(at)} { a: Int }`).join(' '),
      /^Cannot extend type/,
    ],
    'unknown arguments of directives': [
      `directive @d(${repeat(5000, at => `a${longName(at)}: Int`)}) on FIELD_DEFINITION
       type Query { ${repeat(5000, at => `f${at}: Int @d(b${longName(at)}: 1)`)} }`,
      /^Unknown argument/,
    ],
    'missing fields of interfaces': [
      `type Query { a: Int } interface I { ${repeat(5000, at => `f${at}: Int`)} }
       ${repeat(5000, at => `type T${at} implements I { a: Int }`).join(' ')}`,
      /^Interface field I\.f0 expected but T0 does not provide it/,
    ],
    'missing arguments of interfaces': [
      `type Query { a: Int } interface I { a(${repeat(5000, at => `f${at}: Int`)}): Int }
       ${repeat(5000, at => `type T${at} implements I { a: Int }`).join(' ')}`,
      /^Interface field argument I\.a\(f0:\) expected/,
    ],
    'missing interfaces of interfaces': [
      `type Query { a: Int } ${repeat(5000, at => `interface J${at} { a: Int }`).join(' ')}
       interface I implements ${repeat(5000, at => `J${at}`).join(' & ')} { a: Int }
       ${repeat(5000, at => `type T${at} implements I { a: Int }`).join(' ')}`,
      /^Interface J0 of I expected but T0/,
    ],
    'circles of input objects': [
      `type Query { a: Int } ${repeat(6000, at => `input A${at} { a: A${at}! b: A${at + 1}! }`).join(' ')} input A6000 { a: Int }`,
      /^Cannot reference Input Object "A0" within itself through non-null fields\.$/,
    ],
    'nested input objects': [
      `type Query { a: Int } ${repeat(6000, at => `input A${at} { b: A${at + 1}! }`).join(' ')} input A6000 { a: Int }`,
      /^input objects require each other in more than 500 levels$/,
    ],
    'implemented members': [
      `type Query { a: Int } ${repeat(150, at => `interface I${at} { ${repeat(150, of => `f${of}: Int`)} }`).join(' ')}
       ${repeat(60, at => `type T${at} implements ${repeat(150, of => `I${of}`).join(' & ')} { ${repeat(150, of => `f${of}: ID`)} }`).join(' ')}`,
      /^the types implement more than 200000 members of interfaces$/,
    ],
  };
  for (const [about, [sdl, reason]] of Object.entries(hostile))
    test(`SDL with thousands of ${about} is refused at the first, with a short reason`, () => {
      assert.match(reasonOf(sdl), reason);
    });

  test('input objects that are optional, or that several others require, are no circle', () => {
    const optional = 'input A { a: A list: [A!]! b: B! c: C! } input B { c: C! } input C { a: [A] }';
    assert.equal(reasonOf(`type Query { a(a: A): Int } ${optional}`), '');
  });

  test('a reason with many errors is truncated', () => {
    const reason = reasonOf(`type Query { a: Int } ${repeat(2000, at => `type T${at}`).join(' ')}`);
    assert.match(reason, /^Type T0 must define one or more fields\.; Type T1 /);
    assert.ok(reason.length <= 1001, String(reason.length));
  });
});
