import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Right } from '#access/keys/session.ts';
import { checkGraphqlDocument } from '#languages/graphql/document.ts';
import { compileGraphqlSchema } from '#languages/graphql/schema.ts';
import { findRestrictedField } from './access.ts';

const compiled = compileGraphqlSchema(`
  interface Node { id: ID secret: String }
  interface Actor { id: ID secret: String }
  interface Admin implements Actor { id: ID secret: String }
  interface Other { id: ID secret: String }
  type User implements Node & Actor { id: ID secret: String }
  type Owner implements Admin & Actor { id: ID secret: String }
  type Thing implements Other { id: ID secret: String }
  type Query { user: User owner: Owner node: Node actor: Actor admin: Admin other: Other thing: Thing }
`);
const bounds = { maxTokens: 500, maxNesting: 20, maxFields: 100, maxAliases: 10, maxDirectives: 10 };

/** Root fields through which the field `secret` is refused where it is restricted on a type. */
function listRefused(type: string): string[] {
  const right = { allowedTypes: [], restrictedTypes: [{ name: type, fields: ['secret'] }] } as unknown as Right;
  return ['user', 'owner', 'node', 'actor', 'admin', 'other', 'thing'].filter(root => {
    const document = checkGraphqlDocument(compiled, `{ ${root} { secret } }`, bounds, false);
    assert.ok('operations' in document);
    return findRestrictedField(document.operations[0]!, right, compiled) !== undefined;
  });
}

describe('GraphQL field rights', () => {
  test('a rule of an interface holds through every other interface of its types', () => {
    assert.deepEqual(listRefused('Node'), ['user', 'node', 'actor']);
    assert.deepEqual(listRefused('Admin'), ['owner', 'actor', 'admin']);
    assert.deepEqual(listRefused('Actor'), ['user', 'owner', 'node', 'actor', 'admin']);
    assert.deepEqual(listRefused('Other'), ['other', 'thing']);
  });

  test('a rule of an object type holds through its interfaces alone', () => {
    assert.deepEqual(listRefused('User'), ['user', 'node', 'actor']);
    assert.deepEqual(listRefused('Owner'), ['owner', 'actor', 'admin']);
  });
});
