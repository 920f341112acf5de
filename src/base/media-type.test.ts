import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isJsonType, parseMediaType } from './media-type.ts';

test('a media type is parsed without parameters, in lower case', () => {
  assert.equal(parseMediaType('Application/JSON; charset=utf-8'), 'application/json');
  assert.equal(parseMediaType(' text/plain '), 'text/plain');
  assert.equal(parseMediaType(undefined), '');
});

test('JSON media types end in json', () => {
  for (const type of ['application/json', 'application/problem+json', 'text/json']) assert.ok(isJsonType(type), type);
  for (const type of ['application/json-seq', 'application/xml', 'json']) assert.ok(!isJsonType(type), type);
});
