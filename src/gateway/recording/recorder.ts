import { metadataNames } from '#access/keys/metadata-names.ts';
import type { Session } from '#access/keys/session.ts';
import { anonymousKey, tagSeparator, unversioned } from '#analytics/batch.ts';
import { createThreadSampler } from '#analytics/event-loop-lag.ts';
import type { ThreadReport } from '#analytics/metrics-report.ts';
import type { UptimeResult } from '#analytics/uptime/uptime-result.ts';
import type { Log } from '#base/log.ts';
import type { MaybePromise } from '#base/maybe-promise.ts';
import { every } from '#base/repeat.ts';
import type { Settings } from '#base/settings.ts';
import { includesAddress, parseCidrList } from '../pipeline/client-address.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { InvalidRequestReport } from '../pipeline/invalid-request.ts';
import { readFinalRefusal, readFinalStatus } from '../pipeline/outcome.ts';
import { formatUpstreamFailure } from '../pipeline/upstream-failure.ts';
import type { AccessLog } from './access-log.ts';
import type { ApiAnalytics } from './api-analytics.ts';
import { findRecordedApi, readCredentialLocations } from './api-analytics.ts';
import { encodeRequest, encodeResponse } from './detail.ts';
import { loadRecordMembers, loadRecordPlugins } from './lazy-record-plugins.ts';
import type { CapturedRecord } from './record-members.ts';
import type { RecordPlugins } from './record-plugins.ts';
import { RecorderMetrics } from './recorder-metrics.ts';
import { RecorderRows } from './recorder-rows.ts';

export interface RecorderOptions {
  /** Redacts secrets of definitions: a template may have put one into a body. */
  readonly redact: (text: string) => string;
  readonly settings: Settings;
  readonly log: Log;
  readonly accessLog?: AccessLog | undefined;
  /** Posts a report to the main thread and transfers the buffers. */
  readonly post: (report: ThreadReport, transfer: ArrayBuffer[]) => void;
  /** Records a thread buffers while the main thread is busy. */
  readonly capacity?: number;
}

/**
 * Analytics recorder of a thread. Never waits and never fails a request: records beyond the capacity are dropped and
 * counted.
 */
export interface Recorder {
  record(call: Exchange, complete: boolean): void;
  /** Counts and logs a request that was refused before it became an exchange. */
  recordInvalid(request: InvalidRequestReport): void;
  /** Adds uptime results to the next report. */
  addUptimeResults(hosts: readonly UptimeResult[]): void;
  /** Acknowledgement: the main thread has processed a batch or uptime results. */
  onBatchAccepted(): void;
  /** Posts the remaining records; a promise where plugins of records run. */
  close(): MaybePromise<void>;
}

/** Capacity: half is one batch, the other half buffers while batches are unacknowledged. */
const maxRecords = 8192;
/** Backpressure: batches posted and not acknowledged; beyond that records stay here. */
const maxUnacceptedBatches = 4;
/** Uptime results buffered by a thread. */
const maxUptimeResults = 2000;
const reportIntervalMs = 200;
const reportsPerSample = 5;
/** Characters of request and response dumps in one batch; requests beyond that are recorded without. */
const maxDetailCharacters = 4_194_304;
const maxTags = 50;
const maxTagCharacters = 200;
const nowMs = () => performance.now();

export function createRecorder(options: RecorderOptions): Recorder {
  const { settings, log, post, accessLog, capacity = maxRecords } = options;
  const rows = new RecorderRows(capacity);
  const writeColumns = createColumnWriter(options);
  const metrics = new RecorderMetrics();
  const isIgnored = createRequestTest(settings);
  const sampleThread = createThreadSampler(reportIntervalMs, reportsPerSample);
  const batchRows = Math.max(1, capacity / 2);
  const uptimeResults = createUptimeBuffer();
  const batches = createBatchPosts(rows, post);
  const captured = createCapturedRecords({ log, writeColumns, rows, metrics, hasRoom });

  function record(call: Exchange, complete: boolean): void {
    const totalMs = performance.now() - call.startedAt;
    const status = readFinalStatus(call);
    const refusal = readFinalRefusal(call, complete);
    const api = findRecordedApi(call)?.analytics;
    metrics.count(api, status, totalMs, call.upstreamMs, refusal);
    if (call.upstreamFailure) metrics.countUpstreamError(api, call.upstreamFailure.reason);
    const outcome = { status, totalMs, refusal };
    accessLog?.write(call, api, outcome);
    if (!api?.isRecorded || !call.isRecorded || isIgnored?.(call.clientAddress)) return;
    if (api.hasRecordPlugin) return captured.add(call, api, outcome);
    if (!hasRoom()) return metrics.countDropped();
    rows.api(api);
    writeColumns(rows, call, api, outcome);
    rows.finishRow();
  }

  function hasRoom(): boolean {
    if (rows.count >= batchRows) batches.send(false);
    return rows.count < capacity;
  }

  function report(isLast: boolean): void {
    if (!isLast) captured.run();
    batches.send(isLast);
    const taken = metrics.drain();
    const found = sampleThread();
    const results = batches.mayPost(isLast) ? uptimeResults.drain() : undefined;
    if (results) batches.countPost();
    const lines = accessLog?.drainCounts();
    if (taken || found || results || lines)
      post({ batch: undefined, metrics: taken, state: found, uptimeResults: results, accessLog: lines }, []);
  }

  const onError = (error: Error) => log.error({ err: error }, 'traffic report not sent');
  const reports = every(reportIntervalMs, () => report(false), { onError });
  return {
    record,
    recordInvalid: createInvalidRecorder(metrics, accessLog),
    addUptimeResults: uptimeResults.add,
    onBatchAccepted: batches.onAccepted,
    close() {
      reports.stop();
      const running = captured.close();
      return running ? running.then(() => report(true)) : report(true);
    },
  };
}

/** Posts batches to the main thread, while not too many of them are unacknowledged. */
function createBatchPosts(rows: RecorderRows, post: RecorderOptions['post']) {
  let unaccepted = 0;
  const mayPost = (isLast: boolean) => isLast || unaccepted < maxUnacceptedBatches;
  return {
    mayPost,
    countPost() {
      unaccepted++;
    },
    onAccepted() {
      unaccepted--;
    },
    send(isLast: boolean): void {
      if (rows.count === 0 || !mayPost(isLast)) return;
      unaccepted++;
      const batch = rows.drain();
      post({ batch, metrics: undefined, state: undefined }, [batch.numbers.buffer, batch.places.buffer]);
    },
  };
}

interface CapturedParts {
  readonly log: Log;
  readonly rows: RecorderRows;
  readonly metrics: RecorderMetrics;
  readonly writeColumns: ReturnType<typeof createColumnWriter>;
  hasRoom(): boolean;
}

/** Records of APIs with a plugin of records, which changes them before they are stored. */
function createCapturedRecords({ log, rows, metrics, writeColumns, hasRoom }: CapturedParts) {
  let plugins: RecordPlugins | undefined;
  const store = (record: CapturedRecord) => (hasRoom() ? rows.copyRow(record) : metrics.countDropped());
  return {
    add(call: Exchange, api: ApiAnalytics, outcome: RecordedOutcome): void {
      plugins ??= loadRecordPlugins().createRecordPlugins({ log, store, nowMs });
      const { CapturedRecord, clearRecord } = loadRecordMembers();
      const record = new CapturedRecord(api, plugins.waitingCharacters);
      writeColumns(record, call, api, outcome);
      if (api.recordHook) {
        if (!plugins.add(record)) metrics.countDropped();
        return;
      }
      // The plugin did not load: its API is not served.
      clearRecord(record);
      store(record);
    },
    run: () => plugins?.run(),
    close: () => plugins?.close(),
  };
}

const createInvalidRecorder = (metrics: RecorderMetrics, accessLog: AccessLog | undefined): Recorder['recordInvalid'] =>
  function recordInvalid(request) {
    metrics.countInvalid(request.status);
    accessLog?.writeInvalid(request);
  };

/** Uptime results until the next report, bounded. */
function createUptimeBuffer() {
  let hosts: UptimeResult[] = [];
  let dropped = 0;
  return {
    add(more: readonly UptimeResult[]): void {
      const room = maxUptimeResults - hosts.length;
      hosts.push(...more.slice(0, room));
      dropped += Math.max(0, more.length - room);
    },
    drain(): ThreadReport['uptimeResults'] {
      if (hosts.length === 0) return undefined;
      const taken = { hosts, dropped };
      hosts = [];
      dropped = 0;
      return taken;
    },
  };
}

/** Row of a batch, or a record that waits for its plugin. */
type ColumnWriter = Pick<RecorderRows, 'setNumber' | 'setWord' | 'setUniqueText' | 'uniqueCharacters'>;

interface RecordedOutcome {
  readonly status: number;
  readonly totalMs: number;
  readonly refusal: string;
}

/** Writes the columns of one request. */
function createColumnWriter({ settings, redact }: RecorderOptions) {
  const writesRawLog = settings['analytics.raw_log'];
  const countryHeader = settings['analytics.country_header'].toLowerCase();
  const locatesAddresses = settings['analytics.geo_database'] !== '';

  /** Columns of the raw request log only. */
  function writeLogColumns(rows: ColumnWriter, call: Exchange, api: ApiAnalytics): void {
    rows.setWord('host', call.host);
    rows.setWord('rawPath', stripQuery(call.target));
    rows.setWord('originalPath', call.innerPath);
    rows.setWord('address', call.clientAddress);
    rows.setWord('tags', buildTags(call, api));
    rows.setWord('graphqlType', call.graphqlOperation?.type ?? '');
    rows.setWord('graphqlName', call.graphqlOperation?.name ?? '');
    rows.setWord('graphqlFields', call.graphqlOperation?.fields.join(tagSeparator) ?? '');
    rows.setWord('upstreamError', call.upstreamFailure ? redact(formatUpstreamFailure(call.upstreamFailure)) : '');
    rows.setUniqueText('requestId', call.requestId);
    const detailed =
      (api.recordsDetail || call.session?.detailedRecording) && rows.uniqueCharacters < maxDetailCharacters;
    const secrets = detailed ? readCredentialLocations(call, api) : undefined;
    rows.setUniqueText('rawRequest', secrets ? encodeRequest(call, secrets, redact) : '');
    rows.setUniqueText('rawResponse', secrets ? encodeResponse(call, secrets, redact) : '');
  }

  return (
    rows: ColumnWriter,
    call: Exchange,
    api: ApiAnalytics,
    { status, totalMs, refusal }: RecordedOutcome,
  ): void => {
    const { session } = call;
    rows.setNumber('atMs', call.receivedAtMs);
    rows.setNumber('status', status);
    rows.setNumber('totalMs', totalMs);
    rows.setNumber('upstreamMs', call.upstreamMs);
    rows.setNumber('requestBytes', call.body.length ?? 0);
    rows.setNumber('answerBytes', call.responseBytes);
    rows.setNumber('trackedPath', call.trackedPath === '' ? 0 : 1);
    rows.setWord('version', call.versionName || unversioned);
    rows.setWord('keyHash', call.keyHash || anonymousKey);
    rows.setWord('alias', session?.alias ?? '');
    rows.setWord('oauthId', session?.oauthClientId ?? '');
    rows.setWord('path', call.trackedPath || call.innerPath);
    rows.setWord('refusal', refusal);
    rows.setWord('method', call.method);
    rows.setWord('mcpMethod', call.rpcMessage?.method ?? '');
    rows.setWord('mcpPrimitiveType', call.rpcMessage?.primitiveType ?? '');
    rows.setWord('mcpPrimitiveName', call.rpcMessage?.primitiveName ?? '');
    rows.setWord('userAgent', call.headers.get('user-agent') ?? '');
    if (countryHeader !== '') rows.setWord('country', readCountry(call, countryHeader));
    if (writesRawLog) writeLogColumns(rows, call, api);
    else if (locatesAddresses) rows.setWord('address', call.clientAddress);
  };
}

/** Country that a trusted proxy found; other peers could choose it. */
function readCountry({ peer, headers }: Exchange, header: string): string {
  const country = peer.isTrusted ? (headers.get(header) ?? '') : '';
  return /^[A-Za-z]{2}$/.test(country) ? country.toUpperCase() : '';
}

/** Strips the query, which often carries secrets. */
function stripQuery(target: string): string {
  const query = target.indexOf('?');
  return query < 0 ? target : target.slice(0, query);
}

/** Tests for an address whose requests are not recorded; undefined where all are. */
function createRequestTest(settings: Settings): ((address: string) => boolean) | undefined {
  if (!settings['analytics.enabled']) return () => true;
  const ignored = settings['analytics.ignored_addresses'];
  if (ignored.length === 0) return undefined;
  const list = parseCidrList(ignored);
  return address => includesAddress(list, address);
}

const tagsBySession = new WeakMap<Session, string>();

/** Tags of a session, cached: they are the same for all requests of a key. */
function buildSessionTags(session: Session): string {
  let known = tagsBySession.get(session);
  if (known === undefined) {
    const { policyIds, tags, metaData } = session;
    const developer = metaData[metadataNames.developerId];
    const all = [...policyIds.map(id => `pol-${id}`), ...tags];
    if (typeof developer === 'string' && developer !== '') all.push(`dev-${developer}`);
    known = joinTags(all);
    tagsBySession.set(session, known);
  }
  return known;
}

function buildTags(call: Exchange, { tagHeaders }: ApiAnalytics): string {
  const own = call.session ? buildSessionTags(call.session) : '';
  if (tagHeaders.length === 0 && call.tags === undefined) return own;
  const more = [...(call.tags ?? [])];
  for (const name of tagHeaders) {
    const value = call.headers.get(name);
    if (value !== undefined) more.push(`${name}-${value}`);
  }
  const rest = joinTags(more);
  return own === '' || rest === '' ? own + rest : own + tagSeparator + rest;
}

const joinTags = (tags: readonly string[]) =>
  tags
    .slice(0, maxTags)
    .map(tag => tag.slice(0, maxTagCharacters))
    .join(tagSeparator);
