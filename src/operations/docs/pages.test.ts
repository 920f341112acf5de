import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { z } from 'zod';
import { operation } from '../operation.ts';
import { problem } from '../problems.ts';
import { createReferencePages } from './pages.ts';

const listThings = operation({
  name: 'listThings',
  surface: 'dashboard',
  noun: 'things',
  method: 'GET',
  path: '/api/things/{thingId}',
  about: 'Lists things & more.',
  permission: 'things:read',
  params: z.object({ thingId: z.string().max(64) }),
  query: z.object({ page: z.coerce.number().int().min(1).default(1).describe('Page number') }),
  returns: z.string(),
  problems: [problem.wrong_type, problem.unknown_route],
  handle: async () => '',
});
const createThing = operation({
  name: 'createThing',
  surface: 'dashboard',
  noun: 'things',
  method: 'POST',
  path: '/api/things',
  about: 'Creates a thing.',
  permission: 'things:write',
  body: z.object({
    label: z.string().min(1).max(20),
    colour: z.enum(['red', 'green']).optional(),
    limits: z.object({ wheelCount: z.int().max(9) }).optional(),
  }),
  returns: z.string(),
  handle: async () => '',
});
const removeThing = operation({
  name: 'removeThing',
  surface: 'admin',
  noun: 'things',
  method: 'DELETE',
  path: '/admin/things',
  about: 'Removes a thing.',
  permission: 'secret',
  returns: z.string(),
  handle: async () => '',
});
const all = [listThings, createThing, removeThing];

describe('HTML reference', () => {
  const pages = createReferencePages(all, ['dashboard']);
  const contentOf = (html: string | undefined) =>
    /<main[^>]*>([\s\S]*)<\/main>/.exec(html ?? '')?.[1] ?? assert.fail(html);

  test('an operation is shown with method, path, permission, parameters and its problems', () => {
    const content = contentOf(pages.renderOperation('listThings'));
    for (const part of [
      '<span class="method get">GET</span>',
      '<code>/api/things/{thingId}</code>',
      'Lists things &amp; more.',
      'Permission: things:read',
      '<tr><td><code>thingId</code></td><td>path</td><td>string, at most 64 characters, required</td><td></td></tr>',
      '<tr><td><code>page</code></td><td>query</td><td>integer, at least 1, default 1</td><td>Page number</td></tr>',
      '<h3>415</h3><p>Content-Type must be {accepted}</p>',
      '<h3>404</h3><p>There is no operation {method} {path}</p>',
    ])
      assert.ok(content.includes(part), `${part} in ${content}`);
  });

  test('the body is shown member by member, nested ones too', () => {
    const content = contentOf(pages.renderOperation('createThing'));
    for (const part of [
      '<code>label</code> <span class="type">string, 1 to 20 characters</span> <span class="mark">required</span>',
      'one of &#34;red&#34;, &#34;green&#34;',
      '<details><summary><code>limits</code>',
      '<code>wheelCount</code> <span class="type">integer, at most 9</span>',
    ])
      assert.ok(content.includes(part), `${part} in ${content}`);
  });

  test('a search finds operations by every word, also by members of nested objects', () => {
    const found = (query: string) =>
      [...contentOf(pages.renderIndex(query)).matchAll(/href="\/docs\/(\w+)"/g)].map(([, name]) => name);
    assert.deepEqual(found('wheelcount'), ['createThing']);
    assert.deepEqual(found('THINGS thingid'), ['listThings']);
    assert.deepEqual(found('things'), ['listThings', 'createThing']);
    assert.deepEqual(found('things unknown'), []);
    assert.match(contentOf(pages.renderIndex('<b>')), /No operations for “&lt;b&gt;”/);
  });

  test('the navigation links to all operations and opens the group of the current one', () => {
    const html = pages.renderOperation('createThing')!;
    assert.match(html, /<details open><summary>things<\/summary>/);
    assert.match(html, /<a href="\/docs\/createThing" aria-current="page">/);
    assert.match(html, /<a href="\/docs\/listThings">/);
    assert.doesNotMatch(pages.renderIndex(''), /<details open>/);
  });

  test('operations of surfaces that the listener does not serve are left out', () => {
    assert.ok(!pages.renderIndex('').includes('removeThing'));
    assert.equal(pages.renderOperation('removeThing'), undefined);
    assert.ok(createReferencePages(all, ['admin']).renderOperation('removeThing'));
  });
});
