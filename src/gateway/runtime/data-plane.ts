import { createCollector } from '#analytics/collector.ts';
import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import type { Settings } from '#base/settings.ts';
import type { Dispatch } from '#events/dispatch.ts';
import type { Inject } from '#operations/in-process-request.ts';
import type { InstallationSecrets } from '#people/installation/secrets.ts';
import type { CounterPersistence } from '#storage/counter-persistence.ts';
import type { DataDirectory } from '#storage/data-directory.ts';
import type { Records } from '#storage/records.ts';
import type { SharedEngine } from '#storage/shared/engine.ts';
import type { OauthProvider } from '../auth/oauth/provider.ts';
import { threadCount } from '../pipeline/thread-count.ts';
import { type ExpiryMonitorOptions, startCertificateExpiryMonitor } from './certificate-expiry-monitor.ts';
import { backupFileName } from './config-backup/config-backup.ts';
import type { PendingDatabase } from './config-backup/with-database.ts';
import { startThreads, type ThreadsOptions } from './threads.ts';

type DataPlaneServices = Omit<
  Parameters<typeof createCollector>[0] & Omit<ExpiryMonitorOptions, 'settings' | 'log'>,
  'log'
> & {
  events: Dispatch;
  secrets: InstallationSecrets;
};

export interface DataPlaneOptions
  extends Pick<ThreadsOptions, 'database' | 'version' | 'writeLog' | 'managementPorts'> {
  readonly directory: DataDirectory;
  readonly dataKey: Buffer;
  /** Set while the database has been unavailable since the start. */
  readonly pendingDatabase?: PendingDatabase | undefined;
  readonly settings: Settings;
  readonly records: Records;
  readonly shared: SharedEngine;
  readonly counters: CounterPersistence;
  readonly tools: DataPlaneServices;
  readonly control: Inject;
  readonly oauth: Pick<OauthProvider, 'answer'>;
  readonly log: Log;
  readonly threadProgram?: URL | undefined;
  readonly preloadedThreads?: ThreadsOptions['preloadedThreads'];
}

/** Starts the traffic threads and refreshes them on every committed change, of this or another process. */
export async function startDataPlane(options: DataPlaneOptions) {
  const { settings, records, shared, counters, tools, log, database, dataKey, version, writeLog } = options;
  if (!options.pendingDatabase) await counters.start();
  const collector = createCollector({ ...tools, log });
  const starting = startThreads({
    settings,
    database,
    shared: shared.threads.buffer,
    dataKey,
    configBackup: options.pendingDatabase?.backup,
    host: settings['gateway.host'],
    port: settings['gateway.port'],
    count: threadCount(settings),
    preloadedThreads: options.preloadedThreads,
    version,
    managementPorts: options.managementPorts,
    log,
    program: options.threadProgram,
    writeLog,
    answers: {
      oauth: options.oauth.answer,
      explains: ({ secret }) => tools.secrets.matches('gateway', secret),
      control: options.control,
    },
    onEvent({ event, detail, handlers, request }) {
      log.info({ event, ...detail }, 'traffic event');
      tools.events.emit(
        { ...readEventSubject(detail), event, atMs: tools.clock.now(), detail: { ...detail, request } },
        handlers,
      );
    },
    onEventsDropped: tools.events.countDropped,
    onReport: collector.receive,
    onThreadExit: collector.removeThread,
  });
  const threads = await starting.catch(async error => {
    await collector.close();
    await counters.close();
    throw error;
  });
  const closers: (() => Promise<void>)[] = [];
  /** Background tasks that need the database. */
  async function startDatabaseTasks(): Promise<void> {
    const certificates = startCertificateExpiryMonitor({ ...tools, settings, log });
    closers.push(certificates.close);
    closers.push(await startConfigBackup({ ...options, clock: tools.clock }));
  }
  if (!options.pendingDatabase) await startDatabaseTasks();
  const refresh = () =>
    void threads.refresh().catch(error => log.warn({ reason: error.message }, 'traffic threads not refreshed'));
  const onLost = (error: Error) =>
    log.warn({ reason: error.message }, 'LISTEN connection lost, falling back to polling');
  const unsubscribe = records.onChange(refresh);
  const notifications = database.url
    ? (await import('#storage/pg-notify.ts')).listenForChanges({ url: database.url, onChange: refresh, onLost })
    : undefined;
  return {
    port: threads.port,
    waitUntilCurrent: () => threads.refresh(),
    /** Switches from the config backup to the database. */
    async onDatabaseAvailable(): Promise<void> {
      await counters.start();
      threads.notifyDatabaseAvailable();
      await startDatabaseTasks();
    },
    drain: threads.drain,
    metrics: () => collector.families(threads),
    call: threads.call,
    broadcast: threads.broadcast,
    async close() {
      unsubscribe();
      for (const closer of closers) await closer();
      await notifications?.close();
      await threads.close();
      await collector.close();
      await counters.close();
    },
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
  const { startBackupWriter: startKeeping } = await import('./config-backup/backup-writer.ts');
  const keeper = await startKeeping({ url: database.url, path: directory.pathOf(backupFileName), dataKey, clock, log });
  return keeper.close;
}

const readEventSubject = ({ org_id, api_id }: Readonly<Record<string, unknown>>) => ({
  orgId: typeof org_id === 'string' ? org_id : '',
  apiId: typeof api_id === 'string' ? api_id : '',
});
