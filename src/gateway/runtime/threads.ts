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
import { type Prepared, prepareThread } from './preload-thread.ts';
import type { Tells, ThreadData, Told, TrafficAnswers } from './thread.ts';
import { checkTrafficSettings } from './validate-settings.ts';

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
  readonly prepared?: readonly Prepared[] | undefined;
  readonly log: Log;
  /** The program of a thread, where it is not the usual one. */
  readonly program?: URL | undefined;
  /** Where the log lines of threads go; standard error unless said. */
  readonly writeLog?: ((lines: string) => void) | undefined;
  /** What traffic threads may ask of this one. */
  readonly answers: Omit<MainThreadRpc, 'claimPort' | 'releasePort'>;
  readonly onEvent: (told: EmittedEvent) => void;
  /** Events that were dropped before they came here. */
  readonly onUntold: (count: number) => void;
  /** What a thread has counted and written down. */
  readonly onReport: (thread: number, report: ThreadReport) => void;
  readonly onEnded: (thread: number) => void;
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
  arrived(): void;
  /** `/ready` says 503 from now on; traffic is served on. */
  drain(): void;
  /** Asks one of them. */
  readonly ask: RpcCall<TrafficAnswers>;
  /** Asks every one of them. */
  readonly askAll: RpcBroadcast<TrafficAnswers>;
  close(): Promise<void>;
}

/** A thread that dies at once, again and again, is not restarted faster than this. */
const restartPauseMs = 1000;
/** Reading changes takes milliseconds; whoever waits for it is told when it does not. */
const refreshWithinMs = 10_000;
/** What is asked of a thread from outside must not keep it from its traffic. */
const asksAtOnce = 32;

/** Holds the gateway's own port for as long as the process runs, whatever becomes of its threads. */
const processClaim = 0;

interface Thread {
  readonly worker: Worker;
  /** Those who wait for it to have read changes, to be told what kept it from that. */
  readonly answered: Map<number, (fault?: string) => void>;
  readonly asking: ReturnType<typeof createRpcClient<TrafficAnswers>>;
  readonly exited: Promise<void>;
}

export async function startThreads(options: ThreadsOptions): Promise<Threads> {
  checkTrafficSettings(options.settings);
  const { count } = options;
  const spare = [...(options.prepared ?? [])];
  const threads = new Set<Thread>();
  const ports = createPortClaims(options.host);
  let closing = false;
  let port = options.port;
  let asked = 0;
  let restarts = 0;

  async function start(): Promise<void> {
    const { log, onEvent, onUntold, onReport, onEnded, answers, count: _count, prepared: _prepared, ...rest } = options;
    const { program, writeLog, known, ...data } = rest;
    const { worker, begin } = spare.shift() ?? prepareThread({ program, readsLog: writeLog !== undefined });
    worker.ref();
    begin.postMessage({ ...data, known: known?.(), port, reusePort: count > 1 } satisfies ThreadData);
    if (writeLog) worker.stderr.on('data', lines => writeLog(String(lines)));
    const exited = new Promise<void>(resolve => worker.once('exit', () => resolve()));
    const asking = createRpcClient<TrafficAnswers>(question => worker.postMessage(question satisfies Told), asksAtOnce);
    const id = worker.threadId;
    const all: MainThreadRpc = {
      ...answers,
      claimPort: ({ port: wanted }) => ports.claim(id, wanted),
      releasePort: async ({ port: left }) => ports.release(id, left),
    };
    const answer = createRpcServer({ ...all }, reply => worker.postMessage(reply));
    const thread: Thread = { worker, answered: new Map(), asking, exited };
    threads.add(thread);
    worker.on('error', error => log.error({ err: error }, 'a traffic thread crashed'));
    exited.then(() => {
      threads.delete(thread);
      ports.releaseAll(id);
      onEnded(id);
      for (const done of [...thread.answered.values()]) done();
      asking.rejectAll();
      if (!closing) setTimeout(replace, restartPauseMs);
    });
    await new Promise<void>((resolve, reject) => {
      worker.on('message', (message: Tells) => {
        if (message.kind === 'listening') {
          port = message.port;
          resolve();
        } else if (message.kind === 'failed') reject(listenProblem(options.host, port, message.code, message.message));
        else if (message.kind === 'loaded') {
          thread.answered.get(message.ask)?.(message.fault);
        } else if (message.kind === 'reply') asking.receive(message);
        else if (message.kind === 'ask') void answer(message);
        else if (message.kind === 'report') {
          onReport(id, message.report);
          if (message.report.batch || message.report.uptimeResults)
            worker.postMessage({ kind: 'taken' } satisfies Told);
        } else if (message.kind === 'untold') onUntold(message.count);
        else if (message.kind === 'event') onEvent(message);
        // Anything else is Node's own: in watch mode a thread reports the files it loads through the same port.
      });
      exited.then(() => reject(listenProblem(options.host, port, '', 'the traffic thread ended')));
    });
  }

  function replace(): void {
    if (closing) return;
    restarts++;
    start().catch(error => options.log.error({ err: error }, 'a traffic thread could not be replaced'));
  }

  async function close(): Promise<void> {
    closing = true;
    const all = [...threads];
    for (const { worker } of all) worker.postMessage({ kind: 'stop' } satisfies Told);
    await Promise.all(all.map(thread => thread.exited));
  }

  try {
    // One thread alone binds exclusively by itself.
    if (count > 1 && port !== 0)
      await ports.claim(processClaim, port).catch(error => {
        throw listenProblem(options.host, port, error.code ?? '', error.message);
      });
    // The first one finds out which port it is, and whether it can be had; the others then start together.
    await start();
    await Promise.all(Array.from({ length: count - 1 }, start));
  } catch (error) {
    closing = true;
    await Promise.all(spare.map(({ worker }) => worker.terminate()));
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
      const ask = ++asked;
      await Promise.all([...threads].map(thread => refreshed(thread, ask)));
    },
    arrived() {
      for (const { worker } of threads) worker.postMessage({ kind: 'arrived' } satisfies Told);
    },
    drain() {
      for (const { worker } of threads) worker.postMessage({ kind: 'drain' } satisfies Told);
    },
    ask(name, given, withinMs) {
      const [first] = threads;
      return first ? first.asking.call(name, given, withinMs) : Promise.reject(asksProblem.no_threads());
    },
    askAll(name, given, withinMs) {
      if (threads.size === 0) return Promise.reject(asksProblem.no_threads());
      return Promise.all([...threads].map(({ asking }) => asking.call(name, given, withinMs)));
    },
    close,
  };
}

function refreshed({ worker, answered }: Thread, ask: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (reason?: string) => {
      clearTimeout(timer);
      answered.delete(ask);
      if (reason === undefined) resolve();
      else reject(problem.config_not_loaded({ detail: { reason } }));
    };
    const timer = setTimeout(done, refreshWithinMs, `a thread has not answered for ${refreshWithinMs} ms`);
    answered.set(ask, done);
    worker.postMessage({ kind: 'changed', ask } satisfies Told);
  });
}

function listenProblem(host: string, port: number, code: string, reason: string) {
  if (code === 'EADDRINUSE') return problem.port_taken({ detail: { host, port } });
  return problem.cannot_listen({ detail: { host, port, reason } });
}
