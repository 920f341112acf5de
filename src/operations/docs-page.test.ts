import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { z } from 'zod';
import { renderDocsPage } from './docs-page.ts';
import { operation } from './operation.ts';
import { problem } from './problems.ts';

const listThings = operation({
  name: 'listThings',
  surface: 'dashboard',
  noun: 'things',
  method: 'GET',
  path: '/api/things/{thingId}',
  about: 'Lists things & more.',
  permission: 'things:read',
  returns: z.string(),
  problems: [problem.wrong_type, problem.unknown_route],
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

describe('HTML reference', () => {
  const { html } = renderDocsPage([listThings, removeThing], ['dashboard']);

  test('an operation is shown with method, path, permission and its problems', () => {
    const [, article] = /<article id="listThings">([\s\S]*?)<\/article>/.exec(html) ?? assert.fail(html);
    for (const part of [
      '<span class="method">GET</span>',
      '<code>/api/things/{thingId}</code>',
      'Lists things &amp; more.',
      'Permission: things:read',
      '415: Content-Type must be {accepted}',
      '404: There is no operation {method} {path}',
    ])
      assert.ok(article!.includes(part), part);
  });

  test('operations of surfaces that the listener does not serve are left out', () => {
    assert.ok(!html.includes('removeThing'));
    assert.ok(renderDocsPage([listThings, removeThing], ['admin']).html.includes('removeThing'));
  });
});
