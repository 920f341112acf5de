import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#base/json-tree.ts';
import { listRestTools } from '#definition/rest-tools/rest-tools.ts';
import { buildRestRequest } from './rest-request.ts';

const ok = { 200: { description: 'OK' } };
const id = { in: 'path', name: 'id', required: true };
const trace = { in: 'header', name: 'X-Trace' };
const pets: JsonObject = {
  openapi: '3.0.3',
  paths: {
    '/pets': { get: { operationId: 'listPets', parameters: [trace], responses: ok } },
    '/pets/{id}': { delete: { operationId: 'deletePet', parameters: [id], responses: ok } },
  },
};

const toolOf = (document: JsonObject, name: string) =>
  listRestTools(document, { hidden: new Set(), allowed: undefined }, undefined).find(tool => tool.name === name)!;

describe('Requests of REST tools', () => {
  test('arguments are serialized by the style of their parameter', () => {
    const parameters = [
      { in: 'path', name: 'ids', required: true },
      { in: 'query', name: 'tag' },
      { in: 'query', name: 'csv', explode: false },
      { in: 'query', name: 'piped', style: 'pipeDelimited' },
      { in: 'query', name: 'filter', style: 'deepObject', explode: true },
      { in: 'query', name: 'body' },
      { in: 'header', name: 'X-List' },
      { in: 'header', name: 'Authorization' },
      { in: 'cookie', name: 'session', required: true },
    ];
    const form = { 'application/x-www-form-urlencoded': { schema: { type: 'object' } } };
    const post = { operationId: 'all', parameters, requestBody: { content: form }, responses: ok };
    const tool = toolOf({ paths: { '/a/{ids}/b': { post } } }, 'all');
    assert.deepEqual(
      tool.parameters.map(({ argument }) => argument),
      ['ids', 'tag', 'csv', 'piped', 'filter', 'query_body', 'X-List'],
    );
    const request = buildRestRequest(tool, {
      ids: ['a/b', 'c'],
      tag: ['x', 'y&z'],
      csv: ['1', '2'],
      piped: ['p', 'q'],
      filter: { min: 1 },
      query_body: true,
      'X-List': ['h1', 'h2'],
      body: { n: 'v', list: [1, 2] },
    });
    assert.deepEqual(request, {
      method: 'POST',
      target: '/a/a%2Fb%2Cc/b?tag=x&tag=y%26z&csv=1,2&piped=p%7Cq&filter%5Bmin%5D=1&body=true',
      headers: [['X-List', 'h1,h2']],
      body: 'n=v&list=1&list=2',
      contentType: 'application/x-www-form-urlencoded',
    });
  });

  test('wrong arguments are errors: unknown, missing, and such that change the route or a header', () => {
    const tool = toolOf(pets, 'deletePet');
    const errorsOf = (given: JsonObject) => (buildRestRequest(tool, given) as { errors: string[] }).errors;
    assert.deepEqual(errorsOf({ other: 1 }), ['other: no such argument', 'id: is required']);
    for (const id of ['', '.', '..']) assert.match(errorsOf({ id })[0]!, /id: must be neither empty/);
    const list = toolOf(pets, 'listPets');
    const split = buildRestRequest(list, { 'X-Trace': 'a\r\nHost: b' }) as { errors: string[] };
    assert.match(split.errors[0]!, /printable ASCII/);
    assert.equal((buildRestRequest(tool, { id: '../x' }) as { target: string }).target, '/pets/..%2Fx');
  });

  test('a renamed argument is sent by the name of its parameter', () => {
    const source = { operationId: 'listPets' };
    const parameters = [{ param: 'X-Trace', name: 'trace' }];
    const access = { hidden: new Set<string>(), allowed: undefined };
    const tool = listRestTools(pets, access, { primitives: [{ source, name: 'find', parameters }] }).find(
      ({ name }) => name === 'find',
    )!;
    assert.deepEqual((buildRestRequest(tool, { trace: 'a' }) as { headers: readonly unknown[] }).headers, [
      ['X-Trace', 'a'],
    ]);
  });
});
