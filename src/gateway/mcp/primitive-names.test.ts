import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createPrimitiveResolver, readNames } from './primitive-names.ts';

describe('Names of primitives', () => {
  test('an exact name wins over wildcards, of which the longest wins', () => {
    const paths = ['file:///*', 'file:///a/*', 'file:///a/b', 'x://h/*'].map(uri => `/mcp-resource:${uri}`);
    const resolve = createPrimitiveResolver(['/mcp-tool:a/*', ...paths]);
    const cases = {
      'file:///a/b': 'file:///a/b',
      'file:///a/c': 'file:///a/*',
      'file:///a/b/c': 'file:///a/*',
      'file:///z': 'file:///*',
      'x://h/1': 'x://h/*',
      'x://hh/1': 'x://hh/1',
    };
    for (const [uri, entry] of Object.entries(cases)) assert.equal(resolve('resource', uri), `/mcp-resource:${entry}`);
    assert.equal(resolve('tool', 'a/b'), '/mcp-tool:a/b');
    assert.equal(resolve('prompt', 'a'), '/mcp-prompt:a');
  });

  test('a URI has the reading of servers that parse it beside its own', () => {
    const cases = {
      'file:///a/../secret': 'file:///secret',
      'file:///a/%2e%2e/secret': 'file:///secret',
      'FILE:///Secret': 'file:///Secret',
      'x://HOST/%73ecret#part': 'x://HOST/secret',
      ' file:///secret': 'file:///secret',
      'fi\tle:///secret': 'file:///secret',
      'file:\\\\\\secret': 'file:///secret',
      'no url': 'no url',
    };
    for (const [uri, reading] of Object.entries(cases)) assert.deepEqual(readNames('resource', uri), [reading, uri]);
    assert.deepEqual(readNames('tool', 'cafe\u0301'), ['caf\u00e9', 'caf\u00e9']);
  });
});
