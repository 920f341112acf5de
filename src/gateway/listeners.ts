import type { Log } from '#base/log.ts';
import type { Settings } from '#base/settings.ts';
import { isSecurePort } from './own-ports.ts';
import type { Snapshot } from './snapshot.ts';
import { createListener, type Listener, type Place } from './transport/listener.ts';
import type { Secured } from './transport/secured.ts';
import type { Transport } from './transport/transport.ts';

export interface ListenersOptions {
  readonly settings: Settings;
  readonly log: Log;
  readonly http1: Transport;
  readonly http2: Transport | undefined;
  readonly secured: Secured;
  readonly snapshot: () => Snapshot;
  readonly place: Place;
}

/** Ports of APIs one gateway opens at most. */
const portsAtOnce = 200;

interface Open {
  readonly listener: Listener;
  readonly isSecure: boolean;
}

/** The gateway's own port, and those of APIs that have one, which open and close as APIs come and go. */
export function createListeners(options: ListenersOptions) {
  const { settings, log, http1, http2, secured, snapshot, place } = options;
  const extra = new Map<number, Open>();
  let closing: Promise<unknown>[] = [];

  const listenerOf = (listensFor: number, isSecure: boolean) =>
    createListener({
      http1,
      http2,
      secured: isSecure ? secured : undefined,
      listensFor,
      silenceMs: settings['gateway.headers_timeout_ms'],
      connections: settings['gateway.connections'],
    });
  const own = listenerOf(0, settings['gateway.tls.enabled']);

  /** One way of speaking for each port: secured where one of its APIs asks for that. */
  function wanted(): Map<number, boolean> {
    const ports = new Map<number, boolean>();
    for (const [port, router] of snapshot().ports) {
      if (ports.size === portsAtOnce) break;
      ports.set(
        port,
        router.values().some(api => isSecurePort(api.model, settings)),
      );
    }
    return ports;
  }

  function close(port: number, { listener }: Open): void {
    extra.delete(port);
    http1.leave(port);
    http2?.leave(port);
    const closed = listener.close().then(() => {
      closing = closing.filter(it => it !== closed);
    });
    closing.push(closed);
  }

  async function open(port: number, isSecure: boolean): Promise<void> {
    const listener = listenerOf(port, isSecure);
    extra.set(port, { listener, isSecure });
    try {
      await listener.listen({ ...place, port });
    } catch (error) {
      // Tried again with the next change, and with the next look for changes.
      extra.delete(port);
      log.error({ port, reason: (error as Error).message }, 'the port of an API cannot be opened');
    }
  }

  return {
    listen: () => own.listen(place),
    /** Opens and closes what the snapshot in service asks for. */
    async follow(): Promise<void> {
      const now = wanted();
      for (const [port, it] of extra) if (now.get(port) !== it.isSecure) close(port, it);
      for (const [port, isSecure] of now) if (!extra.has(port)) await open(port, isSecure);
    },
    async close(): Promise<void> {
      for (const [port, it] of extra) close(port, it);
      await Promise.all([own.close(), ...closing]);
    },
  };
}
