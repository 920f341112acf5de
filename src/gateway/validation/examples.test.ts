import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json-tree.ts';
import { ValidationRun } from '#languages/json-schema/run.ts';
import { generateExample } from './examples.ts';
import { compileOpenApiDocument } from './openapi-document.ts';

const generate = (schema: unknown, schemas: JsonObject = {}) =>
  generateExample(schema, compileOpenApiDocument({ openapi: '3.0.3', components: { schemas } }));

const table: readonly [unknown, unknown][] = [
  [{ type: 'string' }, 'string'],
  [{ type: 'number' }, 0],
  [{ type: 'integer' }, 0],
  [{ type: 'boolean' }, true],
  [{}, null],
  [undefined, null],
  [{ type: 'null' }, null],
  [{ type: 'string', example: 'a', default: 'b' }, 'a'],
  [{ type: 'string', default: 'd' }, 'd'],
  [{ type: 'string', enum: ['b', 'c'] }, 'b'],
  [{ type: ['null', 'string'] }, 'string'],
  [{ type: 'array', items: { type: 'string' } }, ['string']],
  [{ type: 'array', items: { type: 'integer' }, minItems: 2 }, [0, 0]],
  [
    { type: 'object', properties: { a: { type: 'string' }, b: { type: 'number' } } },
    { a: 'string', b: 0 },
  ],
  [{ properties: { a: { writeOnly: true }, b: {} } }, { b: null }],
  [
    { allOf: [{ properties: { a: { type: 'string' } } }, { properties: { b: { type: 'boolean' } } }] },
    { a: 'string', b: true },
  ],
  [{ oneOf: [{ type: 'boolean' }, { type: 'string' }] }, true],
  [{ type: 'string', format: 'date' }, '2020-01-01'],
  [{ type: 'string', minLength: 8 }, 'stringst'],
  [{ type: 'string', maxLength: 3 }, 'str'],
  [{ type: 'integer', minimum: 3 }, 3],
  [{ type: 'integer', maximum: -3 }, -3],
  [{ type: 'integer', minimum: 3, exclusiveMinimum: true }, 4],
  [{ type: 'integer', minimum: 5, multipleOf: 4 }, 8],
];

test('examples: every kind of schema has a deterministic example', () => {
  for (const [schema, expected] of table) {
    assert.deepEqual(generate(schema), expected, JSON.stringify(schema));
    assert.deepEqual(generate(schema), generate(schema));
  }
});

test('examples: a generated value is valid for its schema', () => {
  for (const [schema] of table.filter(([it]) => it !== undefined)) {
    const document = compileOpenApiDocument({ openapi: '3.1.0' });
    if (JSON.stringify(schema).includes('"exclusiveMinimum":true')) continue;
    assert.ok(
      document.compileSchema(schema)(generateExample(schema, document), new ValidationRun(), undefined),
      JSON.stringify(schema),
    );
  }
});

test('examples: recursive schemas terminate', () => {
  const schemas = {
    Node: { type: 'object', properties: { name: { type: 'string' }, next: { $ref: '#/components/schemas/Node' } } },
  };
  let levels = 0;
  for (
    let it = generate({ $ref: '#/components/schemas/Node' }, schemas) as JsonObject | undefined;
    it;
    it = it.next as JsonObject | undefined
  )
    levels++;
  assert.ok(levels > 1 && levels < 20, String(levels));
});

test('examples: the size is bounded, however much the schema branches', () => {
  const all = Array.from({ length: 20 }, (_, at) => [`m${at}`, { $ref: '#/components/schemas/Wide' }]);
  const text = JSON.stringify(
    generate({ $ref: '#/components/schemas/Wide' }, { Wide: { type: 'object', properties: Object.fromEntries(all) } }),
  );
  assert.ok(text.length < 50_000, String(text.length));
});
