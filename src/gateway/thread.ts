import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '#base/clock.ts';
import { createLog } from '#base/log.ts';
import type { Settings } from '#base/settings.ts';
import { vaultOf } from '#base/vault.ts';
import { openReader } from '#storage/reader.ts';
import { threadsShared } from '#storage/shared-threads.ts';
import { certificatesOf } from './auth/certificates.ts';
import { sessionsOf } from './auth/sessions.ts';
import { accessStore } from './auth/store.ts';
import { clientAddressReader } from './client-address.ts';
import { createEngine } from './engine.ts';
import { snapshotLoader } from './loader.ts';
import { trafficStore } from './store.ts';
import type { GatewayTools } from './tools.ts';
import { http1Server } from './transport/http1.ts';
import { upstreamPools } from './upstream/pools.ts';

/** What the main thread gives a traffic thread to start with. */
export interface ThreadData {
  readonly settings: Settings;
  readonly database: { readonly url?: string; readonly file?: string };
  readonly shared: SharedArrayBuffer;
  /** Opens stored secrets. It travels in memory only and is never written down. */
  readonly dataKey: Uint8Array;
  readonly host: string;
  readonly port: number;
  readonly reusePort: boolean;
  readonly version: string;
}

/** From the main thread. */
export type Told = { readonly kind: 'changed'; readonly ask: number } | { readonly kind: 'stop' };
/** To the main thread. */
export type Tells =
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string }
  | { readonly kind: 'loaded'; readonly ask: number; readonly revision: number }
  | { readonly kind: 'event'; readonly event: string; readonly detail: Readonly<Record<string, unknown>> };

const millisecondsBetweenPolls = 1000;

async function run(data: ThreadData, port: MessagePort): Promise<void> {
  const { settings } = data;
  const log = createLog({ level: settings['log.level'], format: settings['log.format'] });
  const shared = threadsShared({ buffer: data.shared });
  const reader = openReader({
    ...data.database,
    onLost: error => log.warn({ reason: error.message }, 'a traffic thread lost a database connection'),
  });
  const tell = (message: Tells) => port.postMessage(message);
  const access = accessStore(reader);
  const sessions = sessionsOf({
    store: access,
    vault: vaultOf(Buffer.from(data.dataKey)),
    settings,
    clock: systemClock,
    log,
  });
  const certificates = certificatesOf(access);
  const tools: GatewayTools = {
    settings,
    clock: systemClock,
    log,
    counters: shared.counters,
    sessions,
    certificates,
    fire: (event, call, message, more = {}) =>
      tell({
        kind: 'event',
        event,
        detail: {
          message,
          api_id: call.api?.id,
          org_id: call.api?.orgId,
          path: call.path,
          origin: call.clientAddress,
          ...more,
        },
      }),
  };
  const loader = snapshotLoader({
    store: trafficStore(reader),
    tools,
    onChanges(changes) {
      sessions.changed(changes);
      certificates.changed(changes);
    },
  });
  const pools = upstreamPools({
    connectTimeoutMs: settings['upstream.connect_timeout_ms'],
    headersTimeoutMs: settings['upstream.timeout_ms'],
    connections: settings['upstream.connections'],
  });
  await loader.refresh();
  const server = http1Server({
    handler: createEngine({ snapshot: loader.snapshot, tools, pools, record: () => undefined }),
    clock: systemClock,
    paths: { keepEncodedSlashes: settings['gateway.encoded_slashes'] === 'keep' },
    clientAddress: clientAddressReader(settings['gateway.trusted_proxies']),
    own: ownPaths(data.version, loader.isLoaded),
    headerBytes: settings['gateway.header_bytes'],
    headersTimeoutMs: settings['gateway.headers_timeout_ms'],
    requestTimeoutMs: settings['gateway.request_timeout_ms'],
  });
  const poll = setInterval(() => void refresh(0), millisecondsBetweenPolls);

  async function refresh(ask: number): Promise<void> {
    try {
      tell({ kind: 'loaded', ask, revision: await loader.refresh() });
    } catch (error) {
      // The last good snapshot goes on serving; the next poll tries again.
      log.warn({ reason: (error as Error).message }, 'changes could not be read');
    }
  }

  port.on('message', (message: Told) => {
    if (message.kind === 'changed') void refresh(message.ask);
    else {
      clearInterval(poll);
      server.close(() => void end());
      server.closeIdleConnections();
    }
  });
  async function end(): Promise<void> {
    await pools.close();
    await reader.close();
    await shared.close();
    port.close();
  }
  server.once('error', error =>
    tell({ kind: 'failed', code: (error as NodeJS.ErrnoException).code ?? '', message: error.message }),
  );
  server.listen({ host: data.host, port: data.port, reusePort: data.reusePort }, () =>
    tell({ kind: 'listening', port: (server.address() as AddressInfo).port }),
  );
}

/** The gateway's own paths, which no API can take. */
function ownPaths(version: string, isLoaded: () => boolean) {
  const json = (response: ServerResponse, status: number, body: unknown) => {
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
    return true;
  };
  return (path: string, response: ServerResponse): boolean => {
    if (path === '/live') return json(response, 200, { message: 'Success' });
    if (path === '/hello')
      return json(response, 200, { status: 'pass', version, description: 'Gatewright gateway', details: {} });
    if (path === '/ready')
      return json(response, isLoaded() ? 200 : 503, { message: isLoaded() ? 'Success' : 'Not ready' });
    return false;
  };
}

if (parentPort) await run(workerData as ThreadData, parentPort);
