import { recordTraffic } from '#analytics/traffic.ts';
import type { Log } from '#base/log.ts';
import type { Settings } from '#base/settings.ts';
import type { Dispatch } from '#events/dispatch.ts';
import type { KeptCounters } from '#storage/kept-counters.ts';
import type { Records } from '#storage/records.ts';
import type { SharedEngine } from '#storage/shared-engine.ts';
import { oauthProvider } from './auth/oauth/provider.ts';
import { type WatchOptions, watchCertificates } from './certificate-watch.ts';
import { threadCount } from './thread-count.ts';
import { startThreads, type ThreadsOptions } from './threads.ts';

type Tools = Omit<
  Parameters<typeof oauthProvider>[0] & Parameters<typeof recordTraffic>[0] & Omit<WatchOptions, 'settings' | 'log'>,
  'log'
> & {
  events: Dispatch;
};

export interface TrafficOptions extends Pick<ThreadsOptions, 'database' | 'dataKey' | 'version' | 'writeLog'> {
  readonly settings: Settings;
  readonly records: Records;
  readonly shared: SharedEngine;
  readonly counters: KeptCounters;
  readonly tools: Tools;
  readonly log: Log;
  readonly threadProgram?: URL | undefined;
  readonly prepared?: ThreadsOptions['prepared'];
}

/** The traffic threads, told of every change as soon as it is committed, here or by another process. */
export async function openTraffic(options: TrafficOptions) {
  const { settings, records, shared, counters, tools, log, database, dataKey, version, writeLog } = options;
  const provider = oauthProvider({ ...tools, log });
  await counters.start();
  const recorded = recordTraffic({ ...tools, log });
  const starting = startThreads({
    settings,
    database,
    shared: shared.threads.buffer,
    dataKey,
    host: settings['gateway.host'],
    port: settings['gateway.port'],
    count: threadCount(settings),
    prepared: options.prepared,
    version,
    log,
    program: options.threadProgram,
    writeLog,
    answers: {
      oauth: provider.answer,
      explains: ({ secret }) => tools.secrets.matches('gateway', secret),
    },
    onEvent({ event, detail, handlers, request }) {
      log.info({ event, ...detail }, 'traffic event');
      tools.events.take(
        { ...placeOf(detail), event, atMs: tools.clock.now(), detail: { ...detail, request } },
        handlers,
      );
    },
    onUntold: tools.events.dropped,
    onReport: recorded.take,
    onEnded: recorded.threadEnded,
  });
  const threads = await starting.catch(async error => {
    await recorded.close();
    await counters.close();
    throw error;
  });
  const certificates = watchCertificates({ ...tools, settings, log });
  const refresh = () =>
    void threads.refresh().catch(error => log.warn({ reason: error.message }, 'traffic threads are behind'));
  const onLost = (error: Error) => log.warn({ reason: error.message }, 'changes by others are heard of later');
  const forget = records.onTouched(refresh);
  const notices = database.url
    ? (await import('#storage/notices.ts')).hearChanges({ url: database.url, onChange: refresh, onLost })
    : undefined;
  return {
    port: threads.port,
    settled: () => threads.refresh(),
    metrics: () => recorded.families(threads),
    ask: threads.ask,
    askAll: threads.askAll,
    async close() {
      forget();
      await certificates.close();
      await notices?.close();
      provider.close();
      await threads.close();
      await recorded.close();
      await counters.close();
    },
  };
}

const placeOf = ({ org_id, api_id }: Readonly<Record<string, unknown>>) => ({
  orgId: typeof org_id === 'string' ? org_id : '',
  apiId: typeof api_id === 'string' ? api_id : '',
});
