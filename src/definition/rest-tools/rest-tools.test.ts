import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#base/json-tree.ts';
import { inlineSchema } from './inline-schema.ts';
import { listRestTools } from './rest-tools.ts';
import { createToolBudget, maxRestTools, maxToolParameters, maxToolValues, ToolBoundsError } from './tool-bounds.ts';

const open = { hidden: new Set<string>(), allowed: undefined };
const ok = { 200: { description: 'OK' } };

const pets: JsonObject = {
  openapi: '3.0.3',
  paths: {
    '/pets': {
      parameters: [{ $ref: '#/components/parameters/Trace' }],
      get: {
        operationId: 'listPets',
        summary: 'Lists pets',
        parameters: [{ in: 'query', name: 'tag' }],
        responses: ok,
      },
      post: {
        operationId: 'createPet',
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Pet' } } },
        },
        responses: {
          201: {
            description: 'made',
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Pet' } } },
          },
        },
      },
    },
    '/pets/{id}': {
      get: { responses: ok, parameters: [{ in: 'path', name: 'id', required: true, schema: { type: 'integer' } }] },
      delete: { operationId: 'deletePet', responses: ok, parameters: [{ in: 'path', name: 'id', required: true }] },
    },
    '/pets/{id}/photo': {
      put: {
        operationId: 'putPhoto',
        parameters: [{ in: 'path', name: 'id', required: true }],
        requestBody: { required: true, content: { 'image/png': {} } },
        responses: ok,
      },
    },
  },
  components: {
    parameters: { Trace: { in: 'header', name: 'X-Trace', schema: { type: 'string' } } },
    schemas: {
      Pet: {
        type: 'object',
        required: ['name'],
        properties: {
          name: { type: 'string', nullable: true },
          age: { type: 'integer', minimum: 0, exclusiveMinimum: true },
          parent: { $ref: '#/components/schemas/Pet' },
        },
      },
    },
  },
};

const toolOf = (document: JsonObject, extension?: unknown, name?: string) => {
  const tools = listRestTools(document, open, extension);
  return name === undefined ? tools[0]! : tools.find(tool => tool.name === name)!;
};

describe('REST operations as tools', () => {
  test('names, hints and descriptions follow the operation; one whose body cannot be sent is left out', () => {
    const tools = listRestTools(pets, open, undefined);
    assert.deepEqual(
      tools.map(({ name, description, annotations: hints }) => [
        name,
        description,
        [hints.readOnlyHint, hints.destructiveHint, hints.idempotentHint],
      ]),
      [
        ['get_pets_id', 'GET /pets/{id}', [true, false, true]],
        ['deletePet', 'DELETE /pets/{id}', [false, true, true]],
        ['listPets', 'Lists pets', [true, false, true]],
        ['createPet', 'POST /pets', [false, true, false]],
      ],
    );
  });

  test('references are inlined, and one inside its own target accepts every value', () => {
    const { inputSchema, outputSchema } = toolOf(pets, undefined, 'createPet');
    const pet = {
      type: 'object',
      required: ['name'],
      properties: {
        name: { type: ['string', 'null'] },
        age: { type: 'integer', exclusiveMinimum: 0 },
        parent: {},
      },
    };
    assert.deepEqual(inputSchema, {
      type: 'object',
      properties: { 'X-Trace': { type: 'string' }, body: pet },
      required: ['body'],
      additionalProperties: false,
    });
    assert.deepEqual(outputSchema, pet);
  });

  test('references that branch stay within the bound', () => {
    const schemas = Object.fromEntries(
      Array.from({ length: 30 }, (_, at) => [
        `S${at}`,
        { allOf: Array.from({ length: 4 }, () => ({ $ref: `#/components/schemas/S${at + 1}` })) },
      ]),
    );
    const inline = (document: JsonObject, $ref: string) => inlineSchema(document, { $ref }, createToolBudget());
    assert.ok(JSON.stringify(inline({ components: { schemas } }, '#/components/schemas/S0')).length < 200_000);
    assert.deepEqual(inline({}, 'https://example.com/schema'), {});
    assert.deepEqual(inline({ a: { $ref: '#/a' } }, '#/a'), {});
  });

  test('schemas nested through references are cut at a depth that every walk can take', () => {
    const nest = (inner: JsonObject) => Array.from({ length: 90 }).reduce<JsonObject>(not => ({ not }), inner);
    const names = Array.from({ length: 39 }, (_, at) => at);
    const schemas = Object.fromEntries(names.map(at => [at, nest({ $ref: `#/components/schemas/${at + 1}` })]));
    const get = { operationId: 'deep', parameters: [query('q', '#/components/schemas/0')], responses: ok };
    const { inputSchema } = toolOf({ paths: { '/a': { get } }, components: { schemas } });
    assert.ok(JSON.stringify(inputSchema).split('"not"').length < 500);
  });

  const query = (name: string, $ref: string) => ({ in: 'query', name, schema: { $ref } });
  const queries = (count: number) =>
    Array.from({ length: count }, (_, at) => query(`q${at}`, '#/components/schemas/S'));
  const documentOf = (schema: JsonObject, parameters: readonly object[], operations = 1): JsonObject => ({
    paths: Object.fromEntries(
      Array.from({ length: operations }, (_, at) => [
        `/a${at}`,
        { get: { operationId: `o${at}`, parameters, responses: ok } },
      ]),
    ),
    components: {
      schemas: { S: schema },
      parameters: { Long: { ...query('long', '#/x'), description: 'x'.repeat(500_000) } },
    },
  });
  const countTools = (document: JsonObject) => listRestTools(document, open, undefined).length;
  const members = (count: number, rule: unknown) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`m${at}`, rule]));

  test('the schemas of all tools share one budget of values, which no parameter or reference multiplies', () => {
    const wide = { properties: members(4000, { type: 'string' }) };
    assert.equal(countTools(documentOf(wide, queries(20))), 1);
    for (const beyond of [
      documentOf(wide, queries(60)),
      documentOf(wide, queries(10), 10),
      documentOf({ properties: members(100_000, {}) }, queries(3)),
      documentOf({ enum: Object.keys(members(10_000, 0)) }, queries(30)),
      documentOf({ default: 'x'.repeat(500_000) }, queries(100), 2),
      documentOf({ description: 'x'.repeat(500_000) }, queries(100), 2),
      documentOf({ properties: { ['x'.repeat(500_000)]: {} } }, queries(100), 2),
      documentOf({}, [{ $ref: '#/components/parameters/Long' }], 200),
    ])
      assert.throws(
        () => countTools(beyond),
        new ToolBoundsError(`have more than ${maxToolValues} values in the schemas of their tools`),
      );
  });

  test('tools and parameters of a tool are bounded; operations that are no tools do not count', () => {
    assert.equal(countTools(documentOf({}, queries(maxToolParameters), 2)), 2);
    assert.throws(() => countTools(documentOf({}, queries(maxToolParameters + 1))), /o0 has more than 100 parameters/);
    assert.equal(countTools(documentOf({}, [], maxRestTools)), maxRestTools);
    const many = documentOf({}, [], maxRestTools + 1);
    assert.throws(() => countTools(many), /are more than 500 tools/);
    const primitives = [{ source: { operationId: 'o500' }, allow: true }];
    assert.equal(listRestTools(many, open, { primitives }).length, 1);
  });

  test('hidden operations are skipped, and an allow list leaves its entries', () => {
    const names = (access: Parameters<typeof listRestTools>[1]) =>
      listRestTools(pets, access, undefined).map(({ name }) => name);
    assert.deepEqual(names({ hidden: new Set(['deletePet', 'pets/{id}GET']), allowed: undefined }), [
      'listPets',
      'createPet',
    ]);
    assert.deepEqual(names({ hidden: new Set(), allowed: new Set(['listPets']) }), ['listPets']);
  });

  test('the extension renames, and with allow it selects', () => {
    const source = { operationId: 'listPets' };
    const primitives = [
      {
        source,
        name: 'find_pets',
        description: 'Finds pets',
        annotations: { openWorldHint: true },
        parameters: [{ param: 'tag', name: 'label', description: 'Label of a pet' }],
      },
      { source: { path: '/pets/{id}', method: 'get' }, name: 'read_pet' },
    ];
    const tools = listRestTools(pets, open, { primitives });
    assert.deepEqual(
      tools.map(({ name }) => name),
      ['read_pet', 'deletePet', 'find_pets', 'createPet'],
    );
    const found = tools[2]!;
    assert.deepEqual([found.description, found.annotations.openWorldHint], ['Finds pets', true]);
    assert.deepEqual((found.inputSchema.properties as JsonObject).label, { description: 'Label of a pet' });
    assert.ok(found.parameters.some(({ argument, name }) => argument === 'label' && name === 'tag'));
    const selected = listRestTools(pets, open, { primitives: [{ source, name: 'find_pets', allow: true }] });
    assert.deepEqual(
      selected.map(({ name }) => name),
      ['find_pets'],
    );
  });
});
