import type { Worker } from 'node:worker_threads';
import type { ThreadReport } from '#analytics/metrics-report.ts';
import type { Log } from '#base/log.ts';
import { problems } from '#base/problems.ts';
import {
  problem as asksProblem,
  createRpcClient,
  createRpcServer,
  type RpcBroadcast,
  type RpcCall,
} from '../pipeline/thread-rpc.ts';
import type { EmittedEvent } from '../recording/event-emitter.ts';
import { createPortClaims } from '../server/port-claims.ts';
import type { MainThreadRpc } from '../steps/step-services.ts';
import { type PreloadedThread, preloadThread } from './preload-thread.ts';
import type { MessageToMain, MessageToThread, ThreadData, TrafficThreadRpc } from './thread.ts';
import { validateTrafficSettings } from './validate-settings.ts';

export const problem = problems('data_plane', {
  port_taken: {
    status: 500,
    message: 'Port {port} on {host} is taken: stop what listens there, or set GW_GATEWAY_PORT',
  },
  cannot_listen: { status: 500, message: 'Cannot listen on {host}:{port}: {reason}' },
  config_not_loaded: {
    status: 503,
    message:
      'Traffic is served as it was, without the newest changes: {reason}. They are read as soon as that works again',
  },
});

export interface ThreadsOptions extends Omit<ThreadData, 'reusePort' | 'port' | 'known'> {
  /** What a thread that starts now serves at first, while the database is not there. */
  readonly known?: (() => ThreadData['known']) | undefined;
  readonly port: number;
  readonly count: number;
  /** Threads that have begun to load. */
  readonly prepared?: readonly PreloadedThread[] | undefined;
  readonly log: Log;
  /** The program of a thread, where it is not the usual one. */
  readonly program?: URL | undefined;
  /** Where the log lines of threads go; standard error unless said. */
  readonly writeLog?: ((lines: string) => void) | undefined;
  /** What traffic threads may ask of this one. */
  readonly answers: Omit<MainThreadRpc, 'claimPort' | 'releasePort'>;
  readonly onEvent: (told: EmittedEvent) => void;
  /** Events that were dropped before they came here. */
  readonly onEventsDropped: (count: number) => void;
  /** What a thread has counted and written down. */
  readonly onReport: (thread: number, report: ThreadReport) => void;
  readonly onThreadExit: (thread: number) => void;
}

/** Traffic threads of one process. */
export interface Threads {
  readonly port: number;
  readonly count: number;
  readonly running: number;
  /** How often one ended by itself and was replaced. */
  readonly restarts: number;
  /**
   * Tells every thread to look for changes; resolves when all of them serve what was committed before the call, and
   * rejects when one of them cannot, or takes too long. It goes on trying by itself.
   */
  refresh(): Promise<void>;
  /** The database is there: what was known before the start is needed no more. */
  notifyDatabaseAvailable(): void;
  /** `/ready` says 503 from now on; traffic is served on. */
  drain(): void;
  /** Asks one of them. */
  readonly ask: RpcCall<TrafficThreadRpc>;
  /** Asks every one of them. */
  readonly askAll: RpcBroadcast<TrafficThreadRpc>;
  close(): Promise<void>;
}

/** A thread that dies at once, again and again, is not restarted faster than this. */
const restartDelayMs = 1000;
/** Reading changes takes milliseconds; whoever waits for it is told when it does not. */
const refreshTimeoutMs = 10_000;
/** What is asked of a thread from outside must not keep it from its traffic. */
const maxPendingCalls = 32;

/** Holds the gateway's own port for as long as the process runs, whatever becomes of its threads. */
const processClaim = 0;

interface TrafficThread {
  readonly worker: Worker;
  /** Those who wait for it to have read changes, to be told what kept it from that. */
  readonly pendingRefreshes: Map<number, (fault?: string) => void>;
  readonly rpcClient: ReturnType<typeof createRpcClient<TrafficThreadRpc>>;
  readonly exited: Promise<void>;
}

export async function startThreads(options: ThreadsOptions): Promise<Threads> {
  validateTrafficSettings(options.settings);
  const { count } = options;
  const preloaded = [...(options.prepared ?? [])];
  const threads = new Set<TrafficThread>();
  const ports = createPortClaims(options.host);
  let isClosing = false;
  let port = options.port;
  let lastRefreshId = 0;
  let restarts = 0;

  async function start(): Promise<void> {
    const {
      log,
      onEvent,
      onEventsDropped: onUntold,
      onReport,
      onThreadExit: onEnded,
      answers,
      count: _count,
      prepared: _prepared,
      ...rest
    } = options;
    const { program, writeLog, known, ...data } = rest;
    const { worker, startPort: begin } =
      preloaded.shift() ?? preloadThread({ program, capturesLog: writeLog !== undefined });
    worker.ref();
    begin.postMessage({ ...data, known: known?.(), port, reusePort: count > 1 } satisfies ThreadData);
    if (writeLog) worker.stderr.on('data', lines => writeLog(String(lines)));
    const exited = new Promise<void>(resolve => worker.once('exit', () => resolve()));
    const asking = createRpcClient<TrafficThreadRpc>(
      question => worker.postMessage(question satisfies MessageToThread),
      maxPendingCalls,
    );
    const id = worker.threadId;
    const all: MainThreadRpc = {
      ...answers,
      claimPort: ({ port: wanted }) => ports.claim(id, wanted),
      releasePort: async ({ port: left }) => ports.release(id, left),
    };
    const answer = createRpcServer({ ...all }, reply => worker.postMessage(reply));
    const thread: TrafficThread = { worker, pendingRefreshes: new Map(), rpcClient: asking, exited };
    threads.add(thread);
    worker.on('error', error => log.error({ err: error }, 'a traffic thread crashed'));
    exited.then(() => {
      threads.delete(thread);
      ports.releaseAll(id);
      onEnded(id);
      for (const done of [...thread.pendingRefreshes.values()]) done();
      asking.rejectAll();
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
          thread.pendingRefreshes.get(message.ask)?.(message.fault);
        } else if (message.kind === 'reply') asking.receive(message);
        else if (message.kind === 'ask') void answer(message);
        else if (message.kind === 'report') {
          onReport(id, message.report);
          if (message.report.batch || message.report.uptimeResults)
            worker.postMessage({ kind: 'taken' } satisfies MessageToThread);
        } else if (message.kind === 'untold') onUntold(message.count);
        else if (message.kind === 'event') onEvent(message);
        // Anything else is Node's own: in watch mode a thread reports the files it loads through the same port.
      });
      exited.then(() => reject(createListenProblem(options.host, port, '', 'the traffic thread ended')));
    });
  }

  function replace(): void {
    if (isClosing) return;
    restarts++;
    start().catch(error => options.log.error({ err: error }, 'a traffic thread could not be replaced'));
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
    // The first one finds out which port it is, and whether it can be had; the others then start together.
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
    async refresh() {
      const ask = ++lastRefreshId;
      await Promise.all([...threads].map(thread => refreshThread(thread, ask)));
    },
    notifyDatabaseAvailable() {
      for (const { worker } of threads) worker.postMessage({ kind: 'arrived' } satisfies MessageToThread);
    },
    drain() {
      for (const { worker } of threads) worker.postMessage({ kind: 'drain' } satisfies MessageToThread);
    },
    ask(name, given, withinMs) {
      const [first] = threads;
      return first ? first.rpcClient.call(name, given, withinMs) : Promise.reject(asksProblem.no_threads());
    },
    askAll(name, given, withinMs) {
      if (threads.size === 0) return Promise.reject(asksProblem.no_threads());
      return Promise.all([...threads].map(({ rpcClient: asking }) => asking.call(name, given, withinMs)));
    },
    close,
  };
}

function refreshThread({ worker, pendingRefreshes: answered }: TrafficThread, refreshId: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (reason?: string) => {
      clearTimeout(timer);
      answered.delete(refreshId);
      if (reason === undefined) resolve();
      else reject(problem.config_not_loaded({ detail: { reason } }));
    };
    const timer = setTimeout(settle, refreshTimeoutMs, `a thread has not answered for ${refreshTimeoutMs} ms`);
    answered.set(refreshId, settle);
    worker.postMessage({ kind: 'changed', ask: refreshId } satisfies MessageToThread);
  });
}

function createListenProblem(host: string, port: number, code: string, reason: string) {
  if (code === 'EADDRINUSE') return problem.port_taken({ detail: { host, port } });
  return problem.cannot_listen({ detail: { host, port, reason } });
}
