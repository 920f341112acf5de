import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#base/json-tree.ts';
import { formatViolations } from '#languages/json-schema/error-text.ts';
import { ValidationRun } from '#languages/json-schema/run.ts';
import { HeaderList } from '../http/headers.ts';
import { compileBodyValidator } from './body-validator.ts';
import { negotiateMediaType } from './media-types.ts';
import { compileOpenApiDocument } from './openapi-document.ts';
import { parseCookiePairs, parseQueryPairs } from './parameter-styles.ts';
import { compileParameterValidator } from './parameter-validator.ts';
import { compilePathValues } from './path-values.ts';

const components = {
  schemas: { Id: { type: 'integer', minimum: 1 }, Ids: { type: 'array', items: { $ref: '#/components/schemas/Id' } } },
};
const document = compileOpenApiDocument({ openapi: '3.0.3', components });

interface Sent {
  path?: Record<string, string>;
  query?: string;
  headers?: string[];
  cookie?: string;
}

function faults(parameter: JsonObject, { path = {}, query = '', headers = [], cookie = '' }: Sent): string {
  const run = new ValidationRun();
  const check = compileParameterValidator({ name: 'p', ...parameter }, document);
  check(
    {
      path,
      query: parseQueryPairs(query),
      headers: new HeaderList(headers),
      cookies: parseCookiePairs(new HeaderList(['Cookie', cookie])),
    },
    run,
  );
  return formatViolations(run.violations, '');
}

const id = { $ref: '#/components/schemas/Id' };
const ids = { $ref: '#/components/schemas/Ids' };
const point = { type: 'object', properties: { x: { type: 'integer' }, y: { type: 'boolean' } }, required: ['x'] };
const notInteger = 'must be an integer, is a string';

/** Parameter, a valid value, an invalid one, and its error. */
const styles: readonly [string, JsonObject, Sent, Sent, string][] = [
  ['query form', { in: 'query', schema: id }, { query: 'p=5' }, { query: 'p=a' }, `query.p: ${notInteger}`],
  ['query bound', { in: 'query', schema: id }, { query: '' }, { query: 'p=0' }, 'query.p: must be at least 1'],
  ['query required', { in: 'query', required: true, schema: id }, { query: 'p=5' }, {}, 'query.p: is required'],
  [
    'query twice',
    { in: 'query', schema: id },
    { query: 'p=5' },
    { query: 'p=5&p=6' },
    'query.p: must be present exactly once',
  ],
  [
    'query encoded',
    { in: 'query', schema: { enum: ['a b'] } },
    { query: '%70=a+b' },
    { query: 'p=%zz' },
    'query.p: is not percent-encoded correctly',
  ],
  [
    'query empty',
    { in: 'query', allowEmptyValue: true, schema: id },
    { query: 'p=' },
    { query: 'p=x' },
    `query.p: ${notInteger}`,
  ],
  ['query array', { in: 'query', schema: ids }, { query: 'p=1&p=2' }, { query: 'p=1&p=b' }, `query.p.1: ${notInteger}`],
  [
    'query list',
    { in: 'query', explode: false, schema: ids },
    { query: 'p=1,2' },
    { query: 'p=1,b' },
    `query.p.1: ${notInteger}`,
  ],
  [
    'encoded commas',
    { in: 'query', explode: false, schema: { type: 'array', items: { type: 'string' }, maxItems: 1 } },
    { query: 'p=a%2Cb' },
    { query: 'p=a,b' },
    'query.p: must have at most 1 items',
  ],
  [
    'query spaces',
    { in: 'query', style: 'spaceDelimited', explode: false, schema: ids },
    { query: 'p=1%202+3' },
    { query: 'p=1%20b' },
    `query.p.1: ${notInteger}`,
  ],
  [
    'query pipes',
    { in: 'query', style: 'pipeDelimited', explode: false, schema: ids },
    { query: 'p=1|2%7C3' },
    { query: 'p=1|b' },
    `query.p.1: ${notInteger}`,
  ],
  [
    'query object',
    { in: 'query', schema: point },
    { query: 'x=1&y=true' },
    { query: 'y=true' },
    'query.p: x is required',
  ],
  [
    'query object in one',
    { in: 'query', explode: false, schema: point },
    { query: 'p=x,1,y,false' },
    { query: 'p=x,b' },
    `query.p.x: ${notInteger}`,
  ],
  [
    'query deep object',
    { in: 'query', style: 'deepObject', schema: point },
    { query: 'p[x]=1&p%5By%5D=true' },
    { query: 'p[x]=b' },
    `query.p.x: ${notInteger}`,
  ],
  [
    'query JSON',
    { in: 'query', content: { 'application/json': { schema: point } } },
    { query: 'p=%7B%22x%22:1%7D' },
    { query: 'p=%7B%7D' },
    'query.p: x is required',
  ],
  [
    'query no JSON',
    { in: 'query', content: { 'application/json': { schema: point } } },
    {},
    { query: 'p=x' },
    'query.p: cannot be read: it is not JSON',
  ],
  [
    'alternatives',
    { in: 'query', schema: { oneOf: [{ type: 'integer' }, { type: 'string', minLength: 3 }] } },
    { query: 'p=5' },
    { query: 'p=ab' },
    'query.p: must fit exactly one of the 2 schemas of oneOf, fits none',
  ],
  [
    'numbers as texts',
    { in: 'query', schema: { type: 'string', pattern: '^[0-9]{3}$' } },
    { query: 'p=007' },
    { query: 'p=7' },
    'query.p: must match ^[0-9]{3}$',
  ],
  [
    'booleans',
    { in: 'query', schema: { type: 'boolean' } },
    { query: 'p=false' },
    { query: 'p=1' },
    'query.p: must be a boolean, is a string',
  ],
  ['path simple', { in: 'path', schema: id }, { path: { p: '5' } }, { path: { p: 'b' } }, `path.p: ${notInteger}`],
  ['path missing', { in: 'path', schema: id }, { path: { p: '5' } }, {}, 'path.p: is required'],
  ['path list', { in: 'path', schema: ids }, { path: { p: '1,2' } }, { path: { p: '1,b' } }, `path.p.1: ${notInteger}`],
  [
    'path encoded',
    { in: 'path', schema: { enum: ['a b'] } },
    { path: { p: 'a%20b' } },
    { path: { p: 'a' } },
    'path.p: must be "a b"',
  ],
  [
    'path label',
    { in: 'path', style: 'label', explode: true, schema: ids },
    { path: { p: '.1.2' } },
    { path: { p: '.1.b' } },
    `path.p.1: ${notInteger}`,
  ],
  [
    'path label plain',
    { in: 'path', style: 'label', schema: id },
    { path: { p: '.1' } },
    { path: { p: '.b' } },
    `path.p: ${notInteger}`,
  ],
  [
    'path matrix',
    { in: 'path', style: 'matrix', schema: id },
    { path: { p: ';p=1' } },
    { path: { p: ';p=b' } },
    `path.p: ${notInteger}`,
  ],
  [
    'path matrix list',
    { in: 'path', style: 'matrix', explode: true, schema: ids },
    { path: { p: ';p=1;p=2' } },
    { path: { p: ';p=1;p=b' } },
    `path.p.1: ${notInteger}`,
  ],
  [
    'path matrix object',
    { in: 'path', style: 'matrix', explode: true, schema: point },
    { path: { p: ';x=1' } },
    { path: { p: ';x=b' } },
    `path.p.x: ${notInteger}`,
  ],
  [
    'path object',
    { in: 'path', explode: true, schema: point },
    { path: { p: 'x=1,y=true' } },
    { path: { p: 'x=b' } },
    `path.p.x: ${notInteger}`,
  ],
  ['header', { in: 'header', schema: id }, { headers: ['P', '5'] }, { headers: ['P', 'b'] }, `header.p: ${notInteger}`],
  [
    'headers are one list',
    { in: 'header', schema: ids },
    { headers: ['P', '1', 'p', '2, 3'] },
    { headers: ['P', '1', 'p', 'b'] },
    `header.p.1: ${notInteger}`,
  ],
  ['cookie', { in: 'cookie', schema: id }, { cookie: 'a=b&c; p=5' }, { cookie: 'p=b' }, `cookie.p: ${notInteger}`],
  [
    'cookie plus',
    { in: 'cookie', schema: { enum: ['a+b'] } },
    { cookie: 'p=a+b' },
    { cookie: 'p=a%20b' },
    'cookie.p: must be "a+b"',
  ],
];

describe('request validation: parameters', () => {
  for (const [what, parameter, fits, fails, said] of styles)
    test(`${what}: parsed by its OpenAPI style`, () => {
      assert.equal(faults(parameter, fits), '');
      assert.equal(faults(parameter, fails), said);
    });
});

/** A second header follows after a bar. */
const headersOf = (type: string | undefined): string[] => {
  const [first, ...more] = type?.split('|') ?? [];
  return [...(first === undefined ? [] : ['Content-Type', first]), ...more.flatMap(it => it.split(': '))];
};

const body = (content: JsonObject, type: string | undefined, text: string, more: JsonObject = {}) => {
  const run = new ValidationRun();
  compileBodyValidator({ requestBody: { content, ...more } }, document, 200_000)!(
    Buffer.from(text),
    new HeaderList(headersOf(type)),
    run,
  );
  return formatViolations(run.violations, '');
};
const form = {
  schema: { type: 'object', required: ['n'], properties: { n: { type: 'integer' }, all: ids, at: point } },
};
const parts = (...fields: string[]) =>
  `${fields.map(field => `--b\r\nContent-Disposition: form-data; ${field}\r\n`).join('')}--b--\r\n`;

const notParts = 'body: is not a multipart form';

describe('request validation: bodies', () => {
  const json = { 'application/json': { schema: point } };
  const urlencoded = { 'application/x-www-form-urlencoded': form };
  const multipart = { 'multipart/form-data': form };
  const cases: readonly [string, JsonObject, string | undefined, string, string][] = [
    ['JSON', json, 'application/json; charset=utf-8', '{"x":1}', ''],
    [
      'JSON in an encoding that says something else',
      json,
      'application/json; charset=utf-7',
      '{"x":1}',
      'header.Content-Type: must be UTF-8 where bodies are validated',
    ],
    ['wrong JSON', json, 'Application/JSON', '{"x":"1"}', `body.x: ${notInteger}`],
    ['broken JSON', json, 'application/json', '{', 'body: cannot be read: it is not JSON at character 1'],
    [
      'two members of one name',
      json,
      'application/json',
      '{"x":1,"x":2}',
      'body: cannot be read: an object has two members of one name',
    ],
    [
      'a relative of JSON',
      { 'application/*+json': {}, 'application/problem+json': { schema: point } },
      'application/problem+json',
      '{}',
      'body: x is required',
    ],
    ['another type', json, 'text/plain', 'x', 'header.Content-Type: must be one of application/json'],
    ['no type', json, undefined, 'x', 'header.Content-Type: must be one of application/json'],
    ['half a type', { 'text/*': { schema: point } }, 'text/plain', 'x', ''],
    ['any type', { '*/*': {} }, 'image/png', 'x', ''],
    ['a form', urlencoded, 'application/x-www-form-urlencoded', 'n=1&all=2&all=3', ''],
    [
      'a wrong form',
      urlencoded,
      'application/x-www-form-urlencoded',
      'n=a&all=b',
      `body.n: ${notInteger}; body.all.0: ${notInteger}`,
    ],
    [
      'a field twice',
      urlencoded,
      'application/x-www-form-urlencoded',
      'n=1&n=2',
      'body: has a field that must be present exactly once',
    ],
    [
      'parts',
      multipart,
      'multipart/form-data; boundary=b',
      parts('name="n"\r\n\r\n1', 'name="all"\r\n\r\n2', 'name="at"\r\n\r\n{"x":1}'),
      '',
    ],
    [
      'wrong parts',
      multipart,
      'multipart/form-data; boundary="b"',
      parts('name="n"\r\n\r\na', 'name="at"\r\n\r\n{}'),
      `body.n: ${notInteger}; body.at: x is required`,
    ],
    [
      'two types',
      json,
      'application/json|Content-Type: text/plain',
      '{"x":1}',
      'header.Content-Type: must be present exactly once',
    ],
    [
      'a packed body',
      urlencoded,
      'application/x-www-form-urlencoded|Content-Encoding: gzip',
      'n=1',
      'header.Content-Encoding: must be absent where bodies are validated',
    ],
    ['an unpacked body', json, 'application/json|content-encoding: identity', '{"x":1}', ''],
    [
      'a crowd of fields',
      urlencoded,
      'application/x-www-form-urlencoded',
      'n=1&'.repeat(20_000),
      'body: has a field that is beyond the maximum number of form fields',
    ],
    [
      'parts with two boundaries',
      multipart,
      'multipart/form-data; boundary=b; boundary=c',
      parts('name="n"\r\n\r\n1'),
      notParts,
    ],
    [
      'parts after a foreword',
      multipart,
      'multipart/form-data; boundary=b',
      `x\r\n${parts('name="n"\r\n\r\n1')}`,
      notParts,
    ],
    [
      'a part with two names',
      multipart,
      'multipart/form-data; boundary=b',
      parts('name="x"; name="n"\r\n\r\n1'),
      notParts,
    ],
    [
      'a part with an extended name',
      multipart,
      'multipart/form-data; boundary=b',
      parts("name*=utf-8''n\r\n\r\n1"),
      notParts,
    ],
    [
      'parts in bare lines',
      multipart,
      'multipart/form-data; boundary=b',
      parts('name="n"\n\n1').replaceAll('\r', ''),
      notParts,
    ],
    ['no parts', multipart, 'multipart/form-data', 'x', 'body: is not a multipart form'],
    [
      'parts without an end',
      multipart,
      'multipart/form-data; boundary=b',
      '--b\r\nContent-Disposition: form-data; name="n"\r\n\r\n1',
      'body: is not a multipart form',
    ],
  ];
  for (const [what, content, type, text, said] of cases)
    test(`${what}: ${said === '' ? 'valid' : 'reported'}`, () => assert.equal(body(content, type, text), said));

  test('no body: valid unless it is required', () => {
    assert.equal(body(json, undefined, ''), '');
    assert.equal(body(json, undefined, '', { required: true }), 'body: is required');
  });
});

test('OpenAPI 3.0 and 3.1: keywords have the meaning of their version', () => {
  const validate = (openapi: string, schema: JsonObject, value: unknown) => {
    const run = new ValidationRun();
    compileOpenApiDocument({ openapi }).compileSchema(schema)(value, run, undefined);
    return run.violations.length === 0;
  };
  assert.ok(validate('3.0.3', { type: 'string', nullable: true, enum: ['a'] }, null));
  assert.ok(!validate('3.1.0', { type: 'string', nullable: true }, null));
  assert.ok(validate('3.1.0', { type: ['string', 'null'] }, null));
  assert.ok(!validate('3.0.3', { minimum: 1, exclusiveMinimum: true }, 1));
  assert.ok(validate('3.0.3', { required: ['a'], properties: { a: { readOnly: true } } }, {}));
  assert.ok(!validate('3.1.0', { prefixItems: [{ type: 'string' }] }, [1]));
});

test('discriminator: selects the alternative', () => {
  const schemas = { Cat: { required: ['lives'] }, Dog: { required: ['tricks'] } };
  const refs = Object.keys(schemas).map(name => ({ $ref: `#/components/schemas/${name}` }));
  const check = compileOpenApiDocument({ openapi: '3.0.3', components: { schemas } }).compileSchema({
    oneOf: refs,
    discriminator: { propertyName: 'kind', mapping: { puss: '#/components/schemas/Cat' } },
  });
  const validateItem = (value: unknown) => {
    const run = new ValidationRun();
    check(value, run, undefined);
    return formatViolations(run.violations, 'it');
  };
  assert.equal(validateItem({ kind: 'puss', lives: 9, tricks: 1 }), '');
  assert.equal(validateItem({ kind: 'Dog' }), 'it: tricks is required');
  assert.equal(validateItem({ kind: 'constructor' }), 'it: kind must be one of "Cat", "Dog", "puss"');
});

test('path values: found below a version, and several in one segment', () => {
  assert.deepEqual(compilePathValues('/a/{x}/{y}', true)('/v1/a/1/2/'), { x: '1', y: '2' });
  assert.deepEqual(compilePathValues('/{x}.{y}', true)('/a.b'), { x: 'a', y: 'b' });
  assert.deepEqual(compilePathValues('/{x}-{y}-{z}', true)(`/${'-'.repeat(50_000)}/x`), undefined);
  assert.deepEqual(compilePathValues('/a/{x}', false)('/a/1/more'), { x: '1' });
});

test('content negotiation: Accept qualities and specificity decide', () => {
  const types = ['application/json', 'text/plain', 'image/png'];
  assert.equal(negotiateMediaType('text/*, image/png;q=0.5', types, 'application/json'), 'text/plain');
  assert.equal(negotiateMediaType('text/html, */*;q=0.1', types, 'application/json'), 'application/json');
  assert.equal(negotiateMediaType('application/json;q=0, */*', types, 'application/json'), 'text/plain');
  assert.equal(negotiateMediaType('application/xml', types, 'application/json'), undefined);
  assert.equal(negotiateMediaType('application/json;q=0', types, 'application/json'), undefined);
});
