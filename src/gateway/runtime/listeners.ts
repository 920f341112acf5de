import type { Log } from '#base/log.ts';
import type { Settings } from '#base/settings.ts';
import { isTlsPort } from '../pipeline/listen-port.ts';
import type { StepServices } from '../pipeline/step-services.ts';
import type { Api } from '../routing/api.ts';
import { byAge } from '../routing/route-index.ts';
import type { Snapshot } from '../routing/snapshot.ts';
import { createRawListener } from '../routing/tcp-listener.ts';
import { createListener, type Listener, type Place } from '../server/listener.ts';
import type { Secured } from '../server/tls-acceptor.ts';
import type { Transport } from '../server/transport.ts';

export interface ListenersOptions {
  readonly settings: Settings;
  readonly log: Log;
  readonly http1: Transport;
  readonly http2: Transport | undefined;
  readonly secured: Secured;
  readonly snapshot: () => Snapshot;
  readonly place: Place;
  readonly ask: StepServices['rpc'];
}

const claimTimeoutMs = 5000;

/** Ports of APIs one gateway opens at most. */
const portsAtOnce = 200;

/** How a port is spoken to. */
type Speech = 'http' | 'https' | 'tcp' | 'tls';

interface Open {
  readonly listener: Listener;
  readonly speech: Speech;
  readonly opened: Promise<void>;
}

/** The gateway's own port, and those of APIs that have one, which open and close as APIs come and go. */
export function createListeners(options: ListenersOptions) {
  const { settings, log, http1, http2, secured, snapshot, place, ask: rpc } = options;
  const extra = new Map<number, Open>();
  let closing: Promise<unknown>[] = [];
  let isClosing = false;

  const shared = {
    silenceMs: settings['gateway.headers_timeout_ms'],
    connections: settings['gateway.max_connections'],
    connectMs: settings['upstream.connect_timeout_ms'],
  };
  const onFault = (api: Api, error: Error) =>
    log.warn({ api: api.id, reason: error.message }, 'a connection could not be passed on');

  function listenerOf(listensFor: number, speech: Speech): Listener {
    const door = speech === 'https' || speech === 'tls' ? secured : undefined;
    if (speech === 'http' || speech === 'https')
      return createListener({ http1, http2, secured: door, listensFor, ...shared });
    const services = () => passages(snapshot()).get(listensFor) ?? [];
    return createRawListener({ services, secured: door, onFault, ...shared });
  }
  const own = listenerOf(0, settings['gateway.tls.enabled'] ? 'https' : 'http');

  /** One way of speaking for each port: of bare connections where nothing else is there, and secured where one asks for it. */
  function wanted(): Map<number, Speech> {
    const ports = new Map<number, Speech>();
    for (const [port, apis] of passages(snapshot()))
      ports.set(port, apis.some(api => api.tcpService!.isSecure) ? 'tls' : 'tcp');
    for (const [port, router] of snapshot().ports)
      ports.set(port, router.values().some(api => isTlsPort(api.model, settings)) ? 'https' : 'http');
    return new Map([...ports].slice(0, portsAtOnce));
  }

  /** Where threads share ports, the main thread finds out whether another process listens. */
  async function listenClaimed(port: number, listener: Listener): Promise<void> {
    if (place.reusePort) await rpc('claimPort', { port }, claimTimeoutMs);
    await listener.listen({ ...place, port }).catch(error => {
      extra.delete(port);
      release(port);
      throw error;
    });
  }

  /** Not while the thread ends: what it had is released with it. */
  function release(port: number): void {
    if (!place.reusePort || isClosing || extra.has(port)) return;
    rpc('releasePort', { port }, claimTimeoutMs).catch(error =>
      log.warn({ port, reason: (error as Error).message }, 'port could not be released'),
    );
  }

  function close(port: number, { listener }: Open): void {
    extra.delete(port);
    http1.leave(port);
    http2?.leave(port);
    const closed = listener.close().then(() => {
      release(port);
      closing = closing.filter(it => it !== closed);
    });
    closing.push(closed);
  }

  function open(port: number, speech: Speech): void {
    const listener = listenerOf(port, speech);
    const opened = listenClaimed(port, listener).then(
      () => undefined,
      error => {
        // Tried again with the next change, and with the next look for changes.
        extra.delete(port);
        log.error({ port, reason: (error as Error).message }, 'the port of an API cannot be opened');
      },
    );
    extra.set(port, { listener, speech, opened });
  }

  return {
    listen: () => own.listen(place),
    /** Opens and closes what the snapshot in service asks for. */
    async follow(): Promise<void> {
      const now = wanted();
      for (const [port, it] of extra) if (now.get(port) !== it.speech) close(port, it);
      for (const [port, speech] of now) if (!extra.has(port)) open(port, speech);
      await Promise.all([...extra.values()].map(it => it.opened));
    },
    async close(): Promise<void> {
      isClosing = true;
      for (const [port, it] of extra) close(port, it);
      await Promise.all([own.close(), ...closing]);
    },
  };
}

const known = new WeakMap<Snapshot['apis'], ReadonlyMap<number, readonly Api[]>>();

/** Services of bare connections by their port. */
function passages({ apis }: Snapshot): ReadonlyMap<number, readonly Api[]> {
  let found = known.get(apis);
  if (!found) {
    const all = [...apis.values()].filter(
      ({ tcpService: passage, model }) => passage !== undefined && model.identity.active,
    );
    all.sort(byAge);
    found = Map.groupBy(all, ({ model }) => model.listen.port);
    known.set(apis, found);
  }
  return found;
}
