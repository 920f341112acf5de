import { createClient, type RedisClientOptions } from 'redis';
import type { Script } from './shared-redis-scripts.ts';

/**
 * The connection to Redis and a fuse in front of it: the first command that fails or takes too long blows it, later ones
 * are then refused at once, and it is mended only after Redis answered again and what happened meanwhile was told to it.
 */
export interface Link {
  /** Whether commands go to Redis now. */
  ready(): boolean;
  /** Resolves when it is ready, or after the wait. */
  settled(waitMs: number): Promise<void>;
  run(script: Script, key: string, args: readonly string[]): Promise<number[]>;
  command(args: readonly string[]): Promise<unknown>;
  close(): void;
}

export interface LinkOptions {
  url: string;
  /** Longer than this no caller waits for Redis. */
  commandTimeoutMs: number;
  /** Asked before the fuse is mended, and once more after it; a failure leaves it blown. */
  catchUp(): Promise<void>;
  onState?: ((state: 'ok' | 'degraded', cause?: unknown) => void) | undefined;
}

export type RedisConnection = ReturnType<typeof connection>;

const firstProbeMs = 50;
const lastProbeMs = 1000;
/** A connection that is open but silent for so many probes is replaced: the other end may be gone without a word. */
const silentProbes = 5;

export function redisLink({ url, commandTimeoutMs, catchUp, onState }: LinkOptions): Link {
  let client = open();
  let state: 'ok' | 'degraded' = 'degraded';
  let closed = false;
  let probing = false;
  let silent = 0;
  let delayMs = firstProbeMs;
  let timer: NodeJS.Timeout | undefined;
  const firstOk = Promise.withResolvers<void>();

  function open(): RedisConnection {
    const made = connection(url, blow);
    made.on('ready', () => void probe());
    connect(made, blow);
    return made;
  }

  function blow(cause: unknown): void {
    if (closed || state === 'degraded') return;
    state = 'degraded';
    onState?.(state, cause);
    schedule();
  }

  function schedule(): void {
    clearTimeout(timer);
    if (closed) return;
    timer = setTimeout(() => void probe(), delayMs);
    timer.unref();
    delayMs = Math.min(delayMs * 2, lastProbeMs);
  }

  async function probe(): Promise<void> {
    if (probing || closed || state === 'ok') return;
    probing = true;
    try {
      await within(client.sendCommand(['PING']), commandTimeoutMs);
      silent = 0;
      await catchUp();
      mend();
    } catch {
      // Redis is still away, as was said when the fuse blew.
      replaceSilent();
      schedule();
    } finally {
      probing = false;
    }
  }

  function mend(): void {
    if (closed) return;
    state = 'ok';
    delayMs = firstProbeMs;
    onState?.(state);
    firstOk.resolve();
    // Calls of the last moment before mending may have left something to tell.
    catchUp().catch(blow);
  }

  function replaceSilent(): void {
    if (!client.isReady || closed || ++silent < silentProbes) return;
    silent = 0;
    client.destroy();
    client = open();
  }

  async function command(args: readonly string[]): Promise<unknown> {
    try {
      return await within(client.sendCommand(args), commandTimeoutMs);
    } catch (error) {
      if (!isUnknownScript(error)) blow(error);
      throw error;
    }
  }

  async function run({ sha, text }: Script, key: string, args: readonly string[]): Promise<number[]> {
    try {
      return (await command(['EVALSHA', sha, '1', key, ...args])) as number[];
    } catch (error) {
      if (!isUnknownScript(error)) throw error;
      return (await command(['EVAL', text, '1', key, ...args])) as number[];
    }
  }

  function close(): void {
    closed = true;
    clearTimeout(timer);
    client.destroy();
  }

  schedule();
  const settled = (waitMs: number) => within(firstOk.promise, waitMs).catch(() => undefined);
  return { ready: () => state === 'ok', settled, run, command, close };
}

const firstReconnectMs = 50;
const lastReconnectMs = 2000;
const connectTimeoutMs = 2000;

/** Connects again for ever, with bounded pauses; commands meanwhile fail at once. */
export function connection(
  url: string,
  onError: (error: unknown) => void,
  more: Pick<RedisClientOptions, 'pingInterval'> = {},
) {
  const client = createClient({
    ...more,
    url,
    disableOfflineQueue: true,
    // The library's own time limit makes an abort signal per command; the link has a cheaper one.
    commandOptions: { timeout: 0 },
    socket: {
      connectTimeout: connectTimeoutMs,
      reconnectStrategy: retries => Math.min(firstReconnectMs * 2 ** Math.min(retries, 10), lastReconnectMs),
    },
  });
  client.on('error', onError);
  return client;
}

/** Begins to connect. The promise rejects only when the client is closed before it got there. */
export function connect(client: RedisConnection, onError: (error: unknown) => void): void {
  client.connect().catch(onError);
}

const isUnknownScript = (error: unknown): boolean => error instanceof Error && error.message.startsWith('NOSCRIPT');

export async function within<T>(reply: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Redis did not answer within ${timeoutMs} ms.`)), timeoutMs);
  });
  try {
    return await Promise.race([reply, late]);
  } finally {
    clearTimeout(timer);
  }
}
