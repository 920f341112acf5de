import { type Bag, document, json, ok, operation, simplePath } from './pieces.ts';
import { maker } from './samples.ts';

const components = (schemas: Bag, more: object = {}) => ({ components: { schemas, ...more } });
const referring = (name: string) => ({
  ...simplePath,
  '/things': {
    post: operation('make', {
      requestBody: json({ $ref: `#/components/schemas/${name}` }),
      responses: ok(json({ $ref: `#/components/schemas/${name}` })),
    }),
  },
});
const calls = { calls: [{ path: '/ping' }, { path: '/things', method: 'POST' }] };

const circles: Record<string, Bag> = {
  'of one with itself': { A: { type: 'object', properties: { next: { $ref: '#/components/schemas/A' } } } },
  'of two': {
    A: { properties: { b: { $ref: '#/components/schemas/B' } } },
    B: { allOf: [{ $ref: '#/components/schemas/A' }] },
  },
  'of references alone': { A: { $ref: '#/components/schemas/B' }, B: { $ref: '#/components/schemas/A' } },
  'through lists': { A: { type: 'array', items: { $ref: '#/components/schemas/A' } } },
};

const kinds: Record<string, Bag> = {
  'nullable in the older way': { A: { type: 'string', nullable: true } },
  'null among types': { A: { type: ['string', 'null'], examples: [null, 'x'] } },
  'null alone': { A: { type: 'null' } },
  'a constant': { A: { const: { any: ['thing'] } } },
  'true and false': { A: true, B: false },
  'tuples and conditions': {
    A: { prefixItems: [{ type: 'integer' }], if: { minItems: 2 }, else: { maxItems: 3 }, unevaluatedItems: false },
  },
  'one of several by a name': {
    A: {
      oneOf: [{ $ref: '#/components/schemas/Cat' }, { $ref: '#/components/schemas/Dog' }],
      discriminator: { propertyName: 'kind', mapping: { cat: '#/components/schemas/Cat', dog: 'Dog' } },
    },
    Cat: {
      type: 'object',
      required: ['kind'],
      properties: { kind: { type: 'string' }, lives: { type: 'integer', default: 9 } },
    },
    Dog: { type: 'object', properties: { kind: { enum: ['dog', 'hound', ''] } } },
  },
  'any, all and not': { A: { anyOf: [{ type: 'string' }], allOf: [{}], not: { type: 'integer' } } },
  'patterns and formats': {
    A: { type: 'string', pattern: '^(?=.*\\d)[\\u00e0-\\u00ff]+$', format: 'made-up' },
  },
  'numbers at the edge': {
    A: { type: 'number', minimum: -1.7976931348623157e308, multipleOf: 1e-10, exclusiveMaximum: true },
  },
  'names of odd members': {
    A: { properties: { $ref: { type: 'string' }, constructor: {}, 'a/b~c': {}, '': {}, ' ': {} } },
  },
  'XML and read-only': {
    A: { type: 'object', xml: { name: 'a', wrapped: true }, readOnly: true, externalDocs: { url: 'https://x.test' } },
  },
};

const examples: Record<string, Bag> = {
  'an example': { example: { id: 1 } },
  'several examples': {
    examples: { one: { summary: 'One', value: { id: 1 } }, two: { externalValue: 'https://x.test/e' } },
  },
  'an example elsewhere': { examples: { one: { $ref: '#/components/examples/One' } } },
  'an example that is null': { example: null },
  'an example that does not fit': { example: 'not an object' },
};

const media = [
  'multipart/form-data',
  'application/x-www-form-urlencoded',
  'image/*',
  '*/*',
  'application/*+json',
  'text/plain; charset=utf-8',
  'application/vnd.x.v1+xml',
  'application/octet-stream',
];

export const schemaMakers = [
  maker({
    name: 'a circle',
    variants: Object.keys(circles),
    make: (which, chance) => ({
      document: document(referring('A'), { ...components(circles[which]!), openapi: chance.pick(['3.0.3', '3.1.0']) }),
      notation: chance.pick(['json', 'yaml']),
      fate: calls,
    }),
  }),
  maker({
    name: 'schemas',
    variants: Object.keys(kinds),
    make: (which, chance) => ({
      document: document(referring('A'), { ...components(kinds[which]!), openapi: '3.1.0' }),
      notation: chance.pick(['json', 'yaml', 'YAML in flow style']),
      fate: calls,
    }),
  }),
  maker({
    name: 'answers',
    variants: Object.keys(examples),
    make: which => ({
      document: document(
        { '/ping': { get: operation('ping', { responses: ok(json({ type: 'object' }, examples[which])) }) } },
        components({}, { examples: { One: { value: { id: 1 } } } }),
      ),
      query: { mockResponse: 'false' },
      fate: { calls: [{ path: '/ping' }] },
    }),
  }),
  maker({
    name: 'bodies of a media type',
    variants: media,
    make: type => ({
      document: document({
        '/ping': {
          post: operation('ping', {
            requestBody: {
              required: true,
              content: {
                [type]: {
                  schema: { type: 'object' },
                  encoding: { a: { contentType: 'text/csv', headers: { 'X-A': { schema: {} } } } },
                },
              },
            },
            responses: { '2XX': { description: '', content: { [type]: {} } }, default: { description: '' } },
          }),
        },
      }),
      query: { validateRequest: 'false' },
      fate: { calls: [{ path: '/ping', method: 'POST' }] },
    }),
  }),
  maker({
    name: 'references to elsewhere',
    variants: ['other.yaml#/A', 'https://x.test/a.json', '#/components/schemas/Missing', '#/paths/~1ping/get', '#'],
    make: $ref => ({
      document: document({ ...simplePath, '/things': { post: operation('t', { requestBody: json({ $ref }) }) } }),
      query: { validateRequest: 'false', mockResponse: 'f' },
      fate: calls,
    }),
  }),
  maker({
    name: 'callbacks and webhooks',
    variants: ['3.0.3', '3.1.0'],
    make: openapi => ({
      document: document(
        {
          '/ping': {
            get: operation('ping', {
              callbacks: {
                told: { '{$request.body#/url}?x={$url}': { post: { responses: ok() } } },
                same: { $ref: '#/components/callbacks/C' },
              },
              links: { next: { operationId: 'ping' } },
            }),
          },
        },
        {
          openapi,
          components: { callbacks: { C: {} }, links: { L: { operationRef: '#/paths/~1ping/get' } } },
          ...(openapi > '3.1'
            ? {
                webhooks: { made: { post: operation('hook') } },
                jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
              }
            : {}),
        },
      ),
      query: { allowList: 'true' },
      fate: { calls: [{ path: '/ping' }] },
    }),
  }),
  maker({
    name: 'extensions and texts everywhere',
    variants: ['', ' ', 'Zeile\nZeile\r\n\tTab', '🙂 "quoted" \\ <b>bold</b> `code`', 'x'.repeat(20_000)],
    make: (text, chance) => ({
      document: document(
        {
          '/ping': {
            'x-item': [text],
            description: text,
            summary: text,
            get: operation('ping', {
              description: text,
              summary: text,
              tags: [text, null].filter(it => it !== null),
              'x-op': { deep: { text } },
              externalDocs: { url: 'https://x.test', description: text },
            }),
          },
        },
        {
          'x-root': { text },
          'x-null': null,
          tags: [{ name: 'a', description: text }],
          info: {
            title: 'Texts',
            version: '',
            description: text,
            contact: {},
            license: { name: 'MIT', identifier: 'MIT' },
            'x-logo': { url: text },
          },
        },
      ),
      notation: chance.pick(['json', 'yaml', 'YAML in folded lines', 'JSON with tabs']),
      fate: { calls: [{ path: '/ping' }] },
    }),
  }),
  maker({
    name: 'members that are there and say nothing',
    variants: ['json', 'yaml'] as const,
    make: notation => ({
      document: document(
        {
          '/ping': {
            parameters: null,
            summary: null,
            get: { summary: null, description: null, tags: null, parameters: null, requestBody: null, responses: null },
          },
        },
        { servers: null, components: null, security: null, tags: null, externalDocs: null },
      ),
      notation,
      query: { allowList: 'true', validateRequest: 'false', mockResponse: 'false' },
      fate: { calls: [{ path: '/ping' }] },
    }),
  }),
] as const;
