import { once } from 'node:events';
import { createRedisClient, type RedisConnection, startConnecting } from './redis-connection.ts';
import { withTimeout } from './redis-timeout.ts';
import type { MessageListener, Shared } from './shared.ts';

export interface RedisPubSubOptions {
  url: string;
  prefix: string;
  /** Delivers messages among the threads of this process while Redis is unavailable. */
  local: Shared;
  connection: RedisConnection;
}

/** Unsent messages to replay; beyond this the oldest are dropped, as they are hints. */
const maxUnsent = 1000;
/** A subscription waits this long for Redis; after that it becomes active with the connection. */
const subscribeTimeoutMs = 1000;
const pingIntervalMs = 10_000;
// Errors of the subscriber also occur on the command connection, which reports them.
const ignore = () => undefined;

/** Pub/sub over Redis, and among the threads of this process while Redis is unavailable. */
export function createRedisPubSub({ url, prefix, local, connection }: RedisPubSubOptions) {
  const unsent: [channel: string, message: string][] = [];
  const subscriber = createSubscriber(url);

  async function subscribe(channel: string, listener: MessageListener): Promise<() => Promise<void>> {
    const own: MessageListener = message => listener(message);
    const [unsubscribeLocal, unsubscribeRedis] = [
      await local.subscribe(channel, own),
      await subscriber.subscribe(prefix + channel, own),
    ];
    return async () => {
      await unsubscribeLocal();
      await unsubscribeRedis();
    };
  }

  async function publish(channel: string, message: string): Promise<void> {
    if (connection.isReady() && (await tryPublish(channel, message))) {
      if (subscriber.isReady()) return;
    } else {
      unsent.push([channel, message]);
      if (unsent.length > maxUnsent) unsent.shift();
    }
    await local.publish(channel, message);
  }

  async function tryPublish(channel: string, message: string): Promise<boolean> {
    try {
      await connection.sendCommand(['PUBLISH', prefix + channel, message]);
      return true;
    } catch {
      return false;
    }
  }

  /** Publishes the unsent messages, in order. */
  async function replay(): Promise<void> {
    for (let next = unsent[0]; next; next = unsent[0]) {
      await connection.sendCommand(['PUBLISH', prefix + next[0], next[1]]);
      unsent.shift();
    }
  }

  return { subscribe, publish, replay, close: subscriber.close };
}

interface Channel {
  readonly listeners: Set<MessageListener>;
  readonly deliver: MessageListener;
  isAttached: boolean;
}

function createChannel(): Channel {
  const listeners = new Set<MessageListener>();
  const deliver = (message: string) => {
    for (const listener of listeners) listener(message);
  };
  return { listeners, deliver, isAttached: false };
}

/** Subscriber connection: Redis requires a separate one for SUBSCRIBE. Opened with the first subscription. */
function createSubscriber(url: string) {
  const channels = new Map<string, Channel>();
  const client = createRedisClient(url, ignore, { pingInterval: pingIntervalMs });
  client.on('ready', () => {
    for (const name of channels.keys()) attach(name).catch(ignore);
  });

  /** Once subscribed, the library resubscribes after each reconnect. */
  async function attach(name: string): Promise<void> {
    const channel = channels.get(name);
    if (!channel || channel.isAttached || !client.isReady) return;
    channel.isAttached = true;
    try {
      await client.subscribe(name, channel.deliver);
    } catch (error) {
      channel.isAttached = false;
      throw error;
    }
  }

  async function detach(name: string, channel: Channel): Promise<void> {
    channels.delete(name);
    if (channel.isAttached && client.isReady) await client.unsubscribe(name, channel.deliver);
  }

  async function subscribe(name: string, listener: MessageListener): Promise<() => Promise<void>> {
    const channel = channels.get(name) ?? createChannel();
    channels.set(name, channel);
    if (!client.isOpen) startConnecting(client, ignore);
    channel.listeners.add(listener);
    const attaching = (client.isReady ? Promise.resolve() : once(client, 'ready')).then(() => attach(name));
    await withTimeout(attaching, subscribeTimeoutMs).catch(ignore);
    return async () => {
      channel.listeners.delete(listener);
      if (channel.listeners.size > 0 || channels.get(name) !== channel) return;
      await withTimeout(detach(name, channel), subscribeTimeoutMs).catch(ignore);
    };
  }

  return { subscribe, isReady: () => client.isReady, close: () => client.isOpen && client.destroy() };
}
