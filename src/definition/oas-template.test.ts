import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mergeTemplate } from './oas-template.ts';

test('a document is merged over a template and neither is changed', () => {
  const template = { tags: [1], paths: { '/a': { get: {} } }, info: { title: 'T', version: '1' } };
  const document = { tags: [2], paths: { '/a': { post: {} }, '/b': {} }, info: { title: 'D' } };
  const given = structuredClone([template, document]);
  assert.deepEqual(mergeTemplate(template, document), {
    tags: [2],
    paths: { '/a': { get: {}, post: {} }, '/b': {} },
    info: { title: 'D', version: '1' },
  });
  assert.deepEqual([template, document], given);
});

test('the identity of a template is left out, also where the document has none', () => {
  const template = { 'x-gw-api-gateway': { info: { id: 'a', dbId: 'b', orgId: 'c', name: 'n' } } };
  assert.deepEqual(mergeTemplate(template, {}), { 'x-gw-api-gateway': { info: { name: 'n' } } });
  assert.deepEqual(mergeTemplate({ 'x-gw-api-gateway': 'text' }, {}), { 'x-gw-api-gateway': 'text' });
  assert.equal(mergeTemplate(template, 'no document'), 'no document');
});

test('members of the prototype are not merged', () => {
  const merged = mergeTemplate({ a: 1 }, { constructor: { b: 2 } }) as Record<string, unknown>;
  assert.deepEqual(merged.constructor, { b: 2 });
});
