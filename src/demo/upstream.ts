import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Log } from '#base/log.ts';
import { createServer } from '#base/node-http.ts';
import type { Random } from './random.ts';
import { createUpstreamRoutes } from './upstream-routes.ts';

/** Upstream of the sample APIs, on loopback only. */
export interface DemoUpstream {
  readonly port: number;
  readonly origin: string;
  close(): Promise<void>;
}

export const upstreamHost = '127.0.0.1';
const maxBodyBytes = 65_536;
const maxConnections = 500;

/** Listens on the preferred port, which the definitions name already, or on a free one. */
export async function startDemoUpstream(
  preferredPort: number,
  { random, log }: { readonly random: Random; readonly log: Log },
): Promise<DemoUpstream> {
  const respond = createUpstreamRoutes(random);
  const server = createServer((request, response) => {
    receive(request, response, respond).catch((error: unknown) => {
      log.error({ err: error }, 'demo upstream failed');
      response.destroy();
    });
  });
  server.maxConnections = maxConnections;
  // A start that fails later ends the process all the same.
  server.unref();
  const listen = (port: number) =>
    new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, upstreamHost, () => {
        server.removeListener('error', reject);
        resolve();
      });
    });
  await listen(preferredPort).catch(async (error: NodeJS.ErrnoException) => {
    if (preferredPort === 0 || !['EADDRINUSE', 'EACCES'].includes(error.code ?? '')) throw error;
    await listen(0);
  });
  const { port } = server.address() as AddressInfo;
  return {
    port,
    origin: toOrigin(port),
    close() {
      server.closeAllConnections();
      return new Promise(resolve => server.close(() => resolve()));
    },
  };
}

export const toOrigin = (port: number): string => `http://${upstreamHost}:${port}`;

type Respond = ReturnType<typeof createUpstreamRoutes>;

/** Reads the body within its bound, and sends the response of its route. */
async function receive(request: IncomingMessage, response: ServerResponse, respond: Respond): Promise<void> {
  // A client that closes its connection is no error of the upstream.
  request.on('error', () => response.destroy());
  const body = await readBody(request);
  if (body === undefined) return void response.writeHead(413).end();
  const result = await respond({ method: request.method ?? 'GET', path: request.url ?? '/', body });
  if (result === 'reset') return void response.destroy();
  const { status, value } = result;
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(value === undefined ? undefined : JSON.stringify(value));
}

/** Undefined for a body beyond the bound. */
function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  return new Promise(resolve => {
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= maxBodyBytes) chunks.push(chunk);
    });
    request.on('end', () => resolve(bytes > maxBodyBytes ? undefined : Buffer.concat(chunks).toString('utf8')));
  });
}
