import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json } from '#base/json.ts';
import { HeaderList } from '#gateway/http/headers.ts';
import { compileBodyValidator } from '#gateway/validation/body-validator.ts';
import { generateExample } from '#gateway/validation/examples.ts';
import { compileOpenApiDocument } from '#gateway/validation/openapi-document.ts';
import { parseCookiePairs, parseQueryPairs } from '#gateway/validation/parameter-styles.ts';
import { compileParameterValidator } from '#gateway/validation/parameter-validator.ts';
import { InvalidSchema } from './invalid-schema.ts';
import { ValidationRun } from './run.ts';
import { compileJsonSchema } from './schema.ts';

const keywords = [
  ...[
    '$ref',
    '$id',
    '$anchor',
    '$dynamicRef',
    'type',
    'enum',
    'const',
    'minimum',
    'multipleOf',
    'maxLength',
    'pattern',
  ],
  ...['format', 'required', 'properties', 'patternProperties', 'additionalProperties', 'propertyNames', 'dependencies'],
  ...['dependentSchemas', 'items', 'prefixItems', 'additionalItems', 'contains', 'minContains', 'uniqueItems', 'allOf'],
  ...['anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'unevaluatedProperties', 'unevaluatedItems', 'discriminator'],
  ...['propertyName', 'mapping', 'nullable', 'readOnly', 'example', 'default', 'exclusiveMinimum', 'a', '__proto__'],
];
const leaf = fc.constantFrom<Json>(null, true, false, 0, -1, 1.5, 1e308, '', 'a', '#', '#/a', '^(a', 'string', 'array');
const anything = fc.letrec<{ value: Json }>(tie => ({
  value: fc.oneof(
    { maxDepth: 4 },
    leaf,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...keywords), tie('value'), { maxKeys: 4 }),
  ) as fc.Arbitrary<Json>,
})).value;

test('any JSON compiles as a schema or throws InvalidSchema, and validates any value', () => {
  fc.assert(
    fc.property(anything, anything, (schema, value) => {
      let validate: ReturnType<typeof compileJsonSchema>;
      try {
        validate = compileJsonSchema(schema);
      } catch (error) {
        return assert.ok(error instanceof InvalidSchema, String(error));
      }
      assert.ok(Array.isArray(validate(value)));
    }),
    { numRuns: 2000 },
  );
});

test('any OpenAPI schema gives an example or is rejected', () => {
  fc.assert(
    fc.property(anything, fc.constantFrom('3.0.3', '3.1.0'), (schema, openapi) => {
      try {
        JSON.stringify(generateExample(schema, compileOpenApiDocument({ openapi, a: schema })));
      } catch (error) {
        assert.ok(error instanceof InvalidSchema, String(error));
      }
    }),
    { numRuns: 2000 },
  );
});

const part = fc.constantFrom(
  'a',
  'n',
  '=',
  '&',
  ';',
  ',',
  '[',
  ']',
  '%',
  '%20',
  '%ff',
  '+',
  '|',
  '.',
  '1',
  'true',
  '\u0000',
  '__proto__',
);
const written = fc.array(part, { maxLength: 12 }).map(parts => parts.join(''));

test('parameters of every style validate any text without throwing', () => {
  const document = compileOpenApiDocument({ openapi: '3.0.3' });
  const object = {
    type: 'object',
    properties: { a: { type: 'integer' }, n: { type: 'array', items: { type: 'boolean' } } },
  };
  const schemas = [{ type: 'integer' }, { type: 'array', items: { type: 'integer' } }, object, {}];
  const styles = ['simple', 'label', 'matrix', 'form', 'spaceDelimited', 'pipeDelimited', 'deepObject'];
  const checks = ['path', 'query', 'header', 'cookie'].flatMap(place =>
    styles.flatMap(style =>
      schemas.flatMap(schema =>
        [true, false].map(explode =>
          compileParameterValidator({ name: 'a', in: place, style, explode, schema }, document),
        ),
      ),
    ),
  );
  fc.assert(
    fc.property(written, text => {
      const headers = new HeaderList(['a', text]);
      const places = {
        path: { a: text },
        query: parseQueryPairs(text),
        headers,
        cookies: parseCookiePairs(new HeaderList(['Cookie', text])),
      };
      for (const check of checks) assert.equal(typeof check(places, new ValidationRun()), 'boolean');
    }),
  );
});

test('bodies of every media type validate any bytes without throwing', () => {
  const schema = {
    type: 'object',
    properties: { a: { type: 'integer' }, n: { type: 'array', items: { type: 'object' } } },
  };
  const types = ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain'];
  const content = Object.fromEntries(types.map(type => [type, { schema }]));
  const check = compileBodyValidator(
    { requestBody: { content } },
    compileOpenApiDocument({ openapi: '3.0.3' }),
    200_000,
  )!;
  const line = fc.constantFrom(
    '--b',
    '--',
    '\r\n',
    '\n',
    'Content-Disposition: form-data; name="a"',
    '; name="n"',
    '{}',
    'a',
    '"',
    '1',
  );
  fc.assert(
    fc.property(
      fc.constantFrom(...types),
      fc.oneof(
        fc.array(line).map(it => it.join('')),
        written,
      ),
      (type, text) => {
        const headers = new HeaderList(['Content-Type', `${type}; boundary=b`]);
        assert.equal(typeof check(Buffer.from(text), headers, new ValidationRun()), 'boolean');
      },
    ),
    { numRuns: 2000 },
  );
});
