import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isJsonType, isYamlType, parseMediaType } from './media-type.ts';

test('a media type is parsed without parameters, in lower case', () => {
  assert.equal(parseMediaType('Application/JSON; charset=utf-8'), 'application/json');
  assert.equal(parseMediaType(' text/plain '), 'text/plain');
  assert.equal(parseMediaType(undefined), '');
});

test('JSON media types end in json', () => {
  for (const type of ['application/json', 'application/problem+json', 'text/json']) assert.ok(isJsonType(type), type);
  for (const type of ['application/json-seq', 'application/xml', 'json']) assert.ok(!isJsonType(type), type);
});

test('YAML media types are the registered one and those in use before it', () => {
  for (const type of ['application/yaml', 'application/x-yaml', 'text/yaml', 'application/openapi+yaml'])
    assert.ok(isYamlType(type), type);
  for (const type of ['application/json', 'yaml', 'application/yaml-seq']) assert.ok(!isYamlType(type), type);
});
