import assert from 'node:assert/strict';
import { test } from 'node:test';
import { composeDefinition } from './supergraph.ts';

test('subgraphs whose public schema is invalid are an error of the list', () => {
  const sdl = `
    extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@inaccessible"])
    type Query { found: Found }
    union Found = Shown | Hidden
    type Shown { id: ID }
    type Hidden @inaccessible { id: ID }
  `;
  const subgraph = {
    name: 'one',
    url: 'http://127.0.0.1:1/',
    apiId: '',
    sdl,
    headers: {},
    subscriptionType: '' as const,
    sseUsePost: false,
  };
  const result = composeDefinition({ subgraphs: [subgraph], mergedSdl: '', schema: '', supergraphHeaders: {} });
  assert.ok('errors' in result);
  assert.equal(result.errors[0]?.path, 'graphql.supergraph.subgraphs');
  assert.match(String(result.errors[0]?.message), /^is invalid: .*Hidden/);
});
