import { once } from 'node:events';
import type { Listener, Shared } from './shared.ts';
import { connect, connection, type Link, within } from './shared-redis-link.ts';

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

/** Publish and subscribe over Redis, with a connection of its own for listening. */
export function redisWire({ url, prefix, local, link }: WireOptions) {
  const unsent: [channel: string, message: string][] = [];
  const channels = new Map<string, { listeners: Set<Listener>; hear: Listener; attached: boolean }>();
  // What goes wrong on this connection goes wrong on the link too, which says so.
  const ignore = () => undefined;
  const listening = connection(url, ignore, { pingInterval: keepAliveMs });
  listening.on('ready', () => {
    for (const channel of channels.keys()) attach(channel).catch(ignore);
  });
  connect(listening, ignore);

  /** Once attached, the library attaches again after each new connection. */
  async function attach(channel: string): Promise<void> {
    const known = channels.get(channel);
    if (!known || known.attached || !listening.isReady) return;
    known.attached = true;
    try {
      await listening.subscribe(prefix + channel, known.hear);
    } catch (error) {
      known.attached = false;
      throw error;
    }
  }

  async function detach(channel: string): Promise<void> {
    const known = channels.get(channel);
    channels.delete(channel);
    if (known?.attached && listening.isOpen) await listening.unsubscribe(prefix + channel, known.hear);
  }

  function newChannel() {
    const listeners = new Set<Listener>();
    const hear = (message: string) => {
      for (const listener of listeners) listener(message);
    };
    return { listeners, hear, attached: false };
  }

  async function subscribe(channel: string, listener: Listener): Promise<() => Promise<void>> {
    const known = channels.get(channel) ?? newChannel();
    channels.set(channel, known);
    const own: Listener = message => listener(message);
    known.listeners.add(own);
    const unhear = await local.subscribe(channel, own);
    const told = (listening.isReady ? Promise.resolve() : once(listening, 'ready')).then(() => attach(channel));
    await within(told, subscribeWaitMs).catch(ignore);
    return async () => {
      known.listeners.delete(own);
      await unhear();
      if (known.listeners.size === 0 && channels.get(channel) === known) {
        await within(detach(channel), subscribeWaitMs).catch(ignore);
      }
    };
  }

  async function publish(channel: string, message: string): Promise<void> {
    if (link.ready() && (await sent(channel, message))) {
      if (listening.isReady) return;
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

  return { subscribe, publish, catchUp, close: () => listening.destroy() };
}
