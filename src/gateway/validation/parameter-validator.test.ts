import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#base/json-tree.ts';
import { formatViolations } from '#languages/json-schema/error-text.ts';
import { ValidationRun } from '#languages/json-schema/run.ts';
import { HeaderList } from '../http/headers.ts';
import { compileOpenApiDocument } from './openapi-document.ts';
import { parseCookiePairs, parseQueryPairs } from './parameter-styles.ts';
import { compileParameterValidator } from './parameter-validator.ts';

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
  for (const [what, parameter, fits, fails, expected] of styles)
    test(`${what}: parsed by its OpenAPI style`, () => {
      assert.equal(faults(parameter, fits), '');
      assert.equal(faults(parameter, fails), expected);
    });
});
