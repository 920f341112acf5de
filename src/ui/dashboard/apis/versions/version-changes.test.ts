import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readExpiry, renameVersion, withExpiration } from './version-changes.ts';

const document = {
  paths: {},
  'x-gw-api-gateway': {
    info: {
      name: 'Shop',
      versioning: { enabled: true, name: 'v1', default: 'v2', key: 'x-v', versions: [{ name: 'v2', id: 'shop-2' }] },
    },
  },
};
const infoOf = (changed: unknown) => (changed as typeof document)['x-gw-api-gateway'].info;

describe('Changes of versions', () => {
  test('a renamed version keeps its API and stays the default, and other members stay', () => {
    assert.deepEqual(infoOf(renameVersion(document, 'v2', 'next')).versioning, {
      ...{ enabled: true, name: 'v1', default: 'next', key: 'x-v' },
      versions: [{ name: 'next', id: 'shop-2' }],
    });
    assert.equal(infoOf(renameVersion(document, 'v1', 'first')).versioning.name, 'first');
  });

  test('an expiry is a minute in UTC, and is read as the same time; 0 removes it', () => {
    const seconds = Date.UTC(2030, 0, 31, 23, 59) / 1000;
    const expiring = withExpiration(document, seconds) as typeof document;
    const { expiration } = infoOf(expiring) as { expiration?: string };
    assert.equal(expiration, '2030-01-31 23:59');
    assert.equal(readExpiry(expiration), seconds);
    assert.deepEqual(withExpiration(expiring, 0), document);
    for (const never of ['', '-1']) assert.equal(readExpiry(never), 0);
  });
});
