import { createCollector } from '#analytics/collector.ts';
import type { GeoDatabase } from '#analytics/geo/geo-database.ts';
import { spanFamilies } from '#analytics/metrics/exports.ts';
import type { MetricFamily } from '#analytics/metrics/exposition.ts';
import type { Clock } from '#base/clock.ts';
import { coalesceRuns } from '#base/coalesce-runs.ts';
import type { OutboundClient } from '#base/http-client/client.ts';
import type { Log } from '#base/log.ts';
import type { OtlpSpan } from '#base/otlp/span.ts';
import { onHangup } from '#base/process.ts';
import type { Settings } from '#base/settings.ts';
import type { Vault } from '#base/vault.ts';
import type { Dispatch } from '#events/dispatch.ts';
import type { Inject } from '#operations/in-process-request.ts';
import type { InstallationSecrets } from '#people/installation/secrets.ts';
import type { CounterPersistence } from '#storage/counter-persistence.ts';
import type { DataDirectory } from '#storage/data-directory.ts';
import type { Records } from '#storage/records.ts';
import type { SharedEngine } from '#storage/shared/engine.ts';
import type { OauthProvider } from '../auth/oauth/provider.ts';
import { createCacheBuffer } from '../cache/create-cache.ts';
import { isExplainToken } from '../inspect/explain/explain-token.ts';
import { threadCount } from '../pipeline/thread-count.ts';
import { problem as rpcProblem } from '../pipeline/thread-rpc.ts';
import type { PluginRpc } from '../plugins/plugin-rpc.ts';
import { createTraceExport, type TraceExport } from '../tracing/trace-export.ts';
import { type ExpiryMonitorOptions, startCertificateExpiryMonitor } from './certificate-expiry-monitor.ts';
import { backupFileName } from './config-backup/config-backup.ts';
import type { PendingDatabase } from './config-backup/with-database.ts';
import { startThreads, type Threads, type ThreadsOptions } from './threads.ts';

type DataPlaneServices = Omit<
  Parameters<typeof createCollector>[0] & Omit<ExpiryMonitorOptions, 'settings' | 'log'>,
  'log'
> & {
  events: Dispatch;
  secrets: InstallationSecrets;
  vault: Vault;
  outbound: OutboundClient;
  spanSink: { add: ((span: OtlpSpan) => void) | undefined };
};

export interface DataPlaneOptions
  extends Pick<ThreadsOptions, 'database' | 'version' | 'writeLog' | 'managementPorts' | 'preloadedThreads'> {
  readonly directory: DataDirectory;
  readonly dataKey: Buffer;
  /** Id of this process, in telemetry. */
  readonly nodeId: string;
  /** Set while the database has been unavailable since the start. */
  readonly pendingDatabase?: PendingDatabase | undefined;
  readonly settings: Settings;
  readonly records: Records;
  readonly shared: SharedEngine;
  readonly counters: CounterPersistence;
  readonly services: DataPlaneServices;
  readonly oauth: Pick<OauthProvider, 'answer'>;
  readonly pluginFunctions: PluginRpc;
  readonly log: Log;
  readonly threadProgram?: URL | undefined;
}

export type TrafficLoad = ReturnType<ReturnType<typeof createCollector>['load']>;

/** Data plane of the process. Before `start` it has no threads: RPC is rejected, and there are no metrics. */
export interface DataPlane extends Pick<Threads, 'call' | 'broadcast' | 'drain'> {
  /** Starts the traffic threads; `control` answers control API requests that they receive. */
  start(control: Inject): Promise<{ readonly port: number }>;
  /** Resolves when every thread serves what was committed before the call. */
  waitUntilCurrent(): Promise<void>;
  /** Waits as `waitUntilCurrent`; resolves with the threads that do not serve it, or undefined without threads. */
  waitUntilApplied(): Promise<readonly string[] | undefined>;
  /** Sets the callback for every load of configuration by a thread, also one without changes. */
  onConfigLoaded(listener: () => void): void;
  /** Switches from the config backup to the database. */
  onDatabaseAvailable(): Promise<void>;
  metrics(): readonly MetricFamily[];
  /** Threads and the configuration they serve; undefined before `start`. */
  state(): Pick<Threads, 'count' | 'running' | 'restarts' | 'served'> | undefined;
  /** Requests since the start, and the event loop delay of the threads; undefined before `start`. */
  load(): TrafficLoad | undefined;
  /** Closes in reverse order of opening, also after a failed start. */
  close(): Promise<void>;
}

export function createDataPlane(options: DataPlaneOptions): DataPlane {
  const { settings, counters, services, log } = options;
  const closers: (() => unknown)[] = [];
  const traceExport = createTraceExport({ ...options, outbound: services.outbound });
  services.spanSink.add = traceExport?.add;
  closers.push(() => traceExport?.close());
  let notifyLoaded = (): void => undefined;
  /** Set once every thread listens. */
  let running: { readonly threads: Threads; readonly collector: ReturnType<typeof createCollector> } | undefined;

  /** Background tasks that need the database. */
  async function startDatabaseTasks(): Promise<void> {
    closers.push(startCertificateExpiryMonitor({ ...services, settings, log }).close);
    closers.push(await startConfigBackup({ ...options, clock: services.clock }));
  }

  return {
    async start(control) {
      closers.push(() => counters.close());
      if (!options.pendingDatabase) await counters.start();
      const geo = await openGeo(settings, log);
      closers.push(() => geo?.close());
      const collector = createCollector({ ...services, log, geo });
      closers.push(() => collector.close());
      const threads = await startThreads({
        ...buildThreadsOptions(options, collector, control, traceExport),
        onLoaded: () => notifyLoaded(),
      });
      closers.push(() => threads.close());
      if (!options.pendingDatabase) await startDatabaseTasks();
      closers.push(await refreshOnChange(options, threads));
      if (settings['access_log.output'] === 'file') closers.push(onHangup(threads.reopenLogs));
      running = { threads, collector };
      return threads;
    },
    waitUntilCurrent: async () => running?.threads.refresh(),
    waitUntilApplied: async () => running?.threads.refreshAndReport(),
    onConfigLoaded(listener) {
      notifyLoaded = listener;
    },
    async onDatabaseAvailable() {
      if (!running) return;
      await counters.start();
      running.threads.notifyDatabaseAvailable();
      await startDatabaseTasks();
    },
    drain: () => running?.threads.drain(),
    state: () => running?.threads,
    load: () => running?.collector.load(),
    metrics: () => [
      ...(running?.collector.families(running.threads) ?? []),
      ...(traceExport ? spanFamilies(traceExport.totals()) : []),
    ],
    call: (...rpc) => running?.threads.call(...rpc) ?? Promise.reject(rpcProblem.no_threads()),
    broadcast: (...rpc) => running?.threads.broadcast(...rpc) ?? Promise.reject(rpcProblem.no_threads()),
    async close() {
      for (const closeOne of closers.splice(0).reverse()) await closeOne();
    },
  };
}

/** Loaded on first use: most installations have no such file. */
async function openGeo(settings: Settings, log: Log): Promise<GeoDatabase | undefined> {
  const path = settings['analytics.geo_database'];
  if (path === '') return undefined;
  const { openGeoDatabase } = await import('#analytics/geo/geo-database.ts');
  return openGeoDatabase({ path, log });
}

function buildThreadsOptions(
  options: DataPlaneOptions,
  collector: ReturnType<typeof createCollector>,
  control: Inject,
  traceExport: TraceExport | undefined,
): ThreadsOptions {
  const { settings, services, log } = options;
  return {
    settings,
    database: options.database,
    shared: options.shared.threads.buffer,
    cacheBuffer: createCacheBuffer(settings),
    dataKey: options.dataKey,
    configBackup: options.pendingDatabase?.backup,
    host: settings['gateway.host'],
    port: settings['gateway.port'],
    count: threadCount(settings),
    preloadedThreads: options.preloadedThreads,
    version: options.version,
    managementPorts: options.managementPorts,
    log,
    program: options.threadProgram,
    writeLog: options.writeLog,
    answers: {
      oauth: options.oauth.answer,
      isGatewaySecret: ({ secret }) => services.secrets.matches('gateway', secret),
      explains: async ({ secret, request }) =>
        isExplainToken(services.vault, services.clock, secret, request) || services.secrets.matches('gateway', secret),
      control,
      ...options.pluginFunctions,
    },
    onEvent({ event, detail, handlers, request, cause }) {
      log.info({ event, ...detail }, 'traffic event');
      services.events.emit(
        { ...readEventSubject(detail), event, atMs: services.clock.now(), detail: { ...detail, request }, cause },
        handlers,
      );
    },
    onEventsDropped: services.events.countDropped,
    onReport: collector.receive,
    onThreadExit: collector.removeThread,
    onSpans: spans => traceExport?.receive(spans),
  };
}

/** Refreshes the threads on every committed change, of this or another process; returns the end of it. */
async function refreshOnChange({ records, database, log }: DataPlaneOptions, threads: Threads) {
  const refresh = coalesceRuns(threads.refresh, error =>
    log.warn({ reason: error.message }, 'traffic threads not refreshed'),
  );
  const onLost = (error: Error) =>
    log.warn({ reason: error.message }, 'LISTEN connection lost, falling back to polling');
  const unsubscribe = records.onChange(refresh);
  const notifications = database.url
    ? (await import('#storage/pg-notify.ts')).listenForChanges({ url: database.url, onChange: refresh, onLost })
    : undefined;
  return async () => {
    unsubscribe();
    await notifications?.close();
  };
}

/** Config backup for PostgreSQL only: a SQLite database is a local file itself. */
async function startConfigBackup(
  options: Pick<DataPlaneOptions, 'settings' | 'directory' | 'database' | 'dataKey' | 'log'> & { clock: Clock },
) {
  const { settings, directory, database, dataKey, log, clock } = options;
  if (!database.url || !settings['database.config_backup']) {
    directory.remove(backupFileName);
    return async () => undefined;
  }
  const { startBackupWriter } = await import('./config-backup/backup-writer.ts');
  const writer = await startBackupWriter({
    url: database.url,
    path: directory.pathOf(backupFileName),
    dataKey,
    clock,
    log,
  });
  return writer.close;
}

const readEventSubject = ({ org_id, api_id }: Readonly<Record<string, unknown>>) => ({
  orgId: typeof org_id === 'string' ? org_id : '',
  apiId: typeof api_id === 'string' ? api_id : '',
});
