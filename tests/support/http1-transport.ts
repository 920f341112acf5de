import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { type Clock, systemClock } from '#base/clock.ts';
import { createClientClaims } from '#gateway/http/client-claims.ts';
import { createClientAddressResolver } from '#gateway/pipeline/client-address.ts';
import type { Exchange } from '#gateway/pipeline/exchange.ts';
import type { ResponseWriter } from '#gateway/pipeline/response-writer.ts';
import type { Transport, TransportFactory, TransportLimits, TransportOptions } from '#gateway/server/transport.ts';
import { type Caller, callerOn } from '../hostile/raw.ts';

export type Handler = (call: Exchange, writer: ResponseWriter) => void | Promise<void>;

/** Limits that no test reaches, unless it sets its own. */
const farLimits: TransportLimits = {
  maxHeaderBytes: 8192,
  maxHeaders: 50,
  headersTimeoutMs: 60_000,
  requestTimeoutMs: 60_000,
  bodyRate: { minBytesPerSecond: 0, windowMs: 1000 },
  keepAliveTimeoutMs: 60_000,
  halfCloseTimeoutMs: 60_000,
  writeTimeoutMs: 60_000,
};

export interface TransportHarness {
  readonly transport: Transport;
  readonly writeErrors: readonly Error[];
  /** Opens a connection that the transport accepts at `port`, 0 for the gateway's own: the client, and its other end. */
  open(port?: number): Promise<Caller & { readonly accepted: Socket }>;
}

export interface HarnessOptions extends Partial<Omit<TransportOptions, 'limits'>> {
  readonly limits?: Partial<TransportLimits>;
  readonly clock?: Clock;
}

/** A transport that accepts connections over loopback; `t` closes all of them after its test. */
export async function startTransport(
  t: { after(end: () => void): void },
  factory: TransportFactory,
  handle: Handler,
  { limits, ...options }: HarnessOptions = {},
): Promise<TransportHarness> {
  const writeErrors: Error[] = [];
  const transport = factory({
    handler: { handle: (call, writer) => void handle(call, writer) },
    clock: systemClock,
    paths: { keepEncodedSlashes: false, keepDoubleEncoding: false },
    clientAddress: createClientAddressResolver([]),
    isClientClaim: createClientClaims([]),
    limits: { ...farLimits, ...limits },
    webSockets: true,
    onWriteError: error => void writeErrors.push(error),
    ...options,
  });
  const server = createServer({ allowHalfOpen: true, noDelay: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    transport.close();
  });
  return {
    transport,
    writeErrors,
    async open(port = 0) {
      const connected = once(server, 'connection');
      const client = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true });
      const [accepted] = (await connected) as [Socket];
      t.after(() => {
        client.destroy();
        accepted.destroy();
      });
      const caller = callerOn(client);
      transport.accept(accepted, port);
      return { ...caller, accepted };
    },
  };
}

/** Writes a complete response with a Content-Length. */
export function respondWith(writer: ResponseWriter, body: string, headers: readonly string[] = []): void {
  writer.writeHead(200, ['Content-Length', String(body.length), ...headers]);
  writer.end(Buffer.from(body, 'latin1'));
}
