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
import { type WatchOptions, watchCertificates } from './certificate-expiry-monitor.ts';
import { knownFile } from './config-backup/config-backup.ts';
import type { AwaitedDatabase } from './config-backup/open-database.ts';
import { startThreads, type ThreadsOptions } from './threads.ts';

type Tools = Omit<Parameters<typeof createCollector>[0] & Omit<WatchOptions, 'settings' | 'log'>, 'log'> & {
  events: Dispatch;
  secrets: InstallationSecrets;
};

export interface TrafficOptions extends Pick<ThreadsOptions, 'database' | 'version' | 'writeLog' | 'managementPorts'> {
  readonly directory: DataDirectory;
  readonly dataKey: Buffer;
  /** There while the database has not answered since the start. */
  readonly awaited?: AwaitedDatabase | undefined;
  readonly settings: Settings;
  readonly records: Records;
  readonly shared: SharedEngine;
  readonly counters: CounterPersistence;
  readonly tools: Tools;
  readonly control: Inject;
  readonly oauth: Pick<OauthProvider, 'answer'>;
  readonly log: Log;
  readonly threadProgram?: URL | undefined;
  readonly prepared?: ThreadsOptions['prepared'];
}

/** The traffic threads, told of every change as soon as it is committed, here or by another process. */
export async function openTraffic(options: TrafficOptions) {
  const { settings, records, shared, counters, tools, log, database, dataKey, version, writeLog } = options;
  if (!options.awaited) await counters.start();
  const recorded = createCollector({ ...tools, log });
  const starting = startThreads({
    settings,
    database,
    shared: shared.threads.buffer,
    dataKey,
    known: options.awaited?.known,
    host: settings['gateway.host'],
    port: settings['gateway.port'],
    count: threadCount(settings),
    prepared: options.prepared,
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
        { ...placeOf(detail), event, atMs: tools.clock.now(), detail: { ...detail, request } },
        handlers,
      );
    },
    onUntold: tools.events.countDropped,
    onReport: recorded.receive,
    onEnded: recorded.removeThread,
  });
  const threads = await starting.catch(async error => {
    await recorded.close();
    await counters.close();
    throw error;
  });
  const closers: (() => Promise<void>)[] = [];
  /** What only a database that is there makes sense for. */
  async function follow(): Promise<void> {
    const certificates = watchCertificates({ ...tools, settings, log });
    closers.push(certificates.close);
    closers.push(await keepingKnown({ ...options, clock: tools.clock }));
  }
  if (!options.awaited) await follow();
  const refresh = () =>
    void threads.refresh().catch(error => log.warn({ reason: error.message }, 'traffic threads are behind'));
  const onLost = (error: Error) => log.warn({ reason: error.message }, 'changes by others are heard of later');
  const forget = records.onChange(refresh);
  const notices = database.url
    ? (await import('#storage/pg-notify.ts')).listenForChanges({ url: database.url, onChange: refresh, onLost })
    : undefined;
  return {
    port: threads.port,
    settled: () => threads.refresh(),
    /** The database that was awaited is there. */
    async arrived(): Promise<void> {
      await counters.start();
      threads.arrived();
      await follow();
    },
    drain: threads.drain,
    metrics: () => recorded.families(threads),
    ask: threads.ask,
    askAll: threads.askAll,
    async close() {
      forget();
      for (const closer of closers) await closer();
      await notices?.close();
      await threads.close();
      await recorded.close();
      await counters.close();
    },
  };
}

/** With SQLite the database is a file beside it: there is nothing to keep. */
async function keepingKnown(
  options: Pick<TrafficOptions, 'settings' | 'directory' | 'database' | 'dataKey' | 'log'> & { clock: Clock },
) {
  const { settings, directory, database, dataKey, log, clock } = options;
  if (!database.url || !settings['database.config_backup']) {
    directory.remove(knownFile);
    return async () => undefined;
  }
  const { startKeeping } = await import('./config-backup/backup-writer.ts');
  const keeper = await startKeeping({ url: database.url, path: directory.pathOf(knownFile), dataKey, clock, log });
  return keeper.close;
}

const placeOf = ({ org_id, api_id }: Readonly<Record<string, unknown>>) => ({
  orgId: typeof org_id === 'string' ? org_id : '',
  apiId: typeof api_id === 'string' ? api_id : '',
});
