import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isJsonType, mediaType } from './media-type.ts';

test('a media type is told without its parameters and its case', () => {
  assert.equal(mediaType('Application/JSON; charset=utf-8'), 'application/json');
  assert.equal(mediaType(' text/plain '), 'text/plain');
  assert.equal(mediaType(undefined), '');
});

test('JSON is what ends in json, and nothing that goes on behind it', () => {
  for (const type of ['application/json', 'application/problem+json', 'text/json']) assert.ok(isJsonType(type), type);
  for (const type of ['application/json-seq', 'application/xml', 'json']) assert.ok(!isJsonType(type), type);
});
