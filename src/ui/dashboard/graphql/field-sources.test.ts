import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  bindField,
  findFieldSource,
  hasSourceForm,
  listDataSources,
  parseSourcePath,
  toSourceDraft,
  unbindField,
} from './field-sources.ts';
import { listGraphFields } from './graph-fields.ts';
import { listTypes } from './graph-outline.ts';

const rest = {
  kind: 'REST',
  name: 'orders',
  url: 'http://orders.example/{{ .arguments.id }}',
  method: 'GET',
  body: '',
  headers: {},
  mapping: 'whole',
  path: [],
} as const;
const field = { type: 'Query', name: 'order' };

describe('Fields of a schema', () => {
  test('fields have their arguments and types, whatever descriptions, comments and defaults contain', () => {
    const schema = `"""type Fake { x: Int }""" # type Other { y: Int }
      type Query @tag(name: "a{b") { "the: order" order(id: ID!, at: At = { day: 1 }): Order! list: [Order!] }
      input At { day: Int }
      extend type Order implements Node & Named { id: ID! }`;
    assert.deepEqual(
      listGraphFields(schema).map(it => `${it.type}.${it.name}(${it.args}): ${it.value}`),
      ['Query.order(id: ID!, at: At = { day: 1 }): Order!', 'Query.list(): [Order!]', 'Order.id(): ID!'],
    );
  });

  test('an outline has no types of descriptions and comments', () => {
    const schema = '"""\ntype of an order, \\"""\nscalar too\n"""\ntype Order { id: ID }\n# \n  enum State { OPEN }';
    assert.deepEqual(listTypes(schema), [
      ['type', 'Order'],
      ['enum', 'State'],
    ]);
  });
});

describe('Sources of fields', () => {
  test('a source of a kind that the form does not have is not edited by it', () => {
    const kinds = ['REST', 'GraphQL', 'Kafka'].map(kind => ({ kind }));
    assert.deepEqual(kinds.map(hasSourceForm), [true, true, false]);
  });

  test('a path that was not edited keeps names with dots', () => {
    assert.deepEqual(parseSourcePath('a.b.c', ['a.b', 'c']), ['a.b', 'c']);
    assert.deepEqual(parseSourcePath('a.b..c.', ['a.b', 'c']), ['a', 'b', 'c']);
    assert.deepEqual(parseSourcePath('', []), []);
  });

  test('a bound field has its source and mapping, and a reset removes both', () => {
    const bound = bindField({ name: 'Shop', graphql: { schema: 'x' } }, field, rest);
    assert.deepEqual(toSourceDraft(bound, field, findFieldSource(bound, field)), rest);
    const posted = { ...rest, method: 'POST', body: '{"id": "{{ .arguments.id }}"}' };
    const withBody = bindField(bound, field, posted);
    assert.deepEqual(toSourceDraft(withBody, field, findFieldSource(withBody, field)), posted);
    const emptied = bindField(withBody, field, { ...posted, body: '' });
    assert.equal(toSourceDraft(emptied, field, findFieldSource(emptied, field)).body, '');
    assert.deepEqual(unbindField(bound, field), {
      name: 'Shop',
      graphql: { schema: 'x', engine: { data_sources: [], field_configs: [] } },
    });
  });

  test('a source of several fields changes for all of them, keeps unknown members, and stays until its last field', () => {
    const other = { type: 'Query', name: 'orders' };
    const source = {
      kind: 'REST',
      name: 'orders',
      internal: false,
      root_fields: [{ type: 'Query', fields: ['orders'] }],
      config: { url: 'http://old.example', method: 'GET', query: [{ name: 'a', value: 'b' }] },
    };
    const bound = bindField({ graphql: { engine: { data_sources: [source] } } }, field, rest);
    assert.equal(listDataSources(bound).length, 1);
    assert.deepEqual(findFieldSource(bound, other), findFieldSource(bound, field));
    assert.deepEqual(findFieldSource(bound, other)?.config, { ...source.config, url: rest.url });
    const reset = unbindField(bound, other);
    assert.equal(findFieldSource(reset, other), undefined);
    assert.ok(findFieldSource(reset, field));
  });

  test('a field gets another source: the one before loses it, and a source that is used once is replaced in place', () => {
    const bound = bindField({}, field, rest);
    const moved = bindField(bound, field, { ...rest, kind: 'GraphQL', name: 'graph', mapping: 'member' });
    assert.deepEqual(
      listDataSources(moved).map(({ name, kind }) => [name, kind]),
      [['graph', 'GraphQL']],
    );
    const again = bindField(moved, field, { ...rest, name: 'graph', mapping: 'path', path: ['data', '[0]'] });
    assert.deepEqual(listDataSources(again), [
      {
        name: 'graph',
        internal: false,
        kind: 'REST',
        root_fields: [{ type: 'Query', fields: ['order'] }],
        config: { url: rest.url, method: 'GET' },
      },
    ]);
    assert.deepEqual(toSourceDraft(again, field, findFieldSource(again, field)).path, ['data', '[0]']);
  });
});
