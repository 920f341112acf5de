import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** APIs of a soak. */
export const soakApis = ['steady', 'guarded', 'refused', 'rough', 'partial'] as const;

/**
 * - `steady`: every request is answered completely.
 * - `guarded`: the same behind a token.
 * - `refused`: requests without the token.
 * - `rough`: clients and upstream end requests before their time.
 * - `partial`: uploads that clients abort.
 */
export type ApiName = (typeof soakApis)[number];

export type ApiCounts = Record<ApiName, number>;

export const createApiCounts = (): ApiCounts => ({ steady: 0, guarded: 0, refused: 0, rough: 0, partial: 0 });

export const small = Buffer.alloc(130, 'a');
export const large = Buffer.alloc(102_400, 'c');
export const huge = Buffer.alloc(1_048_576, 'd');
const bodies: Readonly<Record<string, Buffer>> = { small, large, huge };

/** Short, so that idle connections of the gateway end on the side of the upstream. */
const roughKeepAliveMs = 50;

/**
 * Upstream of a soak, on two ports: connections of the second end without notice, and a request to an API that every
 * response is expected of must not meet one of them.
 */
export async function startSoakUpstream(received: ApiCounts) {
  const steady = createServer((incoming, response) => respond(received, incoming, response));
  const rough = createServer((incoming, response) => respond(received, incoming, response));
  rough.keepAliveTimeout = roughKeepAliveMs;
  const servers = [steady, rough];
  return {
    ports: { steady: await listen(steady), rough: await listen(rough) },
    close() {
      for (const server of servers) {
        server.close();
        server.closeAllConnections();
      }
    },
  };
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

function respond(received: ApiCounts, incoming: IncomingMessage, response: ServerResponse): void {
  const [, api, kind] = incoming.url!.split('/') as [string, ApiName, string];
  received[api]++;
  if (kind === 'early') return void response.writeHead(413, { connection: 'close' }).end();
  let bytes = 0;
  incoming.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  incoming.on('error', () => undefined);
  if (kind === 'reset') return void incoming.socket.resetAndDestroy();
  if (kind === 'cut') {
    response.writeHead(200, { 'content-length': large.length });
    response.write(large.subarray(0, 1000), () => response.destroy());
    return;
  }
  // The client leaves before the response.
  if (kind === 'never') return;
  incoming.once('end', () => {
    if (kind === 'chunked') {
      response.writeProcessing();
      response.write(small);
      response.end(small);
    } else if (kind === 'count') response.end(String(bytes));
    else if (kind === 'last') response.writeHead(200, { connection: 'close' }).end(small);
    else {
      const body = bodies[kind] ?? small;
      response.writeHead(200, { 'content-length': body.length }).end(body);
    }
  });
}
