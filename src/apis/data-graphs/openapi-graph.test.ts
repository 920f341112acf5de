import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#base/json-tree.ts';
import type { Problem } from '#base/problems.ts';
import { convertToGraph } from './openapi-graph.ts';

const repeat = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));
const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const responseOf = (schema: object) => ({ 200: { description: 'ok', content: { 'application/json': { schema } } } });

/** Paths that all refer to one path item, whose parameters all have one schema. */
const createDocument = (paths: number, schemas: JsonObject, operation: JsonObject = {}): JsonObject => ({
  openapi: '3.0.3',
  servers: [{ url: 'http://pets.example' }],
  paths: Object.fromEntries(repeat(paths, at => [`/p${at}`, { $ref: '#/components/pathItems/One' }])),
  components: {
    pathItems: {
      One: {
        parameters: repeat(100, at => ({ name: `a${at}`, in: 'query', schema: reference('Shared') })),
        get: { responses: responseOf(reference('Shared')), ...operation },
      },
    },
    schemas,
  },
});

describe('import of an OpenAPI document with many references', () => {
  const names = repeat(100_000, at => `name${at}`);
  const allOf = repeat(50, () => reference('Base'));

  test('a schema that many parameters refer to is converted once, also where it becomes a scalar', () => {
    const shared: Record<string, JsonObject> = {
      'required names without properties': { Shared: { allOf }, Base: { type: 'object', required: names } },
      'a scalar with values of no use': {
        Shared: { type: 'string', enum: names.slice(0, 40_000).map(name => `-${name}`) },
      },
      'a type that is a long list': { Shared: { type: names } },
    };
    for (const [about, schemas] of Object.entries(shared)) {
      const { schema, dataSources } = convertToGraph(createDocument(100, schemas));
      assert.equal(dataSources.length, 100, about);
      assert.match(schema, /getP99\(a0: String, .*a99: String\): (JSON|String)\n/, about);
    }
  });

  test('a response that many operations refer to is read once', () => {
    const content = Object.fromEntries(names.map(name => [`application/${name}`, {}]));
    const document = createDocument(1, { Shared: { type: 'string' } }) as { components: JsonObject; paths: JsonObject };
    document.paths = Object.fromEntries(
      repeat(1000, at => [`/p${at}`, { get: { responses: { 200: { $ref: '#/components/responses/R' } } } }]),
    );
    document.components = { responses: { R: { description: 'ok', content } } };
    assert.equal(convertToGraph(document as never).dataSources.length, 1000);
  });

  test('references to a place deep in the document are followed once', () => {
    let deep: JsonObject = { type: 'string' };
    for (let level = 0; level < 400; level++) deep = { a: deep };
    const pointer = `#/components/schemas/Deep${'/a'.repeat(400)}`;
    const wrapped = repeat(2000, at => [`m${at}`, { allOf: repeat(50, () => ({ $ref: pointer })) }]);
    const types = repeat(20, at => [
      `T${at}`,
      { properties: Object.fromEntries(wrapped.slice(at * 100, at * 100 + 100)) },
    ]);
    const Shared = { properties: Object.fromEntries(types.map(([name]) => [name, reference(String(name))])) };
    const { schema } = convertToGraph(createDocument(1, { ...Object.fromEntries(types), Shared, Deep: deep }));
    assert.match(schema, /m1999: JSON/);
  });

  const properties = Object.fromEntries(repeat(600, at => [`p${at}`, { type: 'string' }]));
  const refused: Record<string, readonly [document: JsonObject, message: RegExp]> = {
    'merged properties': [
      createDocument(1, {
        Shared: { properties: Object.fromEntries(repeat(100, at => [`m${at}`, { allOf }])) },
        Base: { type: 'object', properties },
      }),
      /#\/components\/schemas\/Shared\/properties\/m\d+\/allOf: the schemas combine more than 100000 /,
    ],
    'required names': [
      createDocument(1, { Shared: { allOf }, Base: { type: 'object', properties, required: names } }),
      /#\/components\/schemas\/Shared\/allOf: the schemas combine more than 100000 /,
    ],
    'values of enums': [
      createDocument(1, {
        Shared: { properties: Object.fromEntries(repeat(100, at => [`m${at}`, { allOf: [reference('Base')] }])) },
        Base: { type: 'string', enum: names },
      }),
      /#\/components\/schemas\/Shared\/properties\/m1\/enum: the schemas combine more than 100000 /,
    ],
    arguments: [createDocument(101, { Shared: { type: 'string' } }), /the operations have more than 10000 arguments/],
    responses: [
      createDocument(100, { Shared: { type: 'string' } }, { responses: Object.fromEntries(names.map(it => [it, {}])) }),
      /#\/components\/pathItems\/One\/get\/responses: has more than 1000 responses/,
    ],
    'characters of a parameter name': [
      { ...createDocument(1, {}), paths: { '/a': { get: { parameters: [{ name: 'a'.repeat(201), in: 'query' }] } } } },
      /#\/paths\/~1a\/get\/parameters\/0\/name: must be a name of 1 to 200 characters/,
    ],
    'characters of a server': [
      {
        ...createDocument(1, {}),
        servers: [{ url: `http://a${'{b}'.repeat(600)}`, variables: { b: { default: 'b'.repeat(1_000_000) } } }],
      },
      /#\/servers\/0\/url: .* at most 2000 characters/,
    ],
  };
  for (const [about, [document, message]] of Object.entries(refused))
    test(`a document with too many ${about} is refused with the place`, () => {
      assert.throws(
        () => convertToGraph(document),
        (error: Problem) => error.code === 'data_graphs.document_invalid' && message.test(error.message),
      );
    });
});
