import type { BatchApi, CallBatch, numberIndex, wordIndex } from '#analytics/batch.ts';
import { anonymousKey, unversioned, wordColumns } from '#analytics/batch.ts';
import { type BatchedApi, RecorderRows } from '#gateway/recording/recorder-rows.ts';

/** Finished calls as a traffic thread sends them, written by the thread's own tables. */
export type GivenCall = Partial<
  Record<Exclude<keyof typeof numberIndex, 'api'>, number> & Record<keyof typeof wordIndex, string> & { api: BatchApi }
>;

export const someApi: BatchApi = {
  id: 'orders',
  orgId: 'org',
  name: 'Orders',
  listenPath: '/orders/',
  tags: [],
  retentionSeconds: 0,
};

/** Noon of a day in 2026. */
export const noon = Date.UTC(2026, 1, 3, 12);

const usual = {
  atMs: noon,
  status: 200,
  totalMs: 4,
  upstreamMs: 3,
  requestBytes: 10,
  answerBytes: 100,
  trackedPath: 0,
  version: unversioned,
  keyHash: anonymousKey,
  path: '/',
  method: 'GET',
  host: 'localhost',
  rawPath: '/orders/',
  address: '127.0.0.1',
  userAgent: 'test',
};

export function batchOf(calls: readonly GivenCall[]): CallBatch {
  const rows = new RecorderRows(Math.max(1, calls.length));
  const apis = new Map<BatchApi, BatchedApi>();
  for (const { api = someApi, ...call } of calls) {
    const known = apis.get(api) ?? { facts: api, batchNumber: -1, batchIndex: 0 };
    apis.set(api, known);
    rows.api(known);
    const whole: GivenCall = { ...usual, ...call };
    for (const column of wordColumns) rows.setWord(column, whole[column] ?? '');
    for (const [column, value] of Object.entries(whole))
      if (typeof value === 'number') rows.setNumber(column as keyof typeof numberIndex, value);
    rows.finishRow();
  }
  return rows.drain();
}
