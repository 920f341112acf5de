import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { createDatabaseId, createPublicId, createSecretText, createSortableId } from './ids.ts';

const many = (make: () => string) => Array.from({ length: 10_000 }, make);

test('each kind of id has its format', () => {
  assert.match(createDatabaseId(), /^[0-9a-f]{24}$/);
  assert.match(createPublicId(), /^[0-9a-f]{32}$/);
  assert.match(createSecretText(), /^[\w-]{43}$/);
  assert.match(createSortableId(), /^[0-9A-Za-z]{27}$/);
  assert.equal(createDatabaseId(0).slice(0, 8), '00000000');
  assert.equal(createDatabaseId(1_700_000_000_999).slice(0, 8), (1_700_000_000).toString(16));
});

test('ids created in the same millisecond differ', () => {
  const nowMs = 1_700_000_000_000;
  for (const make of [() => createDatabaseId(nowMs), createPublicId, createSecretText, () => createSortableId(nowMs)])
    assert.equal(new Set(many(make)).size, 10_000);
});

test('threads that start at the same time create different ids', async () => {
  const source = `
    import { createDatabaseId } from ${JSON.stringify(new URL('ids.ts', import.meta.url).href)};
    import { parentPort } from 'node:worker_threads';
    parentPort.postMessage(Array.from({ length: 100 }, () => createDatabaseId(1_700_000_000_000)));`;
  const from = () =>
    new Promise<string[]>((resolve, reject) => {
      const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(source)}`));
      worker.once('message', resolve).once('error', reject);
    });
  const ids = (await Promise.all([from(), from()])).flat();
  assert.equal(new Set(ids).size, 200);
});

test('database ids sort by creation, sortable ids by second', () => {
  const made = Array.from({ length: 1000 }, (_, index) => createDatabaseId(1_700_000_000_000 + index * 10));
  assert.deepEqual(made, made.toSorted());
  const moments = [1_400_000_000_000, 1_700_000_000_000, 1_700_000_001_000, 4_000_000_000_000];
  const ids = moments.map(moment => createSortableId(moment));
  assert.deepEqual(ids, ids.toSorted());
});
