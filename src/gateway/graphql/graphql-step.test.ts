import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SettingName } from '#base/settings.ts';
import type { CheckedDocument } from '#languages/graphql/document.ts';
import { openBench } from '../../../tests/support/step-harness.ts';
import { DocumentCache } from './document-cache.ts';

const schema = 'type User { name: String friends: [User] } type Query { user: User users: [User] }';

/** Status and body of a refused document; status 0 where it would be forwarded. */
async function check(
  settings: Partial<Record<SettingName, string>>,
  query: string,
  accept = '*/*',
  more: { schema?: string; variables?: object | undefined } = {},
) {
  const bench = await openBench(settings);
  try {
    const api = await bench.compile({ use_keyless: true, graphql: { enabled: true, schema: more.schema ?? schema } });
    const headers = { 'Content-Type': 'application/json', Accept: accept };
    const sent = JSON.stringify({ query, variables: more.variables });
    const { status, body } = await bench.send(api, { method: 'POST', headers, body: sent });
    return `${status} ${body}`;
  } finally {
    await bench.close();
  }
}

const bounds: readonly (readonly [setting: SettingName, value: string, query: string, expected: RegExp])[] = [
  ['graphql.max_document_bytes', '100', `{ user { ${'name '.repeat(30)} } }`, /longer than 100 bytes/],
  ['graphql.max_tokens', '10', '{ user { name name name name name name } }', /more than 10 tokens/],
  ['graphql.max_fields', '2', '{ user { friends { name } } }', /more than 2 fields/],
  ['graphql.max_aliases', '1', '{ a: user { b: name } }', /more than 1 aliases/],
  ['graphql.max_directives', '1', '{ user @skip(if: false) { name @skip(if: false) } }', /more than 1 directives/],
  ['graphql.max_query_depth', '2', '{ user { friends { name } } }', /depth limit exceeded/],
  ['graphql.max_cost', '10', '{ users { name } }', /has the cost 11, the limit is 10/],
];
for (const [setting, value, query, expected] of bounds)
  test(`${setting} bounds GraphQL documents`, async () => {
    assert.match(await check({ [setting]: value }, query), expected);
    assert.match(await check({}, query), /^0 /);
  });

test('a size that is no number counts as the default, and of several sizes the largest counts', async () => {
  const sized = 'type User { name: String } type Query { users(first: Int, last: Int): [User] }';
  const cost = async (query: string, variables?: object) => {
    const text = await check({ 'graphql.max_cost': '1' }, query, '*/*', { schema: sized, variables });
    return Number(/has the cost (\d+)/.exec(text)?.[1]);
  };
  assert.equal(await cost('{ users(first: 3) { name } }'), 4);
  assert.equal(await cost('{ users(first: null) { name } }'), 11);
  assert.equal(await cost('{ users(last: 1, first: 1000) { name } }'), 1001);
  assert.equal(await cost('query($n: Int) { users(first: $n) { name } }', { n: null }), 11);
  assert.equal(await cost('query($n: Int) { users(last: 1, first: $n) { name } }', { n: 50 }), 51);
});

test('graphql.default_list_size is the size of lists in the cost', async () => {
  const settings = { 'graphql.max_cost': '10', 'graphql.default_list_size': '5' } as const;
  assert.match(await check(settings, '{ users { name } }'), /^0 /);
});

test('graphql.document_error_status gives 400 to clients that accept application/json alone', async () => {
  assert.match(await check({}, '{ missing }', 'application/json'), /^200 /);
  const settings = { 'graphql.document_error_status': '400' } as const;
  assert.match(await check(settings, '{ missing }', 'application/json'), /^400 /);
});

test('the document cache evicts the least recently used beyond its bytes', () => {
  const cache = new DocumentCache(1000);
  const document = { bytes: 400 } as CheckedDocument;
  cache.set('a', document);
  cache.set('b', document);
  cache.get('a');
  cache.set('c', document);
  assert.deepEqual(
    [cache.get('a') !== undefined, cache.get('b'), cache.get('c') !== undefined],
    [true, undefined, true],
  );
  cache.set('d', { bytes: 2000 } as CheckedDocument);
  assert.equal(cache.get('d'), undefined);
  assert.ok(cache.bytes <= 1000);
});
