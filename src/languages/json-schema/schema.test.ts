import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Json } from '#base/json.ts';
import { formatViolations } from './error-text.ts';
import { InvalidSchema } from './invalid-schema.ts';
import { compileJsonSchema } from './schema.ts';

const faults = (schema: Json, value: unknown) => formatViolations(compileJsonSchema(schema)(value), '(root)');
const draft4 = 'http://json-schema.org/draft-04/schema#';
const draft2019 = 'https://json-schema.org/draft/2019-09/schema';
const draft2020 = 'https://json-schema.org/draft/2020-12/schema';

/** Schema, a valid value, an invalid one, and its error. */
const keywords: readonly [schema: Json, fits: unknown, fails: unknown, message: string][] = [
  [{ type: 'string' }, 'a', 1, '(root): must be a string, is a number'],
  [{ type: ['integer', 'null'] }, 2.0, 2.5, '(root): must be an integer or null, is a number'],
  [{ enum: [1, { a: [1] }] }, { a: [1] }, { a: [2] }, '(root): must be one of 1, {"a":[1]}'],
  [{ const: { a: 1, b: 2 } }, { b: 2, a: 1 }, { a: 1 }, '(root): must be {"a":1,"b":2}'],
  [{ minimum: 3 }, 3, 2, '(root): must be at least 3'],
  [{ minimum: 3, exclusiveMinimum: true }, 4, 3, '(root): must be more than 3'],
  [{ exclusiveMaximum: 3 }, 2, 3, '(root): must be less than 3'],
  [{ maximum: 3 }, 3, 4, '(root): must be at most 3'],
  [{ multipleOf: 0.01 }, 4.35, 4.355, '(root): must be a multiple of 0.01'],
  [{ minLength: 2 }, '🎈🎈', '🎈', '(root): must be at least 2 characters long'],
  [{ maxLength: 1 }, '🎈', 'ab', '(root): must be at most 1 characters long'],
  [{ pattern: '^\\u0061+$' }, 'aa', 'b', '(root): must match ^\\u0061+$'],
  [{ format: 'date' }, '2024-02-29', '2023-02-29', '(root): must be of the format date'],
  [{ format: 'int32' }, 2147483647, 2147483648, '(root): must be of the format int32'],
  [{ required: ['name'] }, { name: 1 }, {}, '(root): name is required'],
  [{ minProperties: 1 }, { a: 1 }, {}, '(root): must have at least 1 members'],
  [{ maxProperties: 1 }, { a: 1 }, { a: 1, b: 1 }, '(root): must have at most 1 members'],
  [
    { properties: { a: { properties: { b: { type: 'string' } } } } },
    {},
    { a: { b: 1 } },
    'a.b: must be a string, is a number',
  ],
  [{ patternProperties: { '^x-': { type: 'string' } } }, { y: 1 }, { 'x-a': 1 }, 'x-a: must be a string, is a number'],
  [{ properties: { a: true }, additionalProperties: false }, { a: 1 }, { b: 1 }, '(root): b is not allowed'],
  [{ propertyNames: { maxLength: 1 } }, { a: 1 }, { ab: 1 }, '(root): ab is not a name that is allowed'],
  [{ dependencies: { a: ['b'] } }, { b: 1 }, { a: 1 }, '(root): b is required'],
  [{ dependentSchemas: { a: { required: ['b'] } } }, { b: 1 }, { a: 1 }, '(root): b is required'],
  [{ minItems: 1 }, [1], [], '(root): must have at least 1 items'],
  [{ maxItems: 1 }, [1], [1, 2], '(root): must have at most 1 items'],
  [
    { uniqueItems: true },
    [1, '1', [1]],
    [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
    ],
    '(root): must not hold the same item twice',
  ],
  [{ items: { type: 'string' } }, ['a'], ['a', 1], '1: must be a string, is a number'],
  [{ items: [true], additionalItems: false }, [1], [1, 2], '1: is not allowed'],
  [{ $schema: draft2020, prefixItems: [true], items: false }, [1], [1, 2], '1: is not allowed'],
  [{ contains: { const: 1 } }, [2, 1], [2], '(root): must hold at least 1 items that match the schema of contains'],
  [
    { contains: { const: 1 }, maxContains: 1 },
    [1],
    [1, 1],
    '(root): must hold at most 1 items that match the schema of contains',
  ],
  [{ allOf: [{ minimum: 1 }, { maximum: 2 }] }, 1, 3, '(root): must be at most 2'],
  [{ anyOf: [{ minimum: 3 }, { maximum: 1 }] }, 1, 2, '(root): must fit one of the 2 schemas of anyOf'],
  [{ oneOf: [{ minimum: 1 }, { maximum: 3 }] }, 4, 2, '(root): must fit exactly one of the 2 schemas of oneOf, fits 2'],
  [{ not: { const: 1 } }, 2, 1, '(root): must not fit the schema of not'],
  [JSON.parse('{"if":{"minimum":5},"then":{"maximum":6},"else":{"maximum":1}}'), 5, 7, '(root): must be at most 6'],
  [{ $ref: '#/definitions/a', definitions: { a: { type: 'null' } } }, null, 1, '(root): must be null, is a number'],
  [{ $ref: '#a', definitions: { x: { $id: '#a', type: 'null' } } }, null, 1, '(root): must be null, is a number'],
  [
    { $schema: draft2020, $ref: 'b', $defs: { x: { $id: 'b', $ref: '#/$defs/y', $defs: { y: { const: 1 } } } } },
    1,
    2,
    '(root): must be 1',
  ],
  [
    { $schema: draft2020, $dynamicRef: '#a', $defs: { x: { $dynamicAnchor: 'a', const: 1 } } },
    1,
    2,
    '(root): must be 1',
  ],
  [
    { $schema: draft2019, $ref: '#/$defs/a', $defs: { a: { properties: { a: true } } }, unevaluatedProperties: false },
    { a: 1 },
    { b: 1 },
    '(root): b is not allowed',
  ],
  [{ $schema: draft2020, anyOf: [{ prefixItems: [true] }], unevaluatedItems: false }, [1], [1, 2], '1: is not allowed'],
];

describe('schemas', () => {
  for (const [schema, fits, fails, message] of keywords)
    test(`${JSON.stringify(schema)} accepts valid and rejects invalid values`, () => {
      assert.equal(faults(schema, fits), '');
      assert.equal(faults(schema, fails), message);
    });

  test('every violation is reported with its path', () => {
    const schema = { required: ['a'], properties: { b: { type: 'string' }, c: { items: { minimum: 1 } } } };
    const message = '(root): a is required; b: must be a string, is a number; c.0: must be at least 1';
    assert.equal(faults(schema, { b: 1, c: [0] }), message);
  });

  test('draft 4 schemas are identified by id and ignore keywords beside $ref', () => {
    const schema = { $schema: draft4, $ref: '#x', maximum: 1, definitions: { x: { id: '#x', type: 'number' } } };
    assert.equal(faults(schema, 2), '');
    assert.notEqual(faults({ ...schema, $schema: draft2020, definitions: { x: { $anchor: 'x' } } }, 2), '');
  });

  test('a recursive schema validates trees of any shape', () => {
    const tree = { type: 'object', properties: { next: { $ref: '#' }, all: { items: { $ref: '#' } } } };
    assert.equal(faults(tree, { next: { next: {} }, all: [{ all: [] }] }), '');
    assert.equal(faults(tree, { all: [{ next: { next: 1 } }] }), 'all.0.next.next: must be an object, is a number');
  });
});

const nestSchema = (levels: number, wrap: (inner: Json) => Json, core: Json) => {
  let schema = core;
  for (let level = 0; level < levels; level++) schema = wrap(schema);
  return schema;
};
const deep = (levels: number) => nestSchema(levels, inner => ({ a: inner }), {});

/** Schemas that are rejected at compilation, with the reason for their author. */
const unreadable: Readonly<Record<string, [Json, RegExp]>> = {
  'a reference to another document': [{ $ref: 'https://example.com/schema.json' }, /is not in the document/],
  'a reference to a file': [{ $ref: 'file:///etc/passwd' }, /is not in the document/],
  'a reference to nothing': [{ $ref: '#/definitions/a' }, /is not in the document/],
  'a reference to what every object has': [{ $ref: '#/constructor' }, /is not in the document/],
  'a reference to itself': [{ $ref: '#' }, /refers to itself without end/],
  'a circle of references': [{ allOf: [{ anyOf: [{ $ref: '#' }] }] }, /refers to itself without end/],
  'a pattern that looks back': [{ pattern: '(a)\\1' }, /is none/],
  'a pattern that looks ahead': [{ patternProperties: { '^(?=a)': true } }, /is none/],
  'a pattern with countless states': [{ pattern: '((a{1,900}){1,900}){1,900}' }, /is none|too large/],
  'a pattern that is a book': [{ pattern: 'a'.repeat(5000) }, /too long/],
  'an unknown type': [{ type: 'constructor' }, /is not a type/],
  'a schema that is a number': [{ properties: { a: 1 } }, /neither an object/],
  'a tower of schemas': [nestSchema(300, inner => ({ not: inner }), {}), /deeper than/],
  'a chain of references': [
    {
      $ref: '#/definitions/0',
      definitions: Object.fromEntries(
        Array.from({ length: 200 }, (_, at) => [at, { $ref: `#/definitions/${at + 1}` }]),
      ),
    },
    /too often/,
  ],
  'a library of schemas': [{ allOf: Array.from({ length: 30_000 }, () => ({ minimum: 1 })) }, /more than/],
};

/** What would take for ever with a schema that seems honest ends soon, and is refused. */
const endless: Readonly<Record<string, [Json, unknown]>> = {
  'alternatives of alternatives': [
    {
      $ref: '#/definitions/0',
      definitions: Object.fromEntries(
        Array.from({ length: 40 }, (_, at) => [
          at,
          at < 39 ? { allOf: [{ $ref: `#/definitions/${at + 1}` }, { $ref: `#/definitions/${at + 1}` }] } : true,
        ]),
      ),
    },
    1,
  ],
  'alternatives at every level of the value': [
    {
      anyOf: [
        { properties: { a: { $ref: '#' } }, required: ['x'] },
        { properties: { a: { $ref: '#' } }, required: ['y'] },
      ],
    },
    deep(60),
  ],
  'a hundred patterns on a text of a megabyte': [
    { allOf: Array.from({ length: 100 }, (_, at) => ({ pattern: `^(a+)+${at}$` })) },
    'a'.repeat(1_000_000),
  ],
  'a value deeper than the stack': [{ properties: { a: { $ref: '#' } } }, deep(20_000)],
  'choices of whole values, at every level': [
    { properties: { a: { $ref: '#' } }, enum: [{ b: 1 }] },
    nestSchema(
      900,
      inner => ({ a: inner }),
      Array.from({ length: 3000 }, () => 1),
    ),
  ],
};

describe('hostile schemas and values', () => {
  for (const [what, [schema, why]] of Object.entries(unreadable))
    test(`${what} is rejected at compilation`, () => {
      assert.throws(
        () => compileJsonSchema(schema),
        (error: Error) => error instanceof InvalidSchema && why.test(error.message),
      );
    });

  for (const [what, [schema, value]] of Object.entries(endless))
    test(`validation of ${what} exceeds the budget`, () => {
      assert.match(faults(schema, value), /\(root\): the check (takes too long|goes too deep)|must be one of/);
    });

  test('nested quantifiers of a pattern match in linear time', () => {
    assert.equal(faults({ pattern: '^(a+)+$' }, `${'a'.repeat(50_000)}!`), '(root): must match ^(a+)+$');
  });

  test('inherited members do not count as present', () => {
    assert.equal(
      faults({ required: ['constructor', '__proto__'] }, {}),
      '(root): constructor is required; (root): __proto__ is required',
    );
    assert.equal(
      faults({ additionalProperties: false }, JSON.parse('{"__proto__":1}')),
      '(root): __proto__ is not allowed',
    );
    const schema = JSON.parse('{"properties":{"__proto__":{"type":"string"}}}') as Json;
    assert.equal(faults(schema, JSON.parse('{"__proto__":1}')), '__proto__: must be a string, is a number');
    assert.equal(faults(schema, {}), '');
  });

  test('violations are reported up to the bound', () => {
    const message = faults(
      { items: { type: 'string' } },
      Array.from({ length: 5000 }, () => 1),
    );
    assert.ok(message.length < 9000);
  });
});
