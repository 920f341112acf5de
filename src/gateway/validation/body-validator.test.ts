import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#base/json-tree.ts';
import { formatViolations } from '#languages/json-schema/error-text.ts';
import { ValidationRun } from '#languages/json-schema/run.ts';
import { HeaderList } from '../http/headers.ts';
import { compileBodyValidator } from './body-validator.ts';
import { compileOpenApiDocument } from './openapi-document.ts';

const document = compileOpenApiDocument({ openapi: '3.0.3' });
const point = { type: 'object', properties: { x: { type: 'integer' }, y: { type: 'boolean' } }, required: ['x'] };
const notInteger = 'must be an integer, is a string';

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
  schema: {
    type: 'object',
    required: ['n'],
    properties: { n: { type: 'integer' }, all: { type: 'array', items: { type: 'integer', minimum: 1 } }, at: point },
  },
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
      'JSON in a charset other than UTF-8',
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
  for (const [what, content, type, text, expected] of cases)
    test(`${what}: ${expected === '' ? 'valid' : 'reported'}`, () => assert.equal(body(content, type, text), expected));

  test('no body: valid unless it is required', () => {
    assert.equal(body(json, undefined, ''), '');
    assert.equal(body(json, undefined, '', { required: true }), 'body: is required');
  });
});
