import { createClient, RESP_TYPES, type RedisClientOptions } from 'redis';
import { createRedisCircuitBreaker } from './redis-circuit-breaker.ts';
import type { Script } from './redis-scripts.ts';

/**
 * The connection to Redis with a fuse in front of it: the first command that fails or takes too long blows it, later
 * ones go elsewhere at once, and it is mended after Redis answered again and was told what happened meanwhile.
 */
export interface RedisConnection {
  /** Whether commands go to Redis now. */
  isReady(): boolean;
  /** Resolves when it is ready, or after the wait. */
  waitUntilReady(timeoutMs: number): Promise<void>;
  runScript(script: Script, key: string, args: readonly string[]): Promise<number[]>;
  sendCommand(args: readonly string[]): Promise<unknown>;
  /** A command whose texts, given and returned, are bytes. */
  sendBinaryCommand(args: readonly (string | Buffer)[]): Promise<unknown>;
  close(): void;
}

export interface RedisConnectionOptions {
  url: string;
  /** Longer than this no caller waits for Redis. */
  commandTimeoutMs: number;
  /** Asked before the fuse is mended, and once more after it; a failure leaves it blown. */
  replay(): Promise<void>;
  onState?: ((state: 'ok' | 'degraded', cause?: unknown) => void) | undefined;
}

type RedisClient = ReturnType<typeof createRedisClient>;

/** A connection that is open but silent for so many probes is replaced: the other end may be gone without a word. */
const maxSilentProbes = 5;

export function createRedisConnection({
  url,
  commandTimeoutMs,
  replay,
  onState,
}: RedisConnectionOptions): RedisConnection {
  let silentProbes = 0;
  const breaker = createRedisCircuitBreaker({
    async probe() {
      await ping();
      await replay();
    },
    // Calls of the last moment before mending may have left something to tell.
    onClosed: () => void replay().catch(breaker.trip),
    onState,
  });
  let client = openClient();

  function openClient(): RedisClient {
    const opened = createRedisClient(url, breaker.trip);
    opened.on('ready', breaker.probeNow);
    startConnecting(opened, breaker.trip);
    return opened;
  }

  async function ping(): Promise<void> {
    try {
      await withTimeout(client.sendCommand(['PING']), commandTimeoutMs);
      silentProbes = 0;
    } catch (error) {
      if (client.isReady && ++silentProbes >= maxSilentProbes) {
        silentProbes = 0;
        client.destroy();
        client = openClient();
      }
      throw error;
    }
  }

  const sendCommand = (args: readonly string[]) => send(args);
  const sendBinaryCommand = (args: readonly (string | Buffer)[]) => send(args, binaryReplies);

  async function send(args: readonly (string | Buffer)[], options?: typeof binaryReplies): Promise<unknown> {
    try {
      return await withTimeout(client.sendCommand(args, options), commandTimeoutMs);
    } catch (error) {
      if (!isUnknownScript(error)) breaker.trip(error);
      throw error;
    }
  }

  async function runScript({ sha, text }: Script, key: string, args: readonly string[]): Promise<number[]> {
    try {
      return (await sendCommand(['EVALSHA', sha, '1', key, ...args])) as number[];
    } catch (error) {
      if (!isUnknownScript(error)) throw error;
      return (await sendCommand(['EVAL', text, '1', key, ...args])) as number[];
    }
  }

  function close(): void {
    breaker.stop();
    client.destroy();
  }

  return {
    isReady: breaker.isClosed,
    waitUntilReady: breaker.waitUntilClosed,
    runScript,
    sendCommand,
    sendBinaryCommand,
    close,
  };
}

const binaryReplies = { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } };

const isUnknownScript = (error: unknown): boolean => error instanceof Error && error.message.startsWith('NOSCRIPT');

const minReconnectDelayMs = 50;
const maxReconnectDelayMs = 2000;
const connectTimeoutMs = 2000;

/** Connects again for ever, with bounded pauses; commands meanwhile fail at once. */
export function createRedisClient(
  url: string,
  onError: (error: unknown) => void,
  more: Pick<RedisClientOptions, 'pingInterval'> = {},
) {
  const client = createClient({
    ...more,
    url,
    disableOfflineQueue: true,
    // The library's own time limit makes an abort signal per command; `within` is cheaper.
    commandOptions: { timeout: 0 },
    socket: {
      connectTimeout: connectTimeoutMs,
      reconnectStrategy: retries => Math.min(minReconnectDelayMs * 2 ** Math.min(retries, 10), maxReconnectDelayMs),
    },
  });
  client.on('error', onError);
  return client;
}

/** Begins to connect. The promise rejects only when the client is closed before it got there. */
export function startConnecting(client: RedisClient, onError: (error: unknown) => void): void {
  client.connect().catch(onError);
}

/** A thread that was held up itself uses up one of these parts at most, and reads what came meanwhile in the next. */
const timeoutSlices = 5;

export async function withTimeout<T>(reply: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    const wait = (parts: number): void => {
      if (parts === 0) return reject(new Error(`Redis did not answer within ${timeoutMs} ms.`));
      timer = setTimeout(() => wait(parts - 1), timeoutMs / timeoutSlices);
    };
    wait(timeoutSlices);
  });
  try {
    return await Promise.race([reply, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
