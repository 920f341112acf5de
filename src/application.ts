import type { AddressInfo } from 'node:net';
import type { KeyCounters } from '#access/keys/counters.ts';
import { eventFamilies } from '#analytics/metrics/events.ts';
import type { MetricFamily } from '#analytics/metrics/exposition.ts';
import { limitFamilies } from '#analytics/metrics/limits.ts';
import { addMetricsRoute } from '#analytics/metrics/route.ts';
import { sealPlainSecrets } from '#apis/api/plain-secrets.ts';
import type { Clock } from '#base/clock.ts';
import { createPublicId } from '#base/ids.ts';
import type { Log } from '#base/log.ts';
import type { Settings } from '#base/settings.ts';
import { rejectWeakSecrets } from '#base/weak-secrets.ts';
import { startSending } from '#events/events.ts';
import { createConsent } from '#gateway/auth/oauth/consent.ts';
import { createOauthProvider } from '#gateway/auth/oauth/provider.ts';
import { problem as rpcProblem } from '#gateway/pipeline/thread-rpc.ts';
import { openDatabase } from '#gateway/runtime/config-backup/open-database.ts';
import type { PendingDatabase } from '#gateway/runtime/config-backup/with-database.ts';
import { startDataPlane } from '#gateway/runtime/data-plane.ts';
import { createDataPlaneControl } from '#gateway/runtime/data-plane-control.ts';
import type { Threads, ThreadsOptions } from '#gateway/runtime/threads.ts';
import { servesTraffic, validateRole } from '#gateway/runtime/validate-settings.ts';
import { createAuthFailureLimit } from '#operations/auth-failure-limit.ts';
import { addHealthRoutes, type Health } from '#operations/health.ts';
import { createInjector, type Inject } from '#operations/in-process-request.ts';
import { listenAt } from '#operations/listen-at.ts';
import { createManagementListener, type ManagementListenerOptions } from '#operations/listener.ts';
import { selectManagementListeners } from '#operations/management-listeners.ts';
import type { ToolsOf } from '#operations/operation.ts';
import { createAuditWriter, createRejectionReport } from '#people/audit/audit-writer.ts';
import { createAuthenticators } from '#people/installation/authenticate.ts';
import { bootstrap, type InstallationCredentials } from '#people/installation/bootstrap.ts';
import { writeFirstCredentials } from '#people/installation/credentials-file.ts';
import { bootstrapPortal } from '#portal/bootstrap.ts';
import { startChangeLogPruning } from '#storage/change-log.ts';
import { type CounterPersistence, createCounterPersistence } from '#storage/counter-persistence.ts';
import { type DataDirectory, openDataDirectory } from '#storage/data-directory.ts';
import { createDatabaseHealthCheck } from '#storage/database-health.ts';
import type { Records } from '#storage/records.ts';
import { openSharedEngine, type SharedEngine } from '#storage/shared/engine.ts';
import { catalogue } from './catalogue.ts';
import { openStores } from './stores.ts';
import { version } from './version.ts';

export interface AppEnvironment {
  readonly log: Log;
  readonly clock: Clock;
  /** Replaces the program of traffic threads. */
  readonly threadProgram?: URL | undefined;
  /** Preloaded traffic threads. */
  readonly preloadedThreads?: ThreadsOptions['preloadedThreads'];
  /** Receives log lines of traffic threads; standard error by default. */
  readonly writeLog?: ((lines: string) => void) | undefined;
}

/** The installation without listeners, as commands other than `start` use it. */
export interface Installation {
  readonly directory: DataDirectory;
  readonly records: Records;
  readonly shared: SharedEngine;
  readonly counters: CounterPersistence;
  /** Key of the vault, for the traffic threads. */
  readonly dataKey: Buffer;
  readonly tools: ReturnType<typeof openStores>;
  /** Set while the database has been unavailable since the start. */
  readonly pendingDatabase: PendingDatabase | undefined;
  close(): Promise<void>;
}

export async function openInstallation(
  settings: Settings,
  environment: AppEnvironment,
  { mayWait: allowsOfflineStart = false } = {},
): Promise<Installation> {
  const directory = openDataDirectory(settings.data_dir);
  const closers: (() => unknown)[] = [() => directory.release()];
  const close = () => closeAll(closers);
  try {
    const { records, dataKey, pendingDatabase } = await openDatabase({
      records: {
        ...(settings['database.url'] ? { url: settings['database.url'] } : { file: directory.databasePath }),
        connections: settings['database.max_connections'],
        onError: error => environment.log.warn({ reason: error.message }, 'database connection error'),
      },
      directory,
      masterKey: settings.master_key,
      allowsOfflineStart,
      log: environment.log,
    });
    closers.push(() => records.close());
    const shared = await openSharedEngine({
      url: settings['redis.url'],
      prefix: settings['redis.prefix'],
      timeoutMs: settings['redis.timeout_ms'],
      ...environment,
    });
    closers.push(() => shared.close());
    const counters = createCounterPersistence({
      records,
      threads: shared.threads,
      node: resolveNodeId(settings, directory),
      clock: environment.clock,
      onError: error => environment.log.warn({ reason: error.message }, 'counters not persisted'),
    });
    const tools = openStores(records, dataKey, settings, environment, createKeyCounters(shared, counters, environment));
    closers.push(() => tools.outbound.close());
    closers.push(() => tools.events.close());
    return { directory, records, shared, counters, dataKey, tools, pendingDatabase, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Node id of persisted counters: empty with SQLite, which has one process; distinct per process on PostgreSQL. */
function resolveNodeId(settings: Settings, directory: DataDirectory): string {
  if (settings.node_id || !settings['database.url']) return settings.node_id;
  const stored = directory.read('node_id');
  if (stored) return stored;
  const created = createPublicId();
  directory.write('node_id', created);
  return created;
}

function createKeyCounters({ shared }: SharedEngine, kept: CounterPersistence, { clock }: AppEnvironment): KeyCounters {
  return {
    async reset(names) {
      for (const name of names) await shared.counters.reset(name);
      await kept.reset(names);
    },
    peek: async (name, window) => shared.counters.peek(name, window, clock.now()),
  };
}

/** Closes in reverse order of opening. */
async function closeAll(closers: (() => unknown)[]): Promise<void> {
  for (const step of closers.splice(0).reverse()) await step();
}

export interface Application {
  /** Set until a start has displayed them. */
  readonly credentials: InstallationCredentials | undefined;
  readonly urls: Readonly<Partial<Record<'gateway' | 'dashboard' | 'portal' | 'control', string>>>;
  readonly installation: Installation;
  /** Resolves when every traffic thread serves what was committed before the call. */
  waitForDataPlane(): Promise<void>;
  /** `/ready` returns 503 from now on; traffic continues. */
  drain(): void;
  close(): Promise<void>;
}

/** URLs of the running process, for client commands on the same machine. */
export const listeningFile = 'listening.json';

/** Starts the parts of the role. A failed start closes everything it opened. */
export async function startApplication(settings: Settings, environment: AppEnvironment): Promise<Application> {
  rejectWeakSecrets(settings);
  validateRole(settings);
  const allowsOfflineStart = servesTraffic(settings) && settings['database.config_backup'];
  const installation = await openInstallation(settings, environment, { mayWait: allowsOfflineStart });
  const closers: (() => unknown)[] = [() => installation.close()];
  const close = () => closeAll(closers);
  try {
    const { tools, pendingDatabase } = installation;
    const credentials = pendingDatabase ? undefined : await seedDatabase(installation, settings, environment.log);
    const log = startChangeLogPruning(installation.records, error =>
      environment.log.warn({ reason: error.message }, 'change log not pruned'),
    );
    closers.push(() => log.close());
    const sender = startSending({ ...tools, ...environment }, resolveNodeId(settings, installation.directory));
    closers.push(() => sender.close());
    const {
      urls,
      trafficSettled: waitForDataPlane,
      arrived: onDatabaseAvailable,
      drain,
    } = await openListeners(settings, environment, installation, closers);
    installation.directory.write(listeningFile, `${JSON.stringify(urls, null, 2)}\n`);
    closers.push(() => installation.directory.remove(listeningFile));
    if (pendingDatabase) {
      const attempt = async () => {
        await pendingDatabase.connect();
        await seedDatabase(installation, settings, environment.log);
        await onDatabaseAvailable();
      };
      const { retryUntilConnected: awaitArrival } = await import('#gateway/runtime/config-backup/connect-retry.ts');
      const retry = awaitArrival({ attempt, log: environment.log });
      closers.push(() => retry.close());
    }
    if (installation.directory.isOpenToOthers)
      environment.log.warn({ path: installation.directory.path }, 'data directory is open to other users: chmod 700');
    return { credentials, urls, installation, waitForDataPlane, drain, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Seeds the database: sealed secrets, first credentials, portal defaults. */
async function seedDatabase(
  installation: Installation,
  settings: Settings,
  log: Log,
): Promise<InstallationCredentials | undefined> {
  const { tools } = installation;
  await sealPlainSecrets(tools, log);
  const credentials = await writeFirstCredentials(installation, () => bootstrap(tools));
  await bootstrapPortal(tools);
  await tools.audit.removeOlderThan(settings['audit.retention_days']);
  return credentials;
}

async function openListeners(
  settings: Settings,
  environment: AppEnvironment,
  installation: Installation,
  closers: (() => unknown)[],
) {
  const {
    tools,
    records,
    shared: { shared, threads },
  } = installation;
  const urls: Partial<Record<'gateway' | 'dashboard' | 'portal' | 'control', string>> = {};
  const eventCounts = () => ({ ...tools.events.counts(), ...tools.sending.totals() });
  let ready = false;
  let waitForDataPlane = async () => {};
  let onDatabaseAvailable = async () => {};
  let drainTraffic = () => {};
  let metrics = (): readonly MetricFamily[] => [];
  let callThread: Threads['call'] = () => Promise.reject(rpcProblem.no_threads());
  let broadcastToThreads: Threads['broadcast'] = () => Promise.reject(rpcProblem.no_threads());
  let control: Inject = () => Promise.reject(rpcProblem.no_threads());
  const database = createDatabaseHealthCheck(records, environment.clock);
  const redis = () => (shared.state() === 'ok' ? '' : 'Redis does not answer: limits are counted here alone');
  const health: Health = {
    version,
    clock: environment.clock,
    isReady: () => ready,
    optionalChecks: ['redis'],
    checks: async () => ({ database: await database(), ...(settings['redis.url'] ? { redis: redis() } : {}) }),
  };
  const stops: (() => Promise<unknown>)[] = [];
  closers.push(() => {
    ready = false;
    return Promise.all(stops.map(stop => stop()));
  });
  const traffic = createDataPlaneControl({
    call: (...rpc) => callThread(...rpc),
    broadcast: (...rpc) => broadcastToThreads(...rpc),
    waitUntilCurrent: () => waitForDataPlane(),
  });
  const oauth = createOauthProvider({ ...tools, log: environment.log });
  closers.push(() => oauth.close());
  const typedTools: ToolsOf<typeof catalogue> = {
    ...tools,
    traffic,
    grantConsent: createConsent({ ...tools, provider: oauth }),
    callThread: (...rpc) => callThread(...rpc),
    broadcastToThreads: (...rpc) => broadcastToThreads(...rpc),
  };

  const authenticate = createAuthenticators(tools.users, tools.secrets);
  const writeAudit = createAuditWriter(tools.audit, environment.log);
  const maxFailures = settings['management.max_auth_failures_per_minute'];
  const failures = createAuthFailureLimit(
    maxFailures,
    environment.clock,
    createRejectionReport(writeAudit, environment.log),
  );
  for (const { name, host, port, setting, surfaces } of selectManagementListeners(settings)) {
    const options: ManagementListenerOptions = {
      surfaces,
      operations: catalogue,
      tools: typedTools,
      authenticate,
      writeAudit,
      refuseHidden: tools.ownership.rejectHidden,
      log: environment.log,
      version,
      maxBodyBytes: settings['management.max_body_bytes'],
      unknownMembers: settings['management.unknown_members'],
      failures,
      trustedProxies: settings['management.trusted_proxies'],
      validateResponses: settings['management.validate_responses'],
    };
    const app = createManagementListener(options);
    if (surfaces.includes('gateway')) control = createInjector(options);
    addHealthRoutes(app, health);
    if (name !== 'portal')
      addMetricsRoute(app, {
        log: environment.log,
        settings,
        version,
        authenticate,
        failures,
        parts: health.checks,
        traffic: () => [...metrics(), ...eventFamilies(eventCounts()), ...limitFamilies(threads.evictions())],
      });
    stops.push(() => app.close());
    await listenAt(host, port, setting, () => app.listen({ host, port }));
    const address = app.server.address() as AddressInfo;
    tools.managementPorts.push(address.port);
    urls[name] = formatUrl(host, address);
  }

  if (servesTraffic(settings)) {
    const database = settings['database.url']
      ? { url: settings['database.url'] }
      : { file: installation.directory.databasePath };
    const traffic = await startDataPlane({
      ...installation,
      ...environment,
      settings,
      database,
      control,
      oauth,
      version,
      managementPorts: tools.managementPorts,
    });
    stops.push(() => traffic.close());
    urls.gateway = formatUrl(settings['gateway.host'], traffic, settings['gateway.tls.enabled'] ? 'https' : 'http');
    waitForDataPlane = traffic.waitUntilCurrent;
    onDatabaseAvailable = traffic.onDatabaseAvailable;
    drainTraffic = traffic.drain;
    metrics = traffic.metrics;
    callThread = traffic.call;
    broadcastToThreads = traffic.broadcast;
  }
  ready = true;
  const drain = () => {
    ready = false;
    drainTraffic();
  };
  return { urls, trafficSettled: waitForDataPlane, arrived: onDatabaseAvailable, drain };
}

const formatUrl = (host: string, { port }: { port: number }, scheme = 'http') => {
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `${scheme}://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
};
