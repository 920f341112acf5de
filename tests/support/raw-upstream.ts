import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import type {
  UpstreamDispatcher,
  UpstreamHandler,
  UpstreamRequestOptions,
} from '../../src/gateway/proxy/upstream-dispatcher.ts';

/** Upstream that writes bytes as they are. `respond` is called for each request head that arrived complete. */
export interface RawUpstream {
  readonly origin: string;
  readonly port: number;
  /** Open connections. */
  readonly sockets: Set<Socket>;
  /** Connections so far. */
  readonly connectionCount: () => number;
  /** Bytes received, by connection. */
  readonly received: string[];
  onConnection: (socket: Socket) => void;
  respond: (socket: Socket, request: { readonly connection: number; readonly index: number }) => void;
}

export async function startRawUpstream(t: TestContext): Promise<RawUpstream> {
  const sockets = new Set<Socket>();
  const received: string[] = [];
  const server = createServer(socket => {
    const connection = received.push('') - 1;
    let index = 0;
    let head = '';
    sockets.add(socket);
    upstream.onConnection(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk: Buffer) => {
      const text = chunk.toString('latin1');
      received[connection] += text;
      head += text;
      for (let end = head.indexOf('\r\n\r\n'); end >= 0; end = head.indexOf('\r\n\r\n')) {
        head = head.slice(end + 4);
        upstream.respond(socket, { connection, index: index++ });
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const upstream: RawUpstream = {
    origin: `http://127.0.0.1:${port}`,
    port,
    sockets,
    connectionCount: () => received.length,
    received,
    onConnection: () => undefined,
    respond: socket => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'),
  };
  return upstream;
}

/** What a handler received. */
export interface DispatchResult {
  readonly status: number;
  readonly headers: readonly string[];
  readonly interim: readonly number[];
  readonly body: string;
  readonly trailers: readonly string[];
  /** Code of the failure; empty without one. */
  readonly error: string;
  /** Bytes that the connection had read before, as the retry rule sees them. */
  readonly bytesRead: number;
}

export type DispatchOptions = Partial<UpstreamRequestOptions>;

export interface DispatchHooks {
  readonly onConnect?: (abort: (error?: Error) => void) => void;
  readonly onHeaders?: (resume: () => void) => boolean;
  readonly onData?: (chunk: Buffer, resume: () => void) => boolean;
}

/** Sends one request and collects the response. */
export function dispatchRequest(
  pool: Pick<UpstreamDispatcher, 'dispatch'>,
  options: DispatchOptions = {},
  hooks: DispatchHooks = {},
): Promise<DispatchResult> {
  const { promise, resolve, reject } = Promise.withResolvers<DispatchResult>();
  const seen = { status: 0, headers: [] as string[], interim: [] as number[], body: '' };
  let continueReading: () => void = () => undefined;
  let isSettled = false;
  const settle = (result: Pick<DispatchResult, 'trailers' | 'error' | 'bytesRead'>) => {
    if (isSettled) return reject(new Error('the handler was called after its end'));
    isSettled = true;
    resolve({ ...seen, ...result });
  };
  const handler: UpstreamHandler = {
    onConnect: abort => hooks.onConnect?.(abort),
    onHead(status, headers, resume) {
      continueReading = resume;
      if (status < 200) {
        seen.interim.push(status);
        return true;
      }
      seen.status = status;
      seen.headers = [...headers];
      return hooks.onHeaders?.(resume) ?? true;
    },
    onData(chunk: Buffer) {
      seen.body += chunk.toString('latin1');
      return hooks.onData?.(chunk, continueReading) ?? true;
    },
    onReadEnd: () => undefined,
    onComplete: trailers => settle({ trailers, error: '', bytesRead: 0 }),
    onError: (error: NodeJS.ErrnoException & { socket?: { bytesRead: number } }) =>
      settle({ trailers: [], error: error.code ?? error.message, bytesRead: error.socket?.bytesRead ?? 0 }),
  };
  pool.dispatch(
    {
      ...{ origin: '', path: '/', method: 'GET', headers: ['host', 'upstream.test'] },
      ...{ body: undefined, hasCallerTimeout: false },
      ...options,
    },
    handler,
  );
  return promise;
}
