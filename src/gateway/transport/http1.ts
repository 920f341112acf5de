import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Clock } from '#base/clock.ts';
import { bodyFrom, noBody } from '../body.ts';
import type { ClientAddress } from '../client-address.ts';
import { Exchange, type Peer } from '../exchange.ts';
import { HeaderList } from '../headers.ts';
import { canonicalPath, isBad, type PathRules, splitTarget } from '../path.ts';
import type { Handler, Sink } from './sink.ts';

export interface Http1Options {
  readonly handler: Handler;
  readonly clock: Clock;
  readonly paths: PathRules;
  readonly clientAddress: ClientAddress;
  /** Paths the gateway answers itself, such as /hello. True when it did. */
  readonly own: (path: string, response: ServerResponse) => boolean;
  readonly headerBytes: number;
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
}

/** Node's own HTTP/1.1 server as a transport: requests become exchanges, sinks become responses. */
export function http1Server(options: Http1Options): Server {
  const server = createServer(
    {
      maxHeaderSize: options.headerBytes,
      headersTimeout: options.headersTimeoutMs,
      requestTimeout: options.requestTimeoutMs,
      keepAliveTimeout: 75_000,
      insecureHTTPParser: false,
      requireHostHeader: true,
      noDelay: true,
    },
    (request, response) => receive(request, response, options),
  );
  server.maxHeadersCount = 200;
  return server;
}

function receive(request: IncomingMessage, response: ServerResponse, options: Http1Options): void {
  const target = splitTarget(request.url!);
  if (isBad(target)) return refuseBadRequest(response, target.fault);
  if (options.own(target.path, response)) return;
  const path = canonicalPath(target.path, options.paths);
  if (isBad(path)) return refuseBadRequest(response, path.fault);
  const headers = new HeaderList(request.rawHeaders);
  const framing = framingFault(headers);
  if (framing) return refuseBadRequest(response, framing);
  const peer = peerOf(request.socket);
  const call = new Exchange({
    method: request.method!,
    target: request.url!,
    path,
    query: target.query,
    host: hostOf(target.host ?? request.headers.host ?? ''),
    headers,
    body: bodyIn(request, headers),
    peer,
    clientAddress: options.clientAddress(peer.address, headers),
    receivedAtMs: options.clock.now(),
    startedAt: performance.now(),
  });
  options.handler.handle(call, sinkOf(call, request, response));
}

/** Lower-case, without port and final dot. */
export function hostOf(given: string): string {
  const host = given.toLowerCase();
  const name = host.startsWith('[') ? host.slice(0, host.indexOf(']') + 1) : host.split(':', 1)[0]!;
  return name.endsWith('.') ? name.slice(0, -1) : name;
}

/** What Node's parser lets through although two readers could take it for different messages. */
function framingFault(headers: HeaderList): string | undefined {
  if (headers.all('host').length > 1) return 'more than one Host';
  const lengths = headers.all('content-length');
  if (lengths.length > 1 || lengths.some(value => !/^\d{1,15}$/.test(value)))
    return 'more than one Content-Length, or none that is a number';
  const codings = headers.all('transfer-encoding');
  if (codings.length === 0) return undefined;
  if (lengths.length > 0) return 'both Content-Length and Transfer-Encoding';
  return codings.length === 1 && codings[0]!.toLowerCase() === 'chunked'
    ? undefined
    : 'a Transfer-Encoding other than chunked';
}

function bodyIn(request: IncomingMessage, headers: HeaderList) {
  const length = headers.get('content-length');
  if (length !== undefined) return length === '0' ? noBody() : bodyFrom(request, Number(length));
  return headers.has('transfer-encoding') ? bodyFrom(request, undefined) : noBody();
}

const peers = new WeakMap<Socket, Peer>();

/** A connection's facts are read once. */
function peerOf(socket: Socket): Peer {
  const known = peers.get(socket);
  if (known) return known;
  const tls = 'encrypted' in socket ? (socket as TLSSocket) : undefined;
  const peer: Peer = {
    address: plainAddress(socket.remoteAddress ?? ''),
    secure: tls !== undefined,
    serverName: (tls?.servername || '').toString().toLowerCase().replace(/\.$/, ''),
    certificate: tls?.getPeerX509Certificate()?.raw,
  };
  peers.set(socket, peer);
  return peer;
}

const plainAddress = (address: string) => (address.startsWith('::ffff:') ? address.slice(7) : address);

function refuseBadRequest(response: ServerResponse, fault: string): void {
  const body = `Bad Request: ${fault}`;
  response.writeHead(400, [
    'Content-Type',
    'text/plain; charset=utf-8',
    'Content-Length',
    String(Buffer.byteLength(body)),
    'Connection',
    'close',
  ]);
  response.end(body);
}

function sinkOf(call: Exchange, request: IncomingMessage, response: ServerResponse): Sink {
  const sink = new Http1Sink(request, response, !call.body.isEmpty);
  response.on('close', () => {
    if (response.writableFinished) return;
    call.gone = true;
    call.onGone?.();
  });
  return sink;
}

class Http1Sink implements Sink {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #hasBody: boolean;
  #drain: (() => void) | undefined;
  #listening = false;

  constructor(request: IncomingMessage, response: ServerResponse, hasBody: boolean) {
    this.#request = request;
    this.#response = response;
    this.#hasBody = hasBody;
  }

  get onDrain(): (() => void) | undefined {
    return this.#drain;
  }

  set onDrain(listener: (() => void) | undefined) {
    this.#drain = listener;
  }

  start(status: number, headers: string[]): void {
    // A body nobody reads would be taken for the next call.
    if (this.#hasBody && !this.#request.complete) headers.push('Connection', 'close');
    this.#response.writeHead(status, headers);
  }

  write(chunk: Uint8Array): boolean {
    const more = this.#response.write(chunk);
    if (!more && !this.#listening) {
      this.#listening = true;
      this.#response.on('drain', () => this.#drain?.());
    }
    return more;
  }

  finish(chunk?: Uint8Array): void {
    if (chunk) this.#response.end(chunk);
    else this.#response.end();
  }

  abort(): void {
    this.#response.destroy();
  }
}
