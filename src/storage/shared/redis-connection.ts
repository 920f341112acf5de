import { createClient, RESP_TYPES, type RedisClientOptions } from 'redis';
import { fuse } from './redis-circuit-breaker.ts';
import type { Script } from './redis-scripts.ts';

/**
 * The connection to Redis with a fuse in front of it: the first command that fails or takes too long blows it, later
 * ones go elsewhere at once, and it is mended after Redis answered again and was told what happened meanwhile.
 */
export interface Link {
  /** Whether commands go to Redis now. */
  ready(): boolean;
  /** Resolves when it is ready, or after the wait. */
  settled(waitMs: number): Promise<void>;
  run(script: Script, key: string, args: readonly string[]): Promise<number[]>;
  command(args: readonly string[]): Promise<unknown>;
  /** A command whose texts, given and returned, are bytes. */
  bytes(args: readonly (string | Buffer)[]): Promise<unknown>;
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

type Connection = ReturnType<typeof connection>;

/** A connection that is open but silent for so many probes is replaced: the other end may be gone without a word. */
const silentProbes = 5;

export function redisLink({ url, commandTimeoutMs, catchUp, onState }: LinkOptions): Link {
  let silent = 0;
  const guard = fuse({
    async probe() {
      await answered();
      await catchUp();
    },
    // Calls of the last moment before mending may have left something to tell.
    mended: () => void catchUp().catch(guard.blow),
    onState,
  });
  let client = open();

  function open(): Connection {
    const made = connection(url, guard.blow);
    made.on('ready', guard.tryNow);
    connect(made, guard.blow);
    return made;
  }

  async function answered(): Promise<void> {
    try {
      await within(client.sendCommand(['PING']), commandTimeoutMs);
      silent = 0;
    } catch (error) {
      if (client.isReady && ++silent >= silentProbes) {
        silent = 0;
        client.destroy();
        client = open();
      }
      throw error;
    }
  }

  const command = (args: readonly string[]) => answerTo(args);
  const bytes = (args: readonly (string | Buffer)[]) => answerTo(args, asBytes);

  async function answerTo(args: readonly (string | Buffer)[], options?: typeof asBytes): Promise<unknown> {
    try {
      return await within(client.sendCommand(args, options), commandTimeoutMs);
    } catch (error) {
      if (!isUnknownScript(error)) guard.blow(error);
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
    guard.close();
    client.destroy();
  }

  return { ready: guard.whole, settled: guard.settled, run, command, bytes, close };
}

const asBytes = { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } };

const isUnknownScript = (error: unknown): boolean => error instanceof Error && error.message.startsWith('NOSCRIPT');

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
    // The library's own time limit makes an abort signal per command; `within` is cheaper.
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
export function connect(client: Connection, onError: (error: unknown) => void): void {
  client.connect().catch(onError);
}

/** A thread that was held up itself uses up one of these parts at most, and reads what came meanwhile in the next. */
const waitParts = 5;

export async function within<T>(reply: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const wait = (parts: number): void => {
      if (parts === 0) return reject(new Error(`Redis did not answer within ${timeoutMs} ms.`));
      timer = setTimeout(() => wait(parts - 1), timeoutMs / waitParts);
    };
    wait(waitParts);
  });
  try {
    return await Promise.race([reply, late]);
  } finally {
    clearTimeout(timer);
  }
}
