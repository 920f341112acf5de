import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { isUnpacked, unpackBundle } from './bundle-files.ts';

test('old folders of bundles are removed, those of bundles in use stay', () => {
  const directory = mkdtempSync(join(tmpdir(), 'gw-bundles-'));
  try {
    const unpack = (hash: string) =>
      unpackBundle(directory, hash, new Map([['a.js', Buffer.from('a')]]), new Set(['used']));
    unpack('used');
    unpack('first');
    for (let n = 0; n < 60; n++) unpack(`version${n}`);
    assert.deepEqual(
      ['used', 'first', 'version59'].map(hash => isUnpacked(directory, hash)),
      [true, false, true],
    );
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
