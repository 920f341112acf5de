import {
  anonymousKey,
  type BatchApi,
  type CallBatch,
  forEachCall,
  numberColumns,
  unversioned,
  wordColumns,
} from '#analytics/batch.ts';
import type { LogStore } from '#analytics/log-store.ts';
import { toLogEntry } from '#analytics/logged-call.ts';
import { createUsageRollUp } from '#analytics/roll-up.ts';
import type { UsageStore } from '#analytics/usage-store.ts';
import type { Settings } from '#base/settings.ts';
import { keyTable, type SampleKey } from './access-objects.ts';
import { pickWeighted, type Random } from './random.ts';
import { type SampleCall, sampleCalls } from './sample-calls.ts';
import type { DemoState } from './state.ts';

/**
 * Sample records of the hours before the demo was created, so that charts are not empty. They have the tag
 * `demo-history`: no client sent these requests.
 */

const minuteMs = 60_000;
const dayMs = 86_400_000;
const historyMinutes = 24 * 60;
const maxCallsPerMinute = 6;
/** Newest records that the log of single requests gets; the others are counted alone. */
const maxLoggedCalls = 500;
const historyTag = 'demo-history';
const agents = ['curl/8.5.0', 'okhttp/4.12.0', 'ShopApp/3.1 CFNetwork', 'python-requests/2.32'] as const;
const countries = ['DE', 'DE', 'NO', 'US', 'US', 'BR', 'JP', ''] as const;

type PastCall = Readonly<Record<string, string | number>> & { readonly api: number };

interface HistoryInput {
  readonly state: DemoState;
  readonly apiNames: ReadonlyMap<string, string>;
  readonly nowMs: number;
  readonly random: Random;
}

const pick = <T>(list: readonly T[], random: Random): T => list[Math.floor(random() * list.length)]!;

/** Share of the day's highest traffic at a time: low at night, high in the afternoon (UTC). */
const shareAt = (atMs: number) => 0.25 + 0.75 * Math.sin((Math.PI * (atMs % dayMs)) / dayMs) ** 2;

function createCaller(call: SampleCall, { state, random }: HistoryInput) {
  if (call.credential === 'user') return state.reporter;
  if (call.credential !== 'key') return { hash: anonymousKey, alias: '' };
  const isCandidate = (row: SampleKey) => (call.policy ? row.policy === call.policy : !row.isInactive);
  const { alias } = pickWeighted(keyTable.filter(isCandidate), random);
  return state.keys.find(it => it.alias === alias)!;
}

function createPastCall(atMs: number, apis: readonly BatchApi[], input: HistoryInput): PastCall {
  const { random } = input;
  const call = pickWeighted(sampleCalls, random);
  const { status, refusal = '', ms } = pickWeighted(call.outcomes, random);
  const totalMs = ms * (0.6 + random() * 0.9);
  const { hash, alias } = createCaller(call, input);
  const path = `/${call.path}`;
  return {
    atMs,
    api: apis.findIndex(({ id }) => id === call.api),
    status,
    totalMs,
    upstreamMs: refusal === '' ? totalMs * 0.9 : 0,
    requestBytes: call.body?.length ?? 0,
    answerBytes: Math.floor(120 + random() * 600),
    trackedPath: 0,
    version: unversioned,
    keyHash: hash,
    alias,
    method: call.method,
    host: '127.0.0.1',
    path,
    rawPath: `${call.listenPath}${call.path}`,
    originalPath: path,
    address: '127.0.0.1',
    userAgent: pick(agents, random),
    refusal,
    country: pick(countries, random),
    tags: historyTag,
  };
}

/** Requests of the past day, oldest first. */
function listPastCalls(apis: readonly BatchApi[], input: HistoryInput): PastCall[] {
  const { nowMs, random } = input;
  const calls: PastCall[] = [];
  for (let minute = historyMinutes; minute > 0; minute--) {
    const start = nowMs - minute * minuteMs;
    const count = Math.round(random() * maxCallsPerMinute * shareAt(start));
    for (let call = 0; call < count; call++)
      calls.push(createPastCall(Math.floor(start + random() * minuteMs), apis, input));
  }
  return calls;
}

function toBatch(calls: readonly PastCall[], apis: readonly BatchApi[]): CallBatch {
  const words = new Map<string, number>();
  const placeOf = (word: string) => {
    const known = words.get(word) ?? words.size;
    words.set(word, known);
    return known;
  };
  const numbers = new Float64Array(calls.length * numberColumns.length);
  const places = new Uint32Array(calls.length * wordColumns.length);
  for (const [row, call] of calls.entries()) {
    for (const [at, name] of numberColumns.entries()) numbers[row * numberColumns.length + at] = Number(call[name]);
    for (const [at, name] of wordColumns.entries())
      places[row * wordColumns.length + at] = placeOf(String(call[name] ?? ''));
  }
  return { count: calls.length, numbers, places, words: [...words.keys()], apis };
}

interface HistoryServices {
  readonly usage: Pick<UsageStore, 'add'>;
  readonly logs: Pick<LogStore, 'add'>;
  readonly settings: Settings;
}

/** Writes the records as the collector writes those of traffic. */
export async function writeHistory({ usage, logs, settings }: HistoryServices, input: HistoryInput): Promise<void> {
  const listenPaths = new Map(sampleCalls.map(({ api, listenPath }) => [api, listenPath]));
  const apis = [...listenPaths].map(
    ([id, listenPath]): BatchApi => ({
      id,
      orgId: input.state.orgId,
      name: input.apiNames.get(id) ?? id,
      listenPath,
      tags: [],
      retentionSeconds: 0,
    }),
  );
  const calls = listPastCalls(apis, input);
  const rollUp = createUsageRollUp({
    rowsPerMinute: settings['analytics.max_rows_per_minute'],
    normalisePaths: settings['analytics.normalise_paths'],
    maxTagsPerHour: settings['analytics.max_tags_per_hour'],
  });
  forEachCall(toBatch(calls, apis), rollUp.add);
  await usage.add(rollUp.drain(input.nowMs));
  if (!settings['analytics.raw_log']) return;
  const entries: ReturnType<typeof toLogEntry>[] = [];
  const retentionMs = settings['analytics.retention_days'] * dayMs;
  forEachCall(toBatch(calls.slice(-maxLoggedCalls), apis), record => entries.push(toLogEntry(record, retentionMs)));
  await logs.add(entries);
}
