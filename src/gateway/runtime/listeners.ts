import type { Log } from '#base/log.ts';
import type { Settings } from '#base/settings.ts';
import { isTlsPort } from '../pipeline/listen-port.ts';
import { formatUpstreamFailure } from '../pipeline/upstream-failure.ts';
import { toUpstreamFailure } from '../proxy/upstream-errors.ts';
import type { Api } from '../routing/api.ts';
import type { Snapshot } from '../routing/snapshot.ts';
import { createTcpListener } from '../routing/tcp-listener.ts';
import { createListener, type ListenAddress, type Listener } from '../server/listener.ts';
import type { TlsAcceptor } from '../server/tls-acceptor.ts';
import type { Transport } from '../server/transport.ts';
import type { StepServices } from '../steps/step-services.ts';

export interface ListenersOptions {
  readonly settings: Settings;
  readonly log: Log;
  readonly http1: Transport;
  readonly http2: Transport | undefined;
  readonly tlsAcceptor: TlsAcceptor;
  readonly snapshot: () => Snapshot;
  readonly address: ListenAddress;
  readonly rpc: StepServices['rpc'];
}

const claimTimeoutMs = 5000;

/** API ports that one gateway opens. */
const maxExtraPorts = 200;

type ListenerProtocol = 'http' | 'https' | 'tcp' | 'tls';

interface OpenPort {
  readonly listener: Listener;
  readonly protocol: ListenerProtocol;
  readonly opened: Promise<void>;
}

type CreatePortListener = (apiPort: number, protocol: ListenerProtocol) => Listener;

/** The gateway's port and API ports, which open and close as the snapshot changes. */
export function createListeners(options: ListenersOptions) {
  const createPortListener = createListenerFactory(options);
  const gatewayListener = createPortListener(0, options.settings['gateway.tls.enabled'] ? 'https' : 'http');
  const apiPorts = createApiPorts(options, createPortListener);
  return {
    listen: () => gatewayListener.listen(options.address),
    reconcile: apiPorts.reconcile,
    async close(): Promise<void> {
      await Promise.all([apiPorts.close(), gatewayListener.close()]);
    },
  };
}

function createApiPorts(options: ListenersOptions, createPortListener: CreatePortListener) {
  const { settings, log, http1, http2, snapshot, address, rpc } = options;
  const extraPorts = new Map<number, OpenPort>();
  let closing: Promise<unknown>[] = [];
  let isClosing = false;

  /** Where threads share ports (SO_REUSEPORT), the main thread first probes for another process. */
  async function listenClaimed(port: number, listener: Listener): Promise<void> {
    if (address.reusePort) await rpc('claimPort', { port }, claimTimeoutMs);
    await listener.listen({ ...address, port }).catch(error => {
      extraPorts.delete(port);
      release(port);
      throw error;
    });
  }

  /** Skipped while closing: the main thread releases all claims of an exited thread. */
  function release(port: number): void {
    if (!address.reusePort || isClosing || extraPorts.has(port)) return;
    const onError = ({ message: reason }: Error) => log.warn({ port, reason }, 'port claim not released');
    rpc('releasePort', { port }, claimTimeoutMs).catch(onError);
  }

  function close(port: number, { listener }: OpenPort): void {
    extraPorts.delete(port);
    http1.closePort(port);
    http2?.closePort(port);
    const closed = listener.close().then(() => {
      release(port);
      closing = closing.filter(it => it !== closed);
    });
    closing.push(closed);
  }

  function open(port: number, protocol: ListenerProtocol): void {
    const listener = createPortListener(port, protocol);
    const opened = listenClaimed(port, listener).catch(error => {
      extraPorts.delete(port);
      log.error({ port, reason: (error as Error).message }, 'API port not opened');
    });
    extraPorts.set(port, { listener, protocol, opened });
  }

  return {
    /** Matches ports with the snapshot in service; retries those that did not open. None opens after the close. */
    async reconcile(): Promise<void> {
      if (isClosing) return;
      const now = listRequiredPorts(snapshot(), settings);
      for (const [port, it] of extraPorts) if (now.get(port) !== it.protocol) close(port, it);
      for (const [port, protocol] of now) if (!extraPorts.has(port)) open(port, protocol);
      await Promise.all([...extraPorts.values()].map(it => it.opened));
    },
    async close(): Promise<void> {
      isClosing = true;
      for (const [port, it] of extraPorts) close(port, it);
      await Promise.all(closing);
    },
  };
}

/** Creates the listener of a port; port 0 is the gateway's. */
function createListenerFactory({
  settings,
  log,
  http1,
  http2,
  tlsAcceptor,
  snapshot,
}: ListenersOptions): CreatePortListener {
  const shared = {
    firstByteTimeoutMs: settings['gateway.headers_timeout_ms'],
    maxConnections: settings['gateway.max_connections'],
    connectTimeoutMs: settings['upstream.connect_timeout_ms'],
  };
  const onConnectError = (api: Api, error: Error) =>
    log.warn(
      { api: api.id, reason: formatUpstreamFailure(toUpstreamFailure(error)) },
      'upstream connection failed, client closed',
    );

  return (apiPort, protocol) => {
    const acceptor = protocol === 'https' || protocol === 'tls' ? tlsAcceptor : undefined;
    if (protocol === 'http' || protocol === 'https')
      return createListener({ http1, http2, tlsAcceptor: acceptor, apiPort, ...shared });
    const services = () => groupTcpServices(snapshot()).get(apiPort) ?? [];
    return createTcpListener({ services, tlsAcceptor: acceptor, onConnectError, ...shared });
  };
}

/** One protocol per port: HTTP wins over TCP, TLS over cleartext. */
function listRequiredPorts(snapshot: Snapshot, settings: Settings): Map<number, ListenerProtocol> {
  const ports = new Map<number, ListenerProtocol>();
  for (const [port, apis] of groupTcpServices(snapshot))
    ports.set(port, apis.some(api => api.tcpService!.isSecure) ? 'tls' : 'tcp');
  for (const [port, router] of snapshot.ports)
    ports.set(port, router.values().some(api => isTlsPort(api.model, settings)) ? 'https' : 'http');
  return new Map([...ports].slice(0, maxExtraPorts));
}

const tcpServicesByPort = new WeakMap<readonly Api[], ReadonlyMap<number, readonly Api[]>>();

/** Active TCP services by port. */
function groupTcpServices({ subsets: { tcpServices } }: Snapshot): ReadonlyMap<number, readonly Api[]> {
  let found = tcpServicesByPort.get(tcpServices);
  if (!found) {
    const active = tcpServices.filter(({ model }) => model.identity.active);
    found = Map.groupBy(active, ({ model }) => model.listen.port);
    tcpServicesByPort.set(tcpServices, found);
  }
  return found;
}
