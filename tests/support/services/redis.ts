import { createClient } from 'redis';
import { redisServer } from '../../../tools/services.ts';
import { type Server, startServer } from './server.ts';

export interface Redis extends Omit<Server, 'port' | 'killNow'> {
  url: string;
  stop(): Promise<void>;
  stopNow(): void;
}

/** One numbered database for every test file of a run, with room to spare. */
const databases = 2048;

/** Starts a Redis of its own that keeps nothing on disk. */
export async function startRedis(): Promise<Redis> {
  const { port, killNow, ...server } = await startServer({
    program: redisServer(),
    args: at => ['--port', String(at), ...settings],
    answers: at => withRedis(`redis://127.0.0.1:${at}`, client => client.ping()),
  });
  return { ...server, url: `redis://127.0.0.1:${port}`, stop: server.kill, stopNow: killNow };
}

const settings = ['--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--databases', String(databases)];

/** The URL of an unused numbered database. It does not separate publish/subscribe channels. */
export async function freshRedis(url: string): Promise<string> {
  const number = await withRedis(url, client => client.incr('gw-test-databases'));
  if (number >= databases) throw new Error(`All ${databases} databases of the test Redis are taken.`);
  return `${url}/${number}`;
}

async function withRedis<T>(url: string, use: (client: ReturnType<typeof connection>) => Promise<T>): Promise<T> {
  const client = connection(url);
  try {
    await client.connect();
    return await use(client);
  } finally {
    client.destroy();
  }
}

function connection(url: string) {
  const client = createClient({ url, socket: { reconnectStrategy: false, connectTimeout: 1000 } });
  // The rejected call has the same error; without a listener the event would end the process.
  client.on('error', () => undefined);
  return client;
}
