import type { FastifyInstance } from 'fastify';
import { createKeyCounters } from '#access/keys/key-counters.ts';
import { startMetricsExport } from '#analytics/metrics/metrics-export.ts';
import { addMetricsRoute } from '#analytics/metrics/route.ts';
import { startSchemaUpdates } from '#apis/graphql-schema/schema-updates.ts';
import { startHeartbeat } from '#apis/system/heartbeat.ts';
import type { SystemQueue } from '#apis/system/node-operations.ts';
import { createUrlServices, listPublicUrls } from '#apis/system/public-urls.ts';
import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import type { PasswordCost } from '#base/passwords.ts';
import type { Settings } from '#base/settings.ts';
import { rejectWeakSecrets } from '#base/weak-secrets.ts';
import { startConfigurationFiles } from '#configuration/directory-source.ts';
import { rejectConfigurationWrite, selectDatabase } from '#configuration/files-database.ts';
import { startSending } from '#events/events.ts';
import { createLazyTokenVerifier } from '#gateway/auth/lazy-token-verifier.ts';
import { createConsent } from '#gateway/auth/oauth/consent.ts';
import { createOauthProvider } from '#gateway/auth/oauth/provider.ts';
import { createPluginHost } from '#gateway/plugins/plugin-host.ts';
import type { PluginRpc } from '#gateway/plugins/plugin-rpc.ts';
import { createAppliedWait } from '#gateway/runtime/applied-wait.ts';
import { openDatabase } from '#gateway/runtime/config-backup/open-database.ts';
import type { PendingDatabase } from '#gateway/runtime/config-backup/with-database.ts';
import { createDataPlane, type DataPlane } from '#gateway/runtime/data-plane.ts';
import { createDataPlaneControl } from '#gateway/runtime/data-plane-control.ts';
import { createInspectServices } from '#gateway/runtime/inspect-services.ts';
import { startNodeMonitor } from '#gateway/runtime/node-monitor.ts';
import type { ThreadsOptions } from '#gateway/runtime/threads.ts';
import { servesTraffic, validateRole } from '#gateway/runtime/validate-settings.ts';
import { createAuthFailureLimit } from '#operations/auth-failure-limit.ts';
import { createBulkBodyLimit } from '#operations/bulk-bodies.ts';
import { addHealthRoutes, createHealth } from '#operations/health.ts';
import { createRunOnce } from '#operations/idempotency.ts';
import { createInjector } from '#operations/in-process-request.ts';
import { addLandingRoutes } from '#operations/landing/routes.ts';
import { formatListenerUrl, openManagementListener } from '#operations/listen-at.ts';
import { createManagementListener } from '#operations/listener.ts';
import { createListenerTls, describeListening, validateTlsSettings } from '#operations/listener-tls.ts';
import { selectManagementListeners } from '#operations/management-listeners.ts';
import { loadManagementMcp } from '#operations/mcp/lazy-route.ts';
import type { ManagementMcpOptions } from '#operations/mcp/route.ts';
import type { ServicesOf } from '#operations/operation.ts';
import { addPageRoutes } from '#operations/pages.ts';
import { createAppliedWaits, type WaitUntilApplied } from '#operations/wait-applied.ts';
import type { WebApp } from '#operations/web-app/web-app.ts';
import { createAuditWriter, createRejectionReport } from '#people/audit/audit-writer.ts';
import { createAuthenticators } from '#people/installation/authenticate.ts';
import type { InstallationCredentials } from '#people/installation/bootstrap.ts';
import { resetPage } from '#people/sessions/reset-page.ts';
import { addSignOnRoutes } from '#people/single-sign-on/routes.ts';
import { startPortalWork } from '#portal/portal-work.ts';
import { createPortalSite } from '#portal/site/routes.ts';
import { createSessionAuthenticators } from '#portal/users/site-session.ts';
import { startChangeLogPruning } from '#storage/change-log.ts';
import { type CounterPersistence, createCounterPersistence } from '#storage/counter-persistence.ts';
import { type DataDirectory, openDataDirectory } from '#storage/data-directory.ts';
import { readNodeId, resolveNodeId } from '#storage/node-id.ts';
import type { Records, RecordsOptions } from '#storage/records.ts';
import { startRevisionPruning } from '#storage/revision-log.ts';
import { openSharedEngine, type SharedEngine } from '#storage/shared/engine.ts';
import { catalogue } from './catalogue.ts';
import { seedDatabase } from './seed-database.ts';
import { openStores } from './stores.ts';
import { version } from './version.ts';

export interface AppEnvironment {
  readonly log: Log;
  readonly clock: Clock;
  /** Replaces the program of traffic threads. */
  readonly threadProgram?: URL | undefined;
  /** Preloaded traffic threads. */
  readonly preloadedThreads?: ThreadsOptions['preloadedThreads'];
  /** Web app of the dashboard listener; without it browsers get the landing page. */
  readonly webApp?: WebApp | undefined;
  /** Receives log lines of traffic threads; standard error by default. */
  readonly writeLog?: ((lines: string) => void) | undefined;
  /** Cost of the hash of the first administrator's password; the default one without it. */
  readonly passwordCost?: PasswordCost | undefined;
  readonly onMigrated?: RecordsOptions['onMigrated'];
  /** Awaited after the database is seeded, before a listener opens. */
  readonly onDatabaseOpen?: ((installation: Installation) => Promise<void>) | undefined;
}

/** The installation without listeners, as commands other than `start` use it. */
export interface Installation {
  readonly directory: DataDirectory;
  readonly records: Records;
  readonly shared: SharedEngine;
  readonly counters: CounterPersistence;
  /** Key of the vault, for the traffic threads. */
  readonly dataKey: Buffer;
  readonly services: ReturnType<typeof openStores>;
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
        ...selectDatabase(settings, directory),
        connections: settings['database.max_connections'],
        onError: error => environment.log.warn({ reason: error.message }, 'database connection error'),
        onMigrated: environment.onMigrated,
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
    const node = resolveNodeId(settings, directory);
    const counters = createCounterPersistence({
      records,
      threads: shared.threads,
      node,
      clock: environment.clock,
      onError: error => environment.log.warn({ reason: error.message }, 'counters not persisted'),
    });
    const services = openStores(
      records,
      dataKey,
      settings,
      { ...environment, node },
      createKeyCounters(shared.shared.counters, counters, environment.clock),
    );
    closers.push(() => services.outbound.close());
    closers.push(() => services.events.close());
    closers.push(() => services.resetMails.close());
    closers.push(() => services.portalMailQueue.drain());
    closers.push(() => services.keyValues.close());
    return { directory, records, shared, counters, dataKey, services, pendingDatabase, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Closes in reverse order of opening. */
async function closeAll(closers: (() => unknown)[]): Promise<void> {
  for (const step of closers.splice(0).reverse()) await step();
}

type ListenerName = 'gateway' | 'dashboard' | 'portal' | 'control';

export interface Application {
  /** Set until a start has displayed them. */
  readonly credentials: InstallationCredentials | undefined;
  readonly urls: Readonly<Partial<Record<ListenerName, string>>>;
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
  validateTlsSettings(settings);
  const allowsOfflineStart = servesTraffic(settings) && settings['database.config_backup'];
  const installation = await openInstallation(settings, environment, { mayWait: allowsOfflineStart });
  const closers: (() => unknown)[] = [() => installation.close()];
  const close = () => closeAll(closers);
  try {
    const { services, pendingDatabase } = installation;
    const credentials = pendingDatabase ? undefined : await seedDatabase(installation, settings, environment);
    await environment.onDatabaseOpen?.(installation);
    const warn = (message: string) => (error: Error) => environment.log.warn({ reason: error.message }, message);
    const log = startChangeLogPruning(installation.records, warn('change log not pruned'));
    closers.push(() => log.close());
    const pruning = startRevisionPruning(services.revisions, warn('revisions not pruned'));
    closers.push(() => pruning.close());
    const node = resolveNodeId(settings, installation.directory);
    const sender = startSending({ ...services, ...environment }, node);
    const portalWork = startPortalWork({ ...services, ...environment, node });
    const schemaUpdates = startSchemaUpdates({ ...services, ...environment, settings, nodeId: node });
    closers.push(() => Promise.all([sender.close(), portalWork.close(), schemaUpdates.close()]));
    const files = await startConfigurationFiles({ ...environment, services, directory: settings.from });
    closers.push(() => files?.close());
    const { urls, dataPlane, drain, describeNode } = await openListeners(settings, environment, installation, closers);
    const heartbeat = startHeartbeat({
      ...services,
      describeNode,
      onError: warn('heartbeat not written'),
    });
    closers.push(() => heartbeat.close());
    if (settings['database.url']) dataPlane.onConfigLoaded(heartbeat.reportRevision);
    installation.directory.write(listeningFile, `${JSON.stringify(describeListening(settings, urls), null, 2)}\n`);
    closers.push(() => installation.directory.remove(listeningFile));
    if (pendingDatabase) {
      const attempt = async () => {
        await pendingDatabase.connect();
        await seedDatabase(installation, settings, environment);
        await dataPlane.onDatabaseAvailable();
      };
      const { retryUntilConnected } = await import('#gateway/runtime/config-backup/connect-retry.ts');
      const retry = retryUntilConnected({ attempt, log: environment.log });
      closers.push(() => retry.close());
    }
    if (installation.directory.isOpenToOthers)
      environment.log.warn({ path: installation.directory.path }, 'data directory is open to other users: chmod 700');
    return { credentials, urls, installation, waitForDataPlane: dataPlane.waitUntilCurrent, drain, close };
  } catch (error) {
    await close();
    throw error;
  }
}

const openDataPlane = (
  settings: Settings,
  environment: AppEnvironment,
  installation: Installation,
  oauth: ReturnType<typeof createOauthProvider>,
  pluginFunctions: PluginRpc,
): DataPlane =>
  createDataPlane({
    ...installation,
    ...environment,
    settings,
    database: selectDatabase(settings, installation.directory),
    oauth,
    pluginFunctions,
    version,
    nodeId: readNodeId(settings, installation.directory),
    managementPorts: installation.services.managementPorts,
  });

const openPluginHost = (environment: AppEnvironment, services: Installation['services']) =>
  createPluginHost({ ...services, ...environment, writeAudit: createAuditWriter(services.audit, environment.log) });

/** Opens the management listeners, then the traffic threads; both use the data plane, which exists before either. */
async function openListeners(
  settings: Settings,
  environment: AppEnvironment,
  installation: Installation,
  closers: (() => unknown)[],
) {
  const { services, records, shared: engine } = installation;
  const urls: Partial<Record<ListenerName, string>> = {};
  const state = { isReady: false };
  const stops: (() => Promise<unknown>)[] = [];
  closers.push(() => {
    state.isReady = false;
    return Promise.all(stops.map(stop => stop()));
  });
  const oauth = createOauthProvider({ ...services, log: environment.log });
  closers.push(() => oauth.close());
  const plugins = openPluginHost(environment, services);
  const dataPlane = openDataPlane(settings, environment, installation, oauth, plugins.functions);
  stops.push(dataPlane.close, plugins.close, async () => services.eventStreams.close());
  const id = readNodeId(settings, installation.directory);
  const sharesDatabase = Boolean(settings['database.url']);
  const node = startNodeMonitor({ ...environment, ...engine, id, settings, version, records, dataPlane });
  const shared = createListenerOptions(settings, environment, {
    ...services,
    ...createSystemServices(node, services),
    traffic: createDataPlaneControl(dataPlane),
    grantConsent: createConsent({ ...services, provider: oauth }),
    ...createInspectServices(dataPlane, environment.clock),
    ...createUrlServices(settings, urls),
    waitUntilApplied: createAppliedWait({ ...services, ...environment, ...node, dataPlane, sharesDatabase }),
  });
  const health = createHealth({ ...environment, settings, records, version, ...engine }, () => state.isReady);
  const sources = { ...environment, ...services, ...engine, health, dataPlane };
  const metrics = startMetricsExport({ ...sources, version, nodeId: id });
  closers.push(node.close, metrics.close);
  for (const listener of selectManagementListeners(settings)) {
    const tls = createListenerTls(settings, listener.name === 'control', environment.log);
    const webApp = listener.name === 'dashboard' ? environment.webApp : undefined;
    const site = listener.name === 'portal' ? openSite(shared, environment) : undefined;
    const { surfaces } = listener;
    const app = createManagementListener({ ...shared, surfaces, tls, webApp, respondUnknown: site?.respondUnknown });
    addHealthRoutes(app, health);
    const listUrls = () => listPublicUrls(settings, urls);
    addLandingRoutes(app, { surfaces, health, listUrls, webApp, hasSite: site !== undefined });
    site?.addRoutes(app, environment.webApp);
    if (listener.name !== 'portal') addMetricsRoute(app, { ...shared, settings, ...metrics });
    if (listener.name === 'dashboard') addDashboardRoutes(app, { ...shared, settings, listUrls });
    stops.push(() => app.close());
    const opened = await openManagementListener(app, listener, tls ? 'https' : 'http');
    services.managementPorts.push(opened.port);
    urls[listener.name] = opened.url;
  }
  if (servesTraffic(settings)) {
    const address = await dataPlane.start(createInjector(shared));
    const scheme = settings['gateway.tls.enabled'] ? 'https' : 'http';
    urls.gateway = formatListenerUrl(settings['gateway.host'], address, scheme);
  }
  state.isReady = true;
  return { urls, dataPlane, drain: () => startDraining(state, dataPlane), describeNode: node.describeNode };
}

const createSystemServices = (
  { describeNode }: ReturnType<typeof startNodeMonitor>,
  { deliveries, portal }: Installation['services'],
) => ({
  describeNode,
  /** Queues that outlive a process, of all organisations. */
  readQueues: async (): Promise<SystemQueue[]> => [
    { name: 'webhooks', ...(await deliveries.readQueue()) },
    { name: 'portal_mails', ...(await portal.mails.readQueue()) },
  ],
});

function startDraining(state: { isReady: boolean }, dataPlane: DataPlane): void {
  state.isReady = false;
  dataPlane.drain();
}

const openSite = (shared: ReturnType<typeof createListenerOptions>, environment: AppEnvironment) =>
  createPortalSite({ ...shared, ...shared.services, ...environment, ...openTokenVerifier(shared.services) });

const openTokenVerifier = (services: Parameters<typeof createLazyTokenVerifier>[0]) => ({
  verifySignedToken: createLazyTokenVerifier(services),
});

/** Routes for browsers (single sign-on and pages) and for agents. */
function addDashboardRoutes(
  app: FastifyInstance,
  shared: ReturnType<typeof createListenerOptions> & Pick<ManagementMcpOptions, 'settings' | 'listUrls'>,
): void {
  const { services } = shared;
  addSignOnRoutes(app, { ...shared, ...services, ...openTokenVerifier(services) });
  addPageRoutes(app, { ...shared, pages: [resetPage] });
  if (shared.settings['mcp.management.enabled']) loadManagementMcp().addManagementMcpRoute(app, shared);
}

type CatalogueServices = ServicesOf<typeof catalogue> & Installation['services'];

/** Options that all management listeners share. */
function createListenerOptions(
  settings: Settings,
  { log, clock }: AppEnvironment,
  services: Omit<CatalogueServices, 'log' | 'version' | 'appliedWaits'> & {
    readonly waitUntilApplied: WaitUntilApplied;
  },
) {
  const writeAudit = createAuditWriter(services.audit, log);
  const maxFailures = settings['management.max_auth_failures_per_minute'];
  const appliedWaits = createAppliedWaits(services.waitUntilApplied, settings['management.max_waiting_writes']);
  return {
    operations: catalogue,
    services: { ...services, log, version, appliedWaits },
    authenticate: createAuthenticators(services.users, services.resolveActor, services.secrets),
    authenticateSession: createSessionAuthenticators(services),
    writeAudit,
    refuseHidden: services.ownership.rejectHidden,
    enforceRules: services.rules.enforceForActor,
    log,
    version,
    maxBodyBytes: settings['management.max_body_bytes'],
    maxBulkBodyBytes: settings['management.max_bulk_body_bytes'],
    bulkBodies: createBulkBodyLimit(settings['management.max_bulk_body_bytes']),
    unknownMembers: settings['management.unknown_members'],
    failures: createAuthFailureLimit(maxFailures, clock, createRejectionReport(writeAudit, log)),
    trustedProxies: settings['management.trusted_proxies'],
    hstsSeconds: settings['management.hsts_seconds'],
    validateResponses: settings['management.validate_responses'],
    ...(settings.from ? { rejectWrite: rejectConfigurationWrite } : {}),
    runOnce: createRunOnce(services),
    appliedWaits,
    hashVersion: (text: string) => services.vault.digest(text, 'object version'),
  };
}
