import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkGraphqlDocument } from '#languages/graphql/document.ts';
import { composeSupergraph } from '#languages/graphql/federation/compose-supergraph.ts';
import { compileGraphqlSchema } from '#languages/graphql/schema.ts';
import { findGuardedField, type GuardedClient } from './guarded-fields.ts';

const sdl = `
  extend schema @link(url: "https://specs.apollo.dev/federation/v2.6", import: ["@authenticated", "@requiresScopes"])
  interface Media { id: ID title: String }
  type Book implements Media { id: ID title: String @requiresScopes(scopes: [["read", "books"], ["admin"]]) }
  type Film implements Media @authenticated { id: ID title: String }
  type Song { id: ID }
  type Query { media: Media book: Book film: Film song: Song open: Int closed: Int @authenticated }
`;
const composed = composeSupergraph([{ name: 'media', sdl }]);
assert.ok(!('errors' in composed));
const { guards } = composed;
const compiled = compileGraphqlSchema(composed.apiSdl);
const bounds = { maxTokens: 500, maxNesting: 20, maxFields: 100, maxAliases: 10, maxDirectives: 10 };

const anonymous: GuardedClient = { isAuthenticated: false, scopes: new Set() };
const withScopes = (...scopes: string[]): GuardedClient => ({ isAuthenticated: true, scopes: new Set(scopes) });

function isDenied(query: string, client: GuardedClient): boolean {
  const document = checkGraphqlDocument(compiled, query, bounds, false);
  assert.ok('operations' in document);
  return findGuardedField(document.operations[0]!, compiled, guards, client) !== undefined;
}

describe('Guards of supergraphs', () => {
  test('@authenticated denies a field and a type to clients that are not authenticated', () => {
    assert.deepEqual(
      ['{ open song { id } }', '{ closed }', '{ film { id } }'].map(query => isDenied(query, anonymous)),
      [false, true, true],
    );
    assert.equal(isDenied('{ closed film { id } }', withScopes()), false);
  });

  test('@requiresScopes needs all scopes of one of its lists', () => {
    const query = '{ book { title } }';
    const clients = [anonymous, withScopes(), withScopes('read'), withScopes('read', 'books'), withScopes('admin')];
    assert.deepEqual(
      clients.map(client => isDenied(query, client)),
      [true, true, true, false, false],
    );
    assert.equal(isDenied('{ book { id } }', withScopes()), false);
  });

  test('a guard of an implementation holds for the interface', () => {
    assert.equal(isDenied('{ media { title } }', withScopes('read')), true);
    assert.equal(isDenied('{ media { title } }', withScopes('admin')), false);
    assert.equal(isDenied('{ media { id } }', anonymous), true);
  });
});
