import { createClient, RESP_TYPES, type RedisClientOptions } from 'redis';
import { createRedisCircuitBreaker } from './redis-circuit-breaker.ts';
import type { Script } from './redis-scripts.ts';
import { withTimeout } from './redis-timeout.ts';

/**
 * Redis connection behind a circuit breaker: the first command that fails or times out trips it, later ones fail at
 * once. It closes after Redis answers again and offline counts and messages were replayed.
 */
export interface RedisConnection {
  /** False while the circuit is open. */
  isReady(): boolean;
  /** Cause of the last failure. */
  lastCause(): unknown;
  /** Resolves when it is ready, or after the timeout. */
  waitUntilReady(timeoutMs: number): Promise<void>;
  runScript(script: Script, key: string, args: readonly string[]): Promise<number[]>;
  sendCommand(args: readonly string[]): Promise<unknown>;
  /** Command with binary arguments and replies. */
  sendBinaryCommand(args: readonly (string | Buffer)[]): Promise<unknown>;
  close(): void;
}

export interface RedisConnectionOptions {
  url: string;
  commandTimeoutMs: number;
  /** Runs before the circuit closes, and once more after it; a failure keeps it open. */
  replay(): Promise<void>;
  onState?: ((state: 'ok' | 'degraded', cause?: unknown) => void) | undefined;
}

type RedisClient = ReturnType<typeof createRedisClient>;

/** Probes without a reply before a connection is replaced: its peer may be gone without a FIN. */
const maxSilentProbes = 5;

export function createRedisConnection(options: RedisConnectionOptions): RedisConnection {
  const { url, commandTimeoutMs, replay, onState } = options;
  let silentProbes = 0;
  const breaker = createRedisCircuitBreaker({
    async probe() {
      await ping();
      await replay();
    },
    // Calls just before the circuit closed may have been counted offline.
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

  async function send(args: readonly (string | Buffer)[], replies?: typeof binaryReplies): Promise<unknown> {
    try {
      return await withTimeout(client.sendCommand(args, replies), commandTimeoutMs);
    } catch (error) {
      if (!isUnknownScript(error)) breaker.trip(error);
      throw error;
    }
  }

  return {
    isReady: breaker.isClosed,
    lastCause: breaker.lastCause,
    waitUntilReady: breaker.waitUntilClosed,
    runScript: (script, key, args) => runScript(sendCommand, script, key, args),
    sendCommand,
    sendBinaryCommand,
    close() {
      breaker.stop();
      client.destroy();
    },
  };
}

/** EVALSHA, and EVAL where Redis does not have the script. */
async function runScript(
  sendCommand: RedisConnection['sendCommand'],
  { sha, text }: Script,
  key: string,
  args: readonly string[],
): Promise<number[]> {
  try {
    return (await sendCommand(['EVALSHA', sha, '1', key, ...args])) as number[];
  } catch (error) {
    if (!isUnknownScript(error)) throw error;
    return (await sendCommand(['EVAL', text, '1', key, ...args])) as number[];
  }
}

const binaryReplies = { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } };

const isUnknownScript = (error: unknown): boolean => error instanceof Error && error.message.startsWith('NOSCRIPT');

const minReconnectDelayMs = 50;
const maxReconnectDelayMs = 2000;
const connectTimeoutMs = 2000;

/** Reconnects for ever with exponential backoff; commands fail at once meanwhile. */
export function createRedisClient(
  url: string,
  onError: (error: unknown) => void,
  more: Pick<RedisClientOptions, 'pingInterval'> = {},
) {
  const client = createClient({
    ...more,
    url,
    disableOfflineQueue: true,
    // The library's own timeout creates an abort signal per command; `withTimeout` is cheaper.
    commandOptions: { timeout: 0 },
    socket: {
      connectTimeout: connectTimeoutMs,
      reconnectStrategy: retries => Math.min(minReconnectDelayMs * 2 ** Math.min(retries, 10), maxReconnectDelayMs),
    },
  });
  client.on('error', onError);
  return client;
}

/** Starts connecting. The promise rejects only when the client is destroyed before it connected. */
export function startConnecting(client: RedisClient, onError: (error: unknown) => void): void {
  client.connect().catch(onError);
}
