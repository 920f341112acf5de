import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { batchOf, type GivenCall, noon, someApi } from '../../tests/support/records.ts';
import { forEachCall } from './batch.ts';
import { findLatencyBucket } from './latency-histogram.ts';
import { createUsageRollUp, type DrainedUsage, type UsageRollUpOptions } from './roll-up.ts';

function rollUp(calls: readonly GivenCall[], options: Partial<UsageRollUpOptions> = {}) {
  const made = createUsageRollUp({ rowsPerMinute: 100, normalisePaths: false, ...options });
  forEachCall(batchOf(calls), made.add);
  return made;
}

const hits = (rows: readonly { hits: number }[]) => rows.reduce((sum, row) => sum + row.hits, 0);

test('calls with equal dimensions are one row with sums, minima and maxima', () => {
  const made = rollUp([
    { totalMs: 4, upstreamMs: 3, atMs: noon + 10 },
    { totalMs: 2, upstreamMs: 0, atMs: noon + 59_999 },
    { totalMs: 9.0004, upstreamMs: 8, atMs: noon },
  ]);
  const [row, ...more] = made.drain(noon).rows;
  assert.deepEqual(more, []);
  const { id, ...rest } = row!;
  assert.match(id, /^[\w-]{22}$/);
  assert.deepEqual(rest, {
    minute: noon,
    org_id: 'org',
    api_id: 'orders',
    api_name: 'Orders',
    version: 'Non Versioned',
    key_hash: '00000000',
    alias: '',
    oauth_id: '',
    path: '/',
    method: 'GET',
    country: '',
    user_agent: 'test',
    status: 200,
    refusal: '',
    mcp_method: '',
    mcp_primitive_type: '',
    mcp_primitive_name: '',
    tag_set: '',
    hits: 3,
    last_hit: noon + 59_999,
    total_us: 15_000,
    min_us: 2000,
    max_us: 9000,
    upstream_hits: 2,
    upstream_us: 11_000,
    min_upstream_us: 3000,
    max_upstream_us: 8000,
    request_bytes: 30,
    answer_bytes: 300,
    expires_at: 0,
  });
});

test('another minute, API, version, key, client, path, method, country, agent, status, refusal, primitive or tag is another row', () => {
  const others: GivenCall[] = [
    {},
    { atMs: noon + 60_000 },
    { api: { ...someApi, id: 'pets' } },
    { version: 'v2' },
    { keyHash: 'abcdef01' },
    { oauthId: 'client' },
    { path: '/other' },
    { method: 'POST' },
    { country: 'DE' },
    { userAgent: 'curl/8.5' },
    { status: 201 },
    { status: 403, refusal: 'endpoint_forbidden' },
    { status: 403, refusal: 'key_inactive' },
    { tags: 'vip' },
    { mcpMethod: 'tools/call' },
    { mcpMethod: 'tools/call', mcpPrimitiveType: 'tool', mcpPrimitiveName: 'a' },
    { mcpMethod: 'tools/call', mcpPrimitiveType: 'tool', mcpPrimitiveName: 'b' },
    { mcpMethod: 'prompts/get', mcpPrimitiveType: 'prompt', mcpPrimitiveName: 'a' },
    { mcpMethod: 'completion/complete', mcpPrimitiveType: 'prompt', mcpPrimitiveName: 'a' },
  ];
  const rows = rollUp(others).drain(noon).rows;
  assert.equal(rows.length, others.length);
  assert.equal(new Set(rows.map(row => `${row.minute}/${row.id}`)).size, others.length);
});

test('drained rows are not counted again', () => {
  const made = rollUp([{}]);
  assert.equal(made.drain(noon).rows.length, 1);
  assert.deepEqual(made.drain(noon), { rows: [], latencies: [], tags: [] });
});

test('paths beyond the bound are folded, keys stay separate up to their bound, and no call is lost', () => {
  const calls = Array.from({ length: 50 }, (_, n) => ({ path: `/${n}`, keyHash: `0000000${n % 2}` }));
  const made = rollUp(calls, { rowsPerMinute: 10 });
  const { rows } = made.drain(noon);
  assert.equal(rows.length, 12);
  assert.equal(hits(rows), 50);
  assert.equal(hits(rows.filter(row => row.path === 'other')), 40);
  assert.deepEqual(
    ['00000000', '00000001'].map(key => hits(rows.filter(row => row.key_hash === key))),
    [25, 25],
  );
  assert.equal(made.totals.folded, 40);
});

test('keys beyond the bound are folded too', () => {
  const calls = Array.from({ length: 100 }, (_, n) => ({ keyHash: `key${n}` }));
  const rows = rollUp(calls, { rowsPerMinute: 10 }).drain(noon).rows;
  assert.equal(rows.length, 21);
  assert.equal(hits(rows), 100);
  assert.equal(hits(rows.filter(row => row.key_hash === 'other')), 80);
});

test('the bound holds per minute across several writes', () => {
  const made = createUsageRollUp({ rowsPerMinute: 2, normalisePaths: false });
  const paths: string[] = [];
  for (const path of ['/1', '/2', '/3', '/1', '/4']) {
    forEachCall(batchOf([{ path }]), made.add);
    paths.push(made.drain(noon).rows[0]!.path);
  }
  assert.deepEqual(paths, ['/1', '/2', 'other', '/1', 'other']);
});

test('an API with many paths does not use the bound of others', () => {
  const calls = Array.from({ length: 30 }, (_, n): GivenCall => ({ path: `/${n}` }));
  const rows = rollUp([...calls, { api: { ...someApi, id: 'pets' }, path: '/dog' }], { rowsPerMinute: 5 }).drain(
    noon,
  ).rows;
  assert.ok(rows.some(row => row.api_id === 'pets' && row.path === '/dog'));
});

test('restored rows are merged with newer ones', () => {
  const made = rollUp([{ totalMs: 5 }, { path: '/once' }]);
  const taken = made.drain(noon);
  forEachCall(batchOf([{ totalMs: 1, upstreamMs: 0 }]), made.add);
  made.restore(taken);
  const { rows } = made.drain(noon);
  const row = rows.find(it => it.path === '/')!;
  assert.deepEqual(
    [row.hits, row.min_us, row.max_us, row.upstream_hits, row.min_upstream_us],
    [2, 1000, 5000, 1, 3000],
  );
  assert.equal(rows.find(it => it.path === '/once')?.hits, 1);
  assert.deepEqual(new Set(rows.map(it => it.id)), new Set(taken.rows.map(it => it.id)));
});

test('unwritten rows are bounded, and calls beyond are counted as lost', () => {
  const made = rollUp(
    Array.from({ length: 10 }, (_, n) => ({ path: `/${n}` })),
    { maxPendingRows: 4 },
  );
  assert.equal(made.totals.lost, 6);
  assert.equal(made.drain(noon).rows.length, 4);
});

test('path normalisation folds ids into placeholders', () => {
  const paths = [
    '/orders/17/items/3',
    '/orders/18/items/4',
    '/users/7D9F2C1E-1a2b-4c3d-8e9f-001122334455',
    '/events/01ARZ3NDEKTSV4RRFFQ69G5FAV',
    '/v2/orders',
  ];
  const rows = rollUp(
    paths.map(path => ({ path })),
    { normalisePaths: true },
  ).drain(noon).rows;
  assert.deepEqual(rows.map(row => row.path).sort(), [
    '/events/{ulid}',
    '/orders/{id}/items/{id}',
    '/users/{uuid}',
    '/v2/orders',
  ]);
});

test('rows of an API with retention have an expiry', () => {
  const rows = rollUp([{ api: { ...someApi, retentionSeconds: 60 } }]).drain(noon).rows;
  assert.equal(rows[0]!.expires_at, noon + 120_000);
});

test('latencies are drained with their row, by bucket in order, and restored after a failed write', () => {
  const made = rollUp([{ totalMs: 9 }, { totalMs: 4 }, { totalMs: 9 }, { path: '/once', totalMs: 1 }]);
  const taken = made.drain(noon);
  const slow = findLatencyBucket(9000);
  const fast = findLatencyBucket(4000);
  const of = ({ rows, latencies }: DrainedUsage) => {
    const { id } = rows.find(row => row.path === '/')!;
    return latencies.filter(it => it.id === id).map(({ bucket, hits }) => [bucket, hits]);
  };
  assert.deepEqual(of(taken), [
    [fast, 1],
    [slow, 2],
  ]);
  assert.equal(taken.latencies.length, 3);
  forEachCall(batchOf([{ totalMs: 9 }]), made.add);
  made.restore(taken);
  const again = made.drain(noon);
  assert.deepEqual(of(again), [
    [fast, 1],
    [slow, 3],
  ]);
  assert.equal(again.latencies.length, 3);
});

test('unwritten latencies are bounded, and requests beyond are counted without', () => {
  const made = rollUp(
    Array.from({ length: 10 }, (_, n) => ({ totalMs: 2 ** n })),
    { maxPendingBuckets: 4 },
  );
  const { rows, latencies } = made.drain(noon);
  assert.deepEqual([hits(rows), hits(latencies)], [10, 4]);
  forEachCall(batchOf([{}]), made.add);
  assert.equal(made.drain(noon).latencies.length, 1);
});

test('country, agent and method are folded with paths and keys, unknown methods at once', () => {
  const calls = Array.from({ length: 60 }, (_, n) => ({
    userAgent: `agent${n}/1`,
    country: n % 2 ? 'DE' : 'FR',
    method: n % 3 ? 'GET' : 'BREW',
    keyHash: `key${n}`,
  }));
  const { rows } = rollUp(calls, { rowsPerMinute: 10 }).drain(noon);
  assert.equal(rows.length, 21);
  assert.equal(hits(rows), 60);
  const { country, user_agent, method, key_hash } = rows.find(row => row.key_hash === 'other')!;
  assert.deepEqual([country, user_agent, method, key_hash], ['other', 'other', 'other', 'other']);
  assert.ok(rows.every(row => row.method !== 'BREW'));
});

test('primitives are folded with paths, JSON-RPC methods with keys, and calls without a message stay without', () => {
  const calls = Array.from({ length: 60 }, (_, n) => ({
    mcpMethod: `x/${n}`,
    mcpPrimitiveType: 'tool',
    mcpPrimitiveName: `tool${n}`,
  }));
  const { rows } = rollUp([...calls, { path: '/late' }], { rowsPerMinute: 10 }).drain(noon);
  assert.equal(rows.length, 22);
  assert.equal(hits(rows), 61);
  const named = (row: (typeof rows)[number]) =>
    [row.mcp_method, row.mcp_primitive_type, row.mcp_primitive_name].join(' ');
  assert.ok(rows.some(row => named(row) === 'x/0 tool tool0'));
  assert.ok(rows.some(row => named(row) === 'x/10 tool other'));
  assert.deepEqual(
    rows
      .filter(row => row.key_hash === 'other')
      .map(row => `${named(row)} ${row.hits}`)
      .sort(),
    ['   1', 'other tool other 40'],
  );
});

/** Rolls up calls in one batch, and each in its own. */
function rollUpTogetherAndSeparately(calls: readonly GivenCall[], rowsPerMinute: number) {
  const options = { rowsPerMinute, normalisePaths: false };
  const [together, separate] = [createUsageRollUp(options), createUsageRollUp(options)];
  forEachCall(batchOf(calls), together.add);
  for (const call of calls) forEachCall(batchOf([call]), separate.add);
  return { together, separate };
}

test('calls of one batch are counted as calls of separate batches, in every dimension', () => {
  // A pair of values for each dimension: calls differ in one of them, in two, or in none.
  const dimensions: readonly [GivenCall, GivenCall][] = [
    [{ atMs: noon }, { atMs: noon + 60_000 }],
    [{ api: someApi }, { api: { ...someApi, id: 'other-api' } }],
    [{ status: 200 }, { status: 404 }],
    [{ refusal: '' }, { refusal: 'rate_limited' }],
    [{ mcpMethod: 'a' }, { mcpMethod: 'b' }],
    [{ mcpPrimitiveType: 'tool' }, { mcpPrimitiveType: 'prompt' }],
    [{ mcpPrimitiveName: 'a' }, { mcpPrimitiveName: 'b' }],
    ...(['version', 'keyHash', 'oauthId', 'path', 'method', 'country', 'userAgent'] as const).map(
      column => [{ [column]: 'PUT' }, { [column]: 'POST' }] as [GivenCall, GivenCall],
    ),
  ];
  const calls = dimensions.flatMap((_, one) =>
    dimensions.flatMap((_, two) =>
      [0, 1, 0].map((repeated, n): GivenCall => {
        const values = dimensions.map((pair, at) => pair[at === one || at === two ? repeated : 0]);
        return Object.assign({ totalMs: n + 1 }, ...values);
      }),
    ),
  );
  const { together, separate } = rollUpTogetherAndSeparately(calls, 20);
  assert.deepEqual(together.drain(noon), separate.drain(noon));
  assert.deepEqual(together.totals, separate.totals);
  assert.ok(together.totals.folded > 0);
});

test('calls of one batch with thousands of keys, APIs and statuses are counted as those of separate batches', () => {
  const numbers = Array.from({ length: 900 }, (_, n) => n);
  const distinct: GivenCall[] = [
    ...numbers.map(n => ({ keyHash: `key${n}` })),
    ...numbers.map(n => ({ status: 100 + n })),
    ...numbers.map(n => ({ api: { ...someApi, id: `api${n}` } })),
    ...numbers.map(n => ({ atMs: noon + n * 60_000 })),
  ];
  const { together, separate } = rollUpTogetherAndSeparately([...distinct, ...distinct], 10_000);
  const drained = together.drain(noon);
  assert.ok(isDeepStrictEqual(drained, separate.drain(noon)));
  assert.equal(hits(drained.rows), 7200);
});

test('a batch that is added again after a write is counted again', () => {
  const made = createUsageRollUp({ rowsPerMinute: 10, normalisePaths: false });
  const batch = batchOf([{}, {}]);
  for (const _ of [1, 2]) {
    forEachCall(batch, made.add);
    assert.equal(hits(made.drain(noon).rows), 2);
  }
});
