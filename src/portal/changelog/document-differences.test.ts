import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#base/json-tree.ts';
import { buildReference } from '../files/api-reference.ts';
import { compareDocuments, maxDifferences } from './document-differences.ts';
import { buildProposal } from './proposal.ts';

const document = (paths: unknown, schemas: unknown = {}) =>
  buildReference({
    openapi: '3.0.3',
    info: { title: 'T', version: '2' },
    paths,
    components: { schemas },
  } as JsonObject);
const json = (schema: unknown) => ({ content: { 'application/json': { schema } } });

/** Differences as lines; `!` marks breaking ones. */
const compare = (before: ReturnType<typeof document>, after: ReturnType<typeof document>) =>
  compareDocuments(before, after).map(
    ({ Kind, IsBreaking, Operation, Text }) => `${IsBreaking ? '! ' : ''}${Operation}: ${Text || Kind}`,
  );
const operation = (more: object) => document({ '/a': { post: { responses: {}, ...more } } });

describe('Differences of OpenAPI documents', () => {
  test('added, removed and deprecated operations are listed; a renamed path parameter is no change', () => {
    const id = [{ name: 'id', in: 'path', required: true }];
    const before = document({ '/a/{id}': { get: { parameters: id } }, '/b': { get: {} }, '/c': { get: {} } });
    const after = document({
      '/a/{key}': { get: { parameters: [{ name: 'key', in: 'path', required: true }] }, delete: {} },
      '/c': { get: { deprecated: true } },
    });
    assert.deepEqual(compare(before, after), ['DELETE /a/{key}: added', 'GET /c: deprecated', '! GET /b: removed']);
    assert.deepEqual(compare(before, before), []);
    assert.equal(buildProposal(before, before), undefined);
  });

  test('a parameter that is added, removed, required or of another type is a change; the required one breaks clients', () => {
    const query = (name: string, more: object = {}) => ({ name, in: 'query', schema: { type: 'string' }, ...more });
    const before = operation({ parameters: [query('a'), query('b'), query('c'), query('d', { required: true })] });
    const after = operation({
      parameters: [
        query('a', { required: true }),
        query('b', { schema: { type: 'integer', format: 'int64' } }),
        query('d'),
        query('e', { required: true }),
        query('f'),
      ],
    });
    assert.deepEqual(compare(before, after), [
      '! POST /a: query parameter `a` is required now',
      '! POST /a: query parameter `b` is `integer (int64)`, was `string`',
      'POST /a: query parameter `d` is optional now',
      '! POST /a: required query parameter `e` added',
      'POST /a: query parameter `f` added',
      '! POST /a: query parameter `c` removed',
    ]);
  });

  test('members of bodies are compared through references; what breaks a client depends on the direction', () => {
    const schemas = (properties: object, required: string[]) => ({ Item: { type: 'object', properties, required } });
    const item = { type: 'array', items: { $ref: '#/components/schemas/Item' } };
    const paths = { '/a': { post: { requestBody: json(item), responses: { 200: json(item) } } } };
    const text = { type: 'string' };
    const before = document(
      paths,
      schemas({ kept: text, gone: text, typed: text, state: { enum: ['a', 'b'] } }, ['kept']),
    );
    const after = document(
      paths,
      schemas({ kept: text, typed: { type: 'number' }, state: { enum: ['a', 'c'] }, next: text }, ['typed', 'next']),
    );
    assert.deepEqual(compare(before, after), [
      'POST /a: request member `[].gone` removed',
      '! POST /a: request member `[].typed` is required now',
      '! POST /a: request member `[].typed` is `number`, was `string`',
      '! POST /a: request member `[].state` accepts fewer values',
      '! POST /a: required request member `[].next` added',
      '! POST /a: `200`: response member `[].gone` removed',
      '! POST /a: `200`: response member `[].kept` may be absent now',
      '! POST /a: `200`: response member `[].typed` is `number`, was `string`',
      'POST /a: `200`: response member `[].state` has further values',
      'POST /a: `200`: response member `[].next` added',
    ]);
  });

  test('responses and request bodies that come and go are listed', () => {
    const before = operation({ requestBody: json({}), responses: { 200: {}, 404: {} } });
    const after = operation({ responses: { 200: {}, 201: {} } });
    assert.deepEqual(compare(before, after), [
      'POST /a: request body removed',
      'POST /a: response `201` added',
      '! POST /a: response `404` removed',
    ]);
    assert.deepEqual(compare(after, before)[0], 'POST /a: request body added');
  });

  test('a schema inside itself ends, and very many differences are bounded', () => {
    const node = (type: string) => ({
      Node: { type: 'object', properties: { value: { type }, next: { $ref: '#/components/schemas/Node' } } },
    });
    const paths = { '/a': { get: { responses: { 200: json({ $ref: '#/components/schemas/Node' }) } } } };
    assert.deepEqual(compare(document(paths, node('string')), document(paths, node('integer'))), [
      '! GET /a: `200`: response member `value` is `integer`, was `string`',
    ]);
    const many = Object.fromEntries(Array.from({ length: 3000 }, (_it, at) => [`/p${at}`, { get: {} }]));
    const proposal = buildProposal(document({}), document(many))!;
    assert.equal(proposal.Changes.length, maxDifferences);
    assert.ok(proposal.Text.length < 20_000 && proposal.Headline.length <= 200);
  });

  test('names of a document stay one line and code in the proposed text', () => {
    const before = document({});
    const after = document({ '/a`\n\n# <script>': { get: {} } });
    const { Text, Headline } = buildProposal(before, after)!;
    assert.equal(Text.trim(), '**Other changes**\n\n- `GET /a   # <script>`: added');
    assert.equal(Headline, '1 operation added');
  });
});
