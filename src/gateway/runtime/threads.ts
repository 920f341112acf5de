import type { Worker } from 'node:worker_threads';
import type { ThreadReport } from '#analytics/metrics-report.ts';
import type { Log } from '#base/log.ts';
import { problems } from '#base/problems.ts';
import { readThreadNiceness } from '#base/process.ts';
import {
  createRpcClient,
  createRpcServer,
  type RpcBroadcast,
  type RpcCall,
  problem as rpcProblem,
} from '../pipeline/thread-rpc.ts';
import type { EmittedEvent } from '../recording/event-emitter.ts';
import { createPortClaims } from '../server/port-claims.ts';
import type { MainThreadRpc } from '../steps/step-services.ts';
import type { SpanReport } from '../tracing/request-tracer.ts';
import { type PreloadedThread, preloadThread } from './preload-thread.ts';
import type { MessageToMain, MessageToThread, ServedConfig, ThreadData } from './thread.ts';
import type { TrafficThreadRpc } from './thread-rpc.ts';
import { validateTrafficSettings } from './validate-settings.ts';

export const problem = problems('data_plane', {
  port_taken: {
    status: 500,
    message: 'Port {port} on {host} is in use: stop the process that listens there, or set GW_GATEWAY_PORT',
  },
  cannot_listen: { status: 500, message: 'Cannot listen on {host}:{port}: {reason}' },
  config_not_loaded: {
    status: 503,
    message:
      'The newest configuration changes are not loaded yet: {reason}. Traffic uses the previous configuration until a retry succeeds',
  },
});

export interface ThreadsOptions extends Omit<ThreadData, 'reusePort' | 'port' | 'configBackup' | 'niceness'> {
  /** Config backup for a thread started while the database is unavailable. */
  readonly configBackup?: (() => ThreadData['configBackup']) | undefined;
  readonly port: number;
  readonly count: number;
  /** Preloaded threads. */
  readonly preloadedThreads?: readonly PreloadedThread[] | undefined;
  readonly log: Log;
  /** Replaces the thread program. */
  readonly program?: URL | undefined;
  /** Receives log lines of threads; standard error by default. */
  readonly writeLog?: ((lines: string) => void) | undefined;
  /** RPC handlers for the traffic threads. */
  readonly answers: Omit<MainThreadRpc, 'claimPort' | 'releasePort'>;
  readonly onEvent: (event: EmittedEvent) => void;
  /** Receives the number of events dropped by a thread's rate limit. */
  readonly onEventsDropped: (count: number) => void;
  /** Receives metrics and records of a thread. */
  readonly onReport: (thread: number, report: ThreadReport) => void;
  readonly onThreadExit: (thread: number) => void;
  /** Receives encoded spans of a thread. */
  readonly onSpans: (spans: SpanReport) => void;
  /** Called when a thread has loaded configuration, also without changes. */
  readonly onLoaded?: (() => void) | undefined;
}

/** Traffic threads of one process. */
export interface Threads {
  readonly port: number;
  readonly count: number;
  readonly running: number;
  /** Restarts after an unexpected exit. */
  readonly restarts: number;
  /** Oldest configuration that a thread serves; undefined until every thread has reported one. */
  readonly served: ServedConfig | undefined;
  /**
   * Refreshes every thread; resolves when all serve what was committed before the call, rejects when one fails or
   * times out. Threads retry by polling.
   */
  refresh(): Promise<void>;
  /** Refreshes every thread; resolves with the threads that do not serve it within the timeout, each with the reason. */
  refreshAndReport(): Promise<readonly string[]>;
  /** Switches all threads from the config backup to the database. */
  notifyDatabaseAvailable(): void;
  /** `/ready` returns 503 from now on; traffic continues. */
  drain(): void;
  /** Log rotation: every thread opens its access log again. */
  reopenLogs(): void;
  /** RPC to one thread. */
  readonly call: RpcCall<TrafficThreadRpc>;
  /** RPC to all threads. */
  readonly broadcast: RpcBroadcast<TrafficThreadRpc>;
  close(): Promise<void>;
}

/** Restart delay: bounds the rate of a crash loop. */
const restartDelayMs = 1000;
/** Refresh timeout: reading changes normally takes milliseconds. */
const refreshTimeoutMs = 10_000;
/** Pending RPCs per thread: management must not starve traffic. */
const maxPendingCalls = 32;

/** Claims the gateway's port for the whole process, independent of thread exits. */
const processClaim = 0;

interface TrafficThread {
  readonly worker: Worker;
  /** Callbacks of refreshes in progress, called with the error if one failed. */
  readonly pendingRefreshes: Map<number, (fault?: string) => void>;
  readonly rpcClient: ReturnType<typeof createRpcClient<TrafficThreadRpc>>;
  readonly exited: Promise<void>;
  served?: ServedConfig;
}

export async function startThreads(options: ThreadsOptions): Promise<Threads> {
  validateTrafficSettings(options.settings);
  const { count } = options;
  const preloaded = [...(options.preloadedThreads ?? [])];
  const threads = new Set<TrafficThread>();
  const ports = createPortClaims(options.host);
  const niceness = readThreadNiceness();
  let isClosing = false;
  let port = options.port;
  let lastRefreshId = 0;
  let restarts = 0;

  async function start(): Promise<void> {
    const {
      log,
      onEvent,
      onEventsDropped,
      onReport,
      onThreadExit,
      onSpans,
      onLoaded,
      answers,
      count: _count,
      preloadedThreads: _preloadedThreads,
      ...rest
    } = options;
    const { program, writeLog, configBackup, ...data } = rest;
    const { worker, startPort } = preloaded.shift() ?? preloadThread({ program, capturesLog: writeLog !== undefined });
    worker.ref();
    const own = { configBackup: configBackup?.(), port, reusePort: count > 1, niceness };
    startPort.postMessage({ ...data, ...own } satisfies ThreadData);
    if (writeLog) worker.stderr.on('data', lines => writeLog(String(lines)));
    const exited = new Promise<void>(resolve => worker.once('exit', () => resolve()));
    const rpcClient = createRpcClient<TrafficThreadRpc>(
      question => worker.postMessage(question satisfies MessageToThread),
      maxPendingCalls,
    );
    const id = worker.threadId;
    const all: MainThreadRpc = {
      ...answers,
      claimPort: ({ port }) => ports.claim(id, port),
      releasePort: async ({ port: left }) => ports.release(id, left),
    };
    const answer = createRpcServer({ ...all }, reply => worker.postMessage(reply));
    const thread: TrafficThread = { worker, pendingRefreshes: new Map(), rpcClient, exited };
    threads.add(thread);
    worker.on('error', error => log.error({ err: error }, 'traffic thread crashed'));
    exited.then(() => {
      threads.delete(thread);
      ports.releaseAll(id);
      onThreadExit(id);
      for (const done of [...thread.pendingRefreshes.values()]) done();
      rpcClient.rejectAll();
      if (!isClosing) setTimeout(replace, restartDelayMs);
    });
    await new Promise<void>((resolve, reject) => {
      worker.on('message', (message: MessageToMain) => {
        if (message.kind === 'listening') {
          port = message.port;
          resolve();
        } else if (message.kind === 'failed')
          reject(createListenProblem(options.host, port, message.code, message.message));
        else if (message.kind === 'loaded') {
          thread.served = message.served;
          thread.pendingRefreshes.get(message.refreshId)?.(message.fault);
          onLoaded?.();
        } else if (message.kind === 'rpc-response') rpcClient.receive(message);
        else if (message.kind === 'rpc-request') void answer(message);
        else if (message.kind === 'report') {
          onReport(id, message.report);
          if (message.report.batch || message.report.uptimeResults)
            worker.postMessage({ kind: 'batch-accepted' } satisfies MessageToThread);
        } else if (message.kind === 'spans') {
          onSpans(message);
          worker.postMessage({ kind: 'spans-accepted' } satisfies MessageToThread);
        } else if (message.kind === 'events-dropped') onEventsDropped(message.count);
        else if (message.kind === 'event') onEvent(message);
        // Anything else is Node's own: in watch mode a thread reports the files it loads through the same port.
      });
      exited.then(() => reject(createListenProblem(options.host, port, '', 'the traffic thread ended')));
    });
  }

  function replace(): void {
    if (isClosing) return;
    restarts++;
    start().catch(error => options.log.error({ err: error }, 'traffic thread not restarted'));
  }

  async function close(): Promise<void> {
    isClosing = true;
    const all = [...threads];
    for (const { worker } of all) worker.postMessage({ kind: 'stop' } satisfies MessageToThread);
    await Promise.all(all.map(thread => thread.exited));
  }

  try {
    // One thread alone binds exclusively by itself.
    if (count > 1 && port !== 0)
      await ports.claim(processClaim, port).catch(error => {
        throw createListenProblem(options.host, port, error.code ?? '', error.message);
      });
    // The first thread binds and reports the port; the others then start concurrently.
    await start();
    await Promise.all(Array.from({ length: count - 1 }, start));
  } catch (error) {
    isClosing = true;
    await Promise.all(preloaded.map(({ worker }) => worker.terminate()));
    await Promise.all([...threads].map(({ worker }) => worker.terminate()));
    throw error;
  }

  return {
    get port() {
      return port;
    },
    count,
    get running() {
      return threads.size;
    },
    get restarts() {
      return restarts;
    },
    get served() {
      return findOldestServed([...threads].map(thread => thread.served));
    },
    async refresh() {
      const refreshId = ++lastRefreshId;
      await Promise.all([...threads].map(thread => refreshThread(thread, refreshId)));
    },
    async refreshAndReport() {
      const refreshId = ++lastRefreshId;
      const refreshed = [...threads];
      const results = await Promise.allSettled(refreshed.map(thread => refreshThread(thread, refreshId)));
      return results.flatMap((result, at) =>
        result.status === 'rejected'
          ? [`thread ${refreshed[at]!.worker.threadId} of this process: ${(result.reason as Error).message}`]
          : [],
      );
    },
    notifyDatabaseAvailable() {
      for (const { worker } of threads) worker.postMessage({ kind: 'database-available' } satisfies MessageToThread);
    },
    drain() {
      for (const { worker } of threads) worker.postMessage({ kind: 'drain' } satisfies MessageToThread);
    },
    reopenLogs() {
      for (const { worker } of threads) worker.postMessage({ kind: 'reopen-logs' } satisfies MessageToThread);
    },
    call(name, given, timeoutMs) {
      const [first] = threads;
      return first ? first.rpcClient.call(name, given, timeoutMs) : Promise.reject(rpcProblem.no_threads());
    },
    broadcast(name, given, timeoutMs) {
      if (threads.size === 0) return Promise.reject(rpcProblem.no_threads());
      return Promise.all([...threads].map(({ rpcClient }) => rpcClient.call(name, given, timeoutMs)));
    },
    close,
  };
}

function findOldestServed(all: readonly (ServedConfig | undefined)[]): ServedConfig | undefined {
  const reported = all.filter(it => it !== undefined);
  if (reported.length < all.length || reported.length === 0) return undefined;
  return reported.reduce((oldest, it) => (it.revision < oldest.revision ? it : oldest));
}

function refreshThread({ worker, pendingRefreshes }: TrafficThread, refreshId: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (reason?: string) => {
      clearTimeout(timer);
      pendingRefreshes.delete(refreshId);
      if (reason === undefined) resolve();
      else reject(problem.config_not_loaded({ detail: { reason } }));
    };
    const timer = setTimeout(
      settle,
      refreshTimeoutMs,
      `a traffic thread did not respond within ${refreshTimeoutMs} ms`,
    );
    pendingRefreshes.set(refreshId, settle);
    worker.postMessage({ kind: 'config-changed', refreshId } satisfies MessageToThread);
  });
}

function createListenProblem(host: string, port: number, code: string, reason: string) {
  if (code === 'EADDRINUSE') return problem.port_taken({ detail: { host, port } });
  return problem.cannot_listen({ detail: { host, port, reason } });
}
