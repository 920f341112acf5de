import { once } from 'node:events';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { ThreadReport } from '#analytics/metrics-report.ts';
import { createConfigReader, parseApi } from '#apis/config-reader.ts';
import { createAddressPolicies } from '#base/address-policies.ts';
import { systemClock } from '#base/clock.ts';
import { createOutboundClient, type OutboundClient } from '#base/http-client/client.ts';
import { createLog } from '#base/log.ts';
import { setThreadNiceness } from '#base/process.ts';
import { createRedactor } from '#base/redaction.ts';
import { releaseMemory } from '#base/release-memory.ts';
import { every } from '#base/repeat.ts';
import type { Settings } from '#base/settings.ts';
import { createVault } from '#base/vault.ts';
import { isSecretGranted } from '#people/organisations/grants.ts';
import { openReader } from '#storage/open-reader.ts';
import { openSharedEngine } from '#storage/shared/engine.ts';
import { createCertificateCache } from '../auth/certificate-cache.ts';
import { listKeySources } from '../auth/jwt-signers.ts';
import { createKeyCache } from '../auth/key-cache.ts';
import { createTokenServices } from '../auth/token-services.ts';
import { createCache } from '../cache/create-cache.ts';
import { createExplanationStore } from '../inspect/explain/explanation-store.ts';
import { createOrganisationLimitCache } from '../limits/organisation-limit-cache.ts';
import { createTenantGrants } from '../pipeline/tenant-grants.ts';
import { createRpcClient, createRpcServer, type RpcRequest, type RpcResponse } from '../pipeline/thread-rpc.ts';
import { createPluginBundles } from '../plugins/bundles/plugin-bundles.ts';
import { createPluginServices } from '../plugins/create-plugin-services.ts';
import { createUpstreamAuthorities } from '../proxy/authorities.ts';
import { createServiceDiscovery } from '../proxy/service-discovery.ts';
import { createAccessLog } from '../recording/access-log.ts';
import { listCredentialParameters } from '../recording/api-analytics.ts';
import { createEventEmitter, type EmittedEvent } from '../recording/event-emitter.ts';
import { createRecentStats } from '../recording/recent-stats.ts';
import { createRecorder, type Recorder } from '../recording/recorder.ts';
import { describeApiStatus, describeThreadStatus, listUnavailableApis } from '../routing/api-status.ts';
import { createCertificateLister } from '../routing/certificate-report.ts';
import { createSnapshotLoader } from '../routing/loader.ts';
import { createSniSelector } from '../routing/sni.ts';
import { createTransports } from '../server/transports.ts';
import type { MainThreadRpc, StepServices } from '../steps/step-services.ts';
import { finishTraceFirst, type SpanReport } from '../tracing/request-tracer.ts';
import { startUptimeChecker } from '../uptime/uptime-checker.ts';
import { createDefinitionSecrets } from '../variables/definition-secrets.ts';
import { createReaderWithBackup } from './config-backup/backup-reader.ts';
import type { ConfigBackup } from './config-backup/config-backup.ts';
import { buildHandler } from './handler-order.ts';
import { createHealthEndpoints } from './health-endpoints.ts';
import { loadDebugRun, loadTracer } from './lazy-parts.ts';
import { createListeners } from './listeners.ts';
import { createNetworkServices } from './network-services.ts';
import type { ThreadStart } from './preload-thread.ts';
import { createThreadPools, createThreadTls } from './thread-network.ts';
import type { TrafficThreadRpc } from './thread-rpc.ts';

/** Start data of a traffic thread. */
export interface ThreadData {
  readonly settings: Settings;
  readonly database: { readonly url?: string; readonly file?: string };
  readonly shared: SharedArrayBuffer;
  /** Response cache of the process; absent with Redis. */
  readonly cacheBuffer?: SharedArrayBuffer | undefined;
  /** Key of the vault; posted in memory only, never persisted. */
  readonly dataKey: Uint8Array;
  readonly host: string;
  readonly port: number;
  readonly reusePort: boolean;
  readonly version: string;
  /** Management ports of this process, refused as upstreams. */
  readonly managementPorts: readonly number[];
  /** Scheduling priority. A thread that replaces another inherits the lower one of the main thread. */
  readonly niceness: number | undefined;
  /** Config backup to serve until the database is available; absent when it is. */
  readonly configBackup?: ConfigBackup | undefined;
}

/** From the main thread. */
export type MessageToThread =
  | { readonly kind: 'config-changed'; readonly refreshId: number }
  | { readonly kind: 'batch-accepted' }
  | { readonly kind: 'spans-accepted' }
  | { readonly kind: 'database-available' }
  /** `/ready` returns 503 from now on; traffic continues. */
  | { readonly kind: 'drain' }
  /** Log rotation. */
  | { readonly kind: 'reopen-logs' }
  | { readonly kind: 'stop' }
  | RpcRequest
  | RpcResponse;
/** To the main thread. */
export type MessageToMain =
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string }
  | { readonly kind: 'loaded'; readonly refreshId: number; readonly served: ServedConfig; readonly fault?: string }
  | { readonly kind: 'report'; readonly report: ThreadReport }
  | SpanReport
  | ({ readonly kind: 'event' } & EmittedEvent)
  | { readonly kind: 'events-dropped'; readonly count: number }
  | RpcRequest
  | RpcResponse;

/** Configuration in service in a thread. */
export interface ServedConfig {
  /** 0 for the config backup. */
  readonly revision: number;
  /** Time at which the thread put the revision into service. */
  readonly loadedAtMs: number;
}

/** Requests of one thread that wait for the main thread. */
const maxPendingRpcCalls = 200;
const pollIntervalMs = 1000;
/** Health messages for outsiders; the reason goes to the log. */
const databaseUnavailable = 'database unavailable: serving the configuration and keys loaded so far';
const redisUnavailable = 'Redis unavailable: limits are counted in this process only';

async function runThread(data: ThreadData, port: MessagePort): Promise<void> {
  const { settings } = data;
  const redactor = createRedactor();
  const log = createLog({ level: settings['log.level'], format: settings['log.format'], redact: redactor.redact });
  if (!setThreadNiceness(data.niceness)) log.warn('traffic thread has the priority of the main thread');
  const engine = await openSharedEngine({
    url: settings['redis.url'],
    prefix: settings['redis.prefix'],
    timeoutMs: settings['redis.timeout_ms'],
    buffer: data.shared,
    clock: systemClock,
    log,
  });
  const databaseReader = await openReader({
    ...data.database,
    onLost: error => log.warn({ reason: error.message }, 'database connection lost'),
  });
  const { reader, access, switchToDatabase } = createReaderWithBackup(databaseReader, data.configBackup);
  let databaseFault = data.configBackup ? databaseUnavailable : '';
  let isDraining = false;
  const post = (message: MessageToMain) => port.postMessage(message);
  const vault = createVault(Buffer.from(data.dataKey));
  const organisations = createOrganisationLimitCache(access, vault);
  const keyCache = createKeyCache({
    store: access,
    vault,
    settings,
    clock: systemClock,
    log,
    served: () => loader.snapshot(),
  });
  const certificates = createCertificateCache(access, vault);
  const addresses = createAddressPolicies({
    refused: settings['outbound.refused_addresses'],
    managementPorts: () => data.managementPorts,
  });
  const tokens = createTokenServices({
    addresses,
    store: access,
    sessions: keyCache,
    vault,
    settings,
    clock: systemClock,
    log,
  });
  const listCertificates = createCertificateLister(certificates);
  const mainThread = createRpcClient<MainThreadRpc>(post, maxPendingRpcCalls);
  const createRegistries = (through: OutboundClient) =>
    createServiceDiscovery({
      outbound: through,
      clock: systemClock,
      log,
      defaultTtlSeconds: settings['discovery.cache_ttl_seconds'],
    });
  const serviceDiscovery = createRegistries(tokens.services.outbound);
  const networkServices = createNetworkServices({
    shared: { ...tokens.services, serviceDiscovery },
    create: through => ({ jwks: tokens.createKeySets(through), serviceDiscovery: createRegistries(through) }),
  });
  const grants = createTenantGrants(settings);
  const upstreamAuthorities = createUpstreamAuthorities(settings, error =>
    log.error({ reason: error.message }, 'upstream certificate authorities not reloaded'),
  );
  const plugins = createPluginServices(settings, systemClock, log);
  const pluginBundles = createPluginBundles({ settings, log, grants, outbound: tokens.services.outbound });
  const services: StepServices = {
    settings,
    addressPolicies: addresses,
    networkFor: networkServices.forPolicy,
    clock: systemClock,
    log,
    counters: engine.shared.counters,
    processCounters: engine.threads.counters,
    keyCache,
    certificates,
    ...tokens.services,
    rpc: mainThread.call,
    organisationLimits: organisations,
    grants,
    secrets: createDefinitionSecrets({
      settings,
      redactor,
      isGranted: (orgId, name) => isSecretGranted(grants.of(orgId), name),
    }),
    isContextName: () => true,
    ...plugins.services,
    pluginBundles,
    responseCache: createCache({ settings, shared: engine.shared, buffer: data.cacheBuffer, clock: systemClock, log }),
    serviceDiscovery,
    upstreamAuthorities,
    emitEvent: createEventEmitter({
      settings,
      clock: systemClock,
      log,
      post: event => post({ kind: 'event', ...event }),
      onDropped: count => post({ kind: 'events-dropped', count }),
    }),
  };
  const loader = createSnapshotLoader({
    configReader: createConfigReader(reader, vault),
    services,
    onChanges(changes) {
      keyCache.invalidate(changes);
      certificates.invalidate(changes);
      tokens.changed(changes);
      organisations.invalidate(changes);
    },
  });
  const pools = createThreadPools(settings);
  const accessLog = await createAccessLog({ settings, clock: systemClock, log, redact: redactor.redact });
  const recorder = createRecorder({
    settings,
    log,
    accessLog,
    redact: redactor.redact,
    post: (report, transfer) => port.postMessage({ kind: 'report', report } satisfies MessageToMain, transfer),
  });
  if (data.configBackup)
    await loader.serveBackup(
      data.configBackup.apis.map(body => parseApi(vault, body)),
      data.configBackup.grants,
    );
  else await loader.refresh();
  const healthEndpoints = createHealthEndpoints({
    version: data.version,
    names: { health: settings['gateway.health_name'], ready: settings['gateway.ready_name'] },
    clock: systemClock,
    isReady: () => loader.isLoaded() && !isDraining,
    checks: () => ({
      database: databaseFault,
      ...(settings['redis.url'] ? { redis: engine.shared.state() === 'ok' ? '' : redisUnavailable } : {}),
    }),
  });
  const uptimeChecker = startUptimeChecker({
    services,
    outbound: createOutboundClient({ addresses }),
    snapshot: loader.snapshot,
    onResults: recorder.addUptimeResults,
  });
  const recentStats = createRecentStats(systemClock);
  const tracer = settings['tracing.endpoint']
    ? loadTracer().createTracer({ settings, log, redact: redactor.redact, listCredentialParameters, port })
    : undefined;
  const record: Recorder['record'] = finishTraceFirst(tracer, (call, complete) => {
    recentStats.count(call);
    recorder.record(call, complete);
  });
  const explanations = createExplanationStore(systemClock);
  const { snapshot } = loader;
  const handler = buildHandler({ snapshot, services, pools, record, healthEndpoints, explanations, tracer });
  const { recordInvalid: onInvalidRequest } = recorder;
  const transports = createTransports({ handler, settings, clock: systemClock, log, onInvalidRequest });
  const tlsAcceptor = createThreadTls(settings, log, createSniSelector(loader.snapshot, services.grants));
  const { host, port: requestedPort, reusePort } = data;
  const address = { host, port: requestedPort, reusePort };
  const { rpc } = services;
  const listeners = createListeners({ settings, log, ...transports, tlsAcceptor, snapshot, address, rpc });
  const handlers: TrafficThreadRpc = {
    explanation: async ({ id }) => explanations.text(id) ?? '',
    debug: given => loadDebugRun().runDebug(given, { services, pools, snapshot: loader.snapshot }),
    testPlugin: async given => (await import('../inspect/plugin-test/run-test.ts')).runPluginTest(given, services),
    async status({ apiId }) {
      // Status is usually read right after a change.
      await refresh(0);
      return describeApiStatus(loader.snapshot(), apiId);
    },
    threadStatus: async () => describeThreadStatus(loader.snapshot()),
    listUnavailable: async ({ orgId }) => listUnavailableApis(loader.snapshot(), orgId),
    stats: async ({ apiId }) => recentStats.of(apiId),
    async invalidateJwks({ apiId }) {
      const api = apiId === undefined ? undefined : loader.snapshot().apis.get(apiId);
      if (apiId === undefined || api) networkServices.invalidateJwks(api && listKeySources(api.model));
    },
    listKeySets: async () => networkServices.listKeySets(),
    listCertificates: async () => listCertificates(loader.snapshot().subsets.certified, tlsAcceptor.describe()),
    purgeResponseCache: ({ apiId }) => services.responseCache.purgeApi(apiId),
  };
  const handleRequest = createRpcServer({ ...handlers }, post);
  const onPollError = (error: Error) => log.error({ err: error }, 'config poll failed');
  const polls = every(pollIntervalMs, () => refresh(0), { onError: onPollError });
  const bundlePolls = every(
    settings['plugins.bundles.refresh_seconds'] * 1000,
    async () => {
      const isChanged = await pluginBundles.refresh();
      await loader.recompile(({ model }) => isChanged(model));
    },
    { onError: error => log.error({ err: error }, 'plugin bundles not refreshed') },
  );

  let served: ServedConfig = { revision: loader.snapshot().revision, loadedAtMs: systemClock.now() };

  function readServedConfig(): ServedConfig {
    const { revision } = loader.snapshot();
    if (revision !== served.revision) served = { revision, loadedAtMs: systemClock.now() };
    return served;
  }

  async function refresh(refreshId: number): Promise<void> {
    try {
      // Polls do not look at files: a reload, or a change of the configuration, says that they are complete.
      if (refreshId > 0) loader.reloadPluginFiles();
      await loader.refresh();
      tlsAcceptor.refresh();
      upstreamAuthorities.refresh();
      await listeners.reconcile();
      databaseFault = '';
      post({ kind: 'loaded', refreshId, served: readServedConfig() });
    } catch (error) {
      databaseFault = databaseUnavailable;
      // The last good snapshot stays in service; the next poll retries.
      log.warn({ reason: (error as Error).message }, 'config refresh failed, serving the last snapshot');
      post({ kind: 'loaded', refreshId, served: readServedConfig(), fault: (error as Error).message });
    }
  }

  port.on('message', (message: MessageToThread) => {
    if (message.kind === 'config-changed') void refresh(message.refreshId);
    else if (message.kind === 'batch-accepted') recorder.onBatchAccepted();
    else if (message.kind === 'spans-accepted') tracer?.onReportAccepted();
    else if (message.kind === 'drain') isDraining = true;
    else if (message.kind === 'reopen-logs') void accessLog?.reopen();
    else if (message.kind === 'database-available') {
      switchToDatabase();
      void refresh(0);
    } else if (message.kind === 'rpc-request') void handleRequest(message);
    else if (message.kind === 'rpc-response') mainThread.receive(message);
    else if (message.kind === 'stop') {
      polls.stop();
      bundlePolls.stop();
      void Promise.all([listeners.close(), transports.close()]).then(end);
    }
  });
  async function end(): Promise<void> {
    await accessLog?.close();
    await recorder.close();
    tracer?.close();
    await uptimeChecker.close();
    await plugins.close();
    await pools.close();
    await tokens.close();
    await reader.close();
    await engine.close();
    port.close();
  }
  await listeners.reconcile();
  // Before the first request, which would wait for the collection.
  releaseMemory();
  listeners.listen().then(
    found => post({ kind: 'listening', port: found }),
    error => post({ kind: 'failed', code: (error as NodeJS.ErrnoException).code ?? '', message: error.message }),
  );
}

/** Starts the thread; reports a start failure to the main thread. */
async function startThread(port: MessagePort): Promise<void> {
  const { startPort: given } = workerData as ThreadStart;
  try {
    const [data] = await once(given, 'message');
    given.close();
    await runThread(data as ThreadData, port);
  } catch (error) {
    port.postMessage({ kind: 'failed', code: '', message: (error as Error).message } satisfies MessageToMain);
    throw error;
  }
}

if (parentPort) await startThread(parentPort);
