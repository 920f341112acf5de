import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  listInnerVersions,
  listPersistedEntries,
  readOperationName,
  withEntryMember,
  withNewEntry,
  withoutEntry,
} from './persisted-entries.ts';

const entry = { method: 'GET', path: '/books', operation: 'query Books { books }', variables: {} };

describe('Persisted operations of a definition', () => {
  test('the first entry creates its version, enables lists of endpoints, and needs no version in requests', () => {
    const definition = withNewEntry({ name: 'A' }, 'Default', entry);
    assert.deepEqual(definition, {
      name: 'A',
      version_data: {
        not_versioned: true,
        versions: {
          Default: { name: 'Default', use_extended_paths: true, extended_paths: { persist_graphql: [entry] } },
        },
      },
    });
    assert.deepEqual(listPersistedEntries(definition, 'Default'), [entry]);
    assert.deepEqual(listPersistedEntries(definition, 'v2'), []);
  });

  test('a further entry leaves the version and its other lists as they are', () => {
    const version = { name: 'v1', extended_paths: { persist_graphql: [entry], ignored: ['/x'] } };
    const definition = { version_data: { not_versioned: false, versions: { v1: version } } };
    assert.deepEqual(listInnerVersions(definition), ['v1']);
    const after = withNewEntry(definition, 'v1', { ...entry, path: '/more' });
    assert.deepEqual(
      listPersistedEntries(after, 'v1').map(({ path }) => path),
      ['/books', '/more'],
    );
    const { version_data } = after as typeof definition;
    assert.equal(version_data.not_versioned, false);
    assert.deepEqual(version_data.versions.v1.extended_paths.ignored, ['/x']);
  });

  test('a changed entry keeps members without a field, and a removed one leaves the others', () => {
    const more = { ...entry, disabled: true };
    const versions = { Default: { extended_paths: { persist_graphql: [more, { ...entry, path: '/second' }] } } };
    const changed = withEntryMember({ version_data: { versions } }, 'Default', 0, { path: '/first', method: 'POST' });
    const [first] = (changed as { version_data: { versions: typeof versions } }).version_data.versions.Default
      .extended_paths.persist_graphql;
    assert.deepEqual(first, { ...more, path: '/first', method: 'POST' });
    assert.deepEqual(
      listPersistedEntries(withoutEntry(changed, 'Default', 0), 'Default').map(({ path }) => path),
      ['/second'],
    );
  });

  test('definitions without versions, and entries of wrong types, are read without an error', () => {
    assert.deepEqual(listInnerVersions({}), ['Default']);
    const odd = {
      version_data: { versions: { Default: { extended_paths: { persist_graphql: [null, { path: 1 }] } } } },
    };
    assert.deepEqual(listPersistedEntries(odd, 'Default'), [
      { method: '', path: '', operation: '', variables: {} },
      { method: '', path: '1', operation: '', variables: {} },
    ]);
  });

  test('the name of an operation is that of the first one, not of a comment', () => {
    assert.equal(readOperationName('# query Old\nquery Books($id: ID) { book(id: $id) }'), 'Books');
    assert.equal(readOperationName('{ books }'), '');
  });
});
