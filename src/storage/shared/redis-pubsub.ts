import { once } from 'node:events';
import { connect, connection, type Link, within } from './redis-connection.ts';
import type { Listener, Shared } from './shared.ts';

export interface WireOptions {
  url: string;
  prefix: string;
  /** Carries messages among the threads of this process while Redis is away. */
  local: Shared;
  link: Link;
}

/** Messages that Redis could not take; beyond this the oldest are dropped, as they are hints. */
const maxUnsent = 1000;
/** A new listener waits this long for Redis to know of it; after that it is told when the connection is there. */
const subscribeWaitMs = 1000;
const keepAliveMs = 10_000;
// What goes wrong while listening goes wrong on the link too, which says so.
const ignore = () => undefined;

/** Publish and subscribe over Redis, and among the threads of this process while Redis is away. */
export function redisWire({ url, prefix, local, link }: WireOptions) {
  const unsent: [channel: string, message: string][] = [];
  const ears = redisEars(url);

  async function subscribe(channel: string, listener: Listener): Promise<() => Promise<void>> {
    const own: Listener = message => listener(message);
    const [unhear, unlisten] = [await local.subscribe(channel, own), await ears.subscribe(prefix + channel, own)];
    return async () => {
      await unhear();
      await unlisten();
    };
  }

  async function publish(channel: string, message: string): Promise<void> {
    if (link.ready() && (await sent(channel, message))) {
      if (ears.ready()) return;
    } else {
      unsent.push([channel, message]);
      if (unsent.length > maxUnsent) unsent.shift();
    }
    await local.publish(channel, message);
  }

  async function sent(channel: string, message: string): Promise<boolean> {
    try {
      await link.command(['PUBLISH', prefix + channel, message]);
      return true;
    } catch {
      return false;
    }
  }

  /** Sends what could not be sent, in order. */
  async function catchUp(): Promise<void> {
    for (let next = unsent[0]; next; next = unsent[0]) {
      await link.command(['PUBLISH', prefix + next[0], next[1]]);
      unsent.shift();
    }
  }

  return { subscribe, publish, catchUp, close: ears.close };
}

interface Channel {
  readonly listeners: Set<Listener>;
  readonly hear: Listener;
  attached: boolean;
}

function newChannel(): Channel {
  const listeners = new Set<Listener>();
  const hear = (message: string) => {
    for (const listener of listeners) listener(message);
  };
  return { listeners, hear, attached: false };
}

/** A connection that only listens, since Redis wants one of its own for that. */
function redisEars(url: string) {
  const channels = new Map<string, Channel>();
  const client = connection(url, ignore, { pingInterval: keepAliveMs });
  client.on('ready', () => {
    for (const name of channels.keys()) attach(name).catch(ignore);
  });
  connect(client, ignore);

  /** Once attached, the library attaches again after each new connection. */
  async function attach(name: string): Promise<void> {
    const channel = channels.get(name);
    if (!channel || channel.attached || !client.isReady) return;
    channel.attached = true;
    try {
      await client.subscribe(name, channel.hear);
    } catch (error) {
      channel.attached = false;
      throw error;
    }
  }

  async function detach(name: string, channel: Channel): Promise<void> {
    channels.delete(name);
    if (channel.attached && client.isReady) await client.unsubscribe(name, channel.hear);
  }

  async function subscribe(name: string, listener: Listener): Promise<() => Promise<void>> {
    const channel = channels.get(name) ?? newChannel();
    channels.set(name, channel);
    channel.listeners.add(listener);
    const attached = (client.isReady ? Promise.resolve() : once(client, 'ready')).then(() => attach(name));
    await within(attached, subscribeWaitMs).catch(ignore);
    return async () => {
      channel.listeners.delete(listener);
      if (channel.listeners.size > 0 || channels.get(name) !== channel) return;
      await within(detach(name, channel), subscribeWaitMs).catch(ignore);
    };
  }

  return { subscribe, ready: () => client.isReady, close: () => client.destroy() };
}
