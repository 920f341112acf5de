import type { Session } from '#access/keys/session.ts';
import { anonymousKey, tagSeparator, unversioned } from '#analytics/batch.ts';
import { createThreadSampler } from '#analytics/event-loop-lag.ts';
import type { ThreadReport } from '#analytics/metrics-report.ts';
import type { UptimeResult } from '#analytics/uptime/uptime-result.ts';
import type { Settings } from '#base/settings.ts';
import { includesAddress, parseCidrList } from '../pipeline/client-address.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { refusals } from '../pipeline/refusals.ts';
import type { RecordedApi } from './api-analytics.ts';
import { rawRequest, rawResponse } from './detail.ts';
import { RecorderMeasures } from './recorder-metrics.ts';
import { RecorderRows } from './recorder-rows.ts';

export interface RecorderOptions {
  /** Replaces secrets of definitions: a template may have put one into a body. */
  readonly redact: (text: string) => string;
  readonly settings: Settings;
  /** Hands a report to the main thread; the buffers are given away. */
  readonly post: (report: ThreadReport, transfer: ArrayBuffer[]) => void;
  /** Records a thread can hold back while the main thread is busy. */
  readonly capacity?: number;
}

/** Writes finished calls down. It never waits and never fails a call: what finds no room is counted and lost. */
export interface Recorder {
  record(call: Exchange, complete: boolean): void;
  /** Sends what tests found out about hosts with the next report. */
  tested(hosts: readonly UptimeResult[]): void;
  /** The main thread is done with a batch, or with results of tests. */
  taken(): void;
  /** Sends what is left. */
  close(): void;
}

/** Half of them are a batch; the other half is room for the time the main thread takes. */
const recordsHeld = 8192;
/** Batches the main thread may have before it; beyond that records wait here. */
const batchesUnderway = 4;
/** Hosts a thread can hold back results of. */
const hostsHeld = 2000;
const reportEveryMs = 200;
const reportsBetweenStates = 5;
/** Characters of whole requests and answers one batch may hold; calls beyond that are recorded without. */
const detailHeld = 4_194_304;
const tagsKept = 50;
const longestTag = 200;

export function createRecorder({ settings, post, redact, capacity = recordsHeld }: RecorderOptions): Recorder {
  const rows = new RecorderRows(capacity);
  const measures = new RecorderMeasures();
  const enabled = settings['analytics.enabled'];
  const keepsLog = settings['analytics.raw_log'];
  const isIgnored = addressTest(settings['analytics.ignored_addresses']);
  const state = createThreadSampler(reportEveryMs, reportsBetweenStates);
  const batchRows = Math.max(1, capacity / 2);
  let underway = 0;
  let hosts: UptimeResult[] = [];
  let droppedHosts = 0;

  function record(call: Exchange, complete: boolean): void {
    const totalMs = performance.now() - call.startedAt;
    const status = call.response?.status ?? (call.status || refusals.client_disconnected.status);
    const refusal =
      call.errorCode || (complete ? '' : call.isClientDisconnected ? 'client_disconnected' : 'upstream_failed');
    const api = call.api?.analytics;
    measures.count(api, status, totalMs, call.upstreamMs, refusal);
    if (!enabled || !api?.tracked || !call.isRecorded || isIgnored?.(call.clientAddress)) return;
    if (rows.count >= batchRows) sendBatch();
    if (rows.count >= capacity) return measures.drop();
    write(call, api, status, totalMs, refusal);
  }

  function write(call: Exchange, api: RecordedApi, status: number, totalMs: number, refusal: string): void {
    const { session } = call;
    rows.api(api);
    rows.number('atMs', call.receivedAtMs);
    rows.number('status', status);
    rows.number('totalMs', totalMs);
    rows.number('upstreamMs', call.upstreamMs);
    rows.number('requestBytes', call.body.length ?? 0);
    rows.number('answerBytes', call.responseBytes);
    rows.number('trackedPath', call.trackedPath === '' ? 0 : 1);
    rows.word('version', call.versionName || unversioned);
    rows.word('keyHash', call.keyHash || anonymousKey);
    rows.word('alias', session?.alias ?? '');
    rows.word('oauthId', session?.oauthClientId ?? '');
    rows.word('path', call.trackedPath || call.innerPath);
    rows.word('refusal', refusal);
    if (keepsLog) writeForLog(call, api);
    rows.next();
  }

  /** What only the log of single calls shows. */
  function writeForLog(call: Exchange, api: RecordedApi): void {
    rows.word('method', call.method);
    rows.word('host', call.host);
    rows.word('rawPath', pathOfTarget(call.target));
    rows.word('originalPath', call.innerPath);
    rows.word('address', call.clientAddress);
    rows.word('userAgent', call.headers.get('user-agent') ?? '');
    rows.word('tags', tagsOf(call, api));
    const detailed = (api.detailed || call.session?.detailedRecording) && rows.looseCharacters < detailHeld;
    rows.loose('rawRequest', detailed ? rawRequest(call, api.secrets, redact) : '');
    rows.loose('rawResponse', detailed ? rawResponse(call, api.secrets, redact) : '');
  }

  function sendBatch(isLast = false): void {
    if (rows.count === 0 || (underway >= batchesUnderway && !isLast)) return;
    underway++;
    const batch = rows.take();
    post({ batch, metrics: undefined, state: undefined }, [batch.numbers.buffer, batch.places.buffer]);
  }

  function tested(more: readonly UptimeResult[]): void {
    const room = hostsHeld - hosts.length;
    hosts.push(...more.slice(0, room));
    droppedHosts += Math.max(0, more.length - room);
  }

  function takeTested(isLast: boolean): ThreadReport['uptimeResults'] {
    if (hosts.length === 0 || (underway >= batchesUnderway && !isLast)) return undefined;
    underway++;
    const taken = { hosts, dropped: droppedHosts };
    hosts = [];
    droppedHosts = 0;
    return taken;
  }

  function report(isLast = false): void {
    sendBatch(isLast);
    const taken = measures.take();
    const found = state();
    const results = takeTested(isLast);
    if (taken || found || results) post({ batch: undefined, metrics: taken, state: found, uptimeResults: results }, []);
  }

  const timer = setInterval(report, reportEveryMs);
  return {
    record,
    tested,
    taken() {
      underway--;
    },
    close() {
      clearInterval(timer);
      report(true);
    },
  };
}

/** As received, without the query: that is where people put secrets. */
function pathOfTarget(target: string): string {
  const query = target.indexOf('?');
  return query < 0 ? target : target.slice(0, query);
}

function addressTest(ignored: readonly string[]): ((address: string) => boolean) | undefined {
  if (ignored.length === 0) return undefined;
  const list = parseCidrList(ignored);
  return address => includesAddress(list, address);
}

const ofSession = new WeakMap<Session, string>();

/** What stays the same for all calls of a key. */
function sessionTags(session: Session): string {
  let known = ofSession.get(session);
  if (known === undefined) {
    const { policyIds, tags, metaData } = session;
    const developer = metaData.gw_developer_id;
    const all = [...policyIds.map(id => `pol-${id}`), ...tags];
    if (typeof developer === 'string' && developer !== '') all.push(`dev-${developer}`);
    known = joined(all);
    ofSession.set(session, known);
  }
  return known;
}

function tagsOf(call: Exchange, { tagHeaders }: RecordedApi): string {
  const own = call.session ? sessionTags(call.session) : '';
  if (tagHeaders.length === 0 && call.tags === undefined) return own;
  const more = [...(call.tags ?? [])];
  for (const name of tagHeaders) {
    const value = call.headers.get(name);
    if (value !== undefined) more.push(`${name}-${value}`);
  }
  const rest = joined(more);
  return own === '' || rest === '' ? own + rest : own + tagSeparator + rest;
}

const joined = (tags: readonly string[]) =>
  tags
    .slice(0, tagsKept)
    .map(tag => tag.slice(0, longestTag))
    .join(tagSeparator);
