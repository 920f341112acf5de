import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createServer, ServerResponse as NodeResponse } from '#base/node-http.ts';
import { TimeoutQueue } from '#base/timeout-queue.ts';
import { type Body, noBody } from '../http/body.ts';
import { HeaderList } from '../http/headers.ts';
import { requestFaults } from '../http/http1/request-faults.ts';
import type { InvalidRequest } from '../http/request-head.ts';
import { Exchange } from '../pipeline/exchange.ts';
import { writeUnroutedResponse } from '../pipeline/respond.ts';
import { type BodyRate, createBodyRate } from './body-rate.ts';
import { createBadRequestResponse, createExchange } from './create-exchange.ts';
import { Http1Connection } from './http1-connection.ts';
import { Http1Writer } from './http1-writer.ts';
import { readPeer } from './peer.ts';
import type { Transport, TransportOptions } from './transport.ts';

/** Upper bound of Node's timeout check interval. */
const timeoutCheckIntervalMs = 1000;

/** Node's own HTTP/1.1 server as a transport. */
export function createHttp1Transport(options: TransportOptions): Transport {
  const { limits } = options;
  const bodyRate = createBodyRate(limits.bodyRate);
  const connections = new Map<Duplex, Http1Connection>();
  let closing = false;
  const server = createServer({
    maxHeaderSize: limits.maxHeaderBytes,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs && Math.max(limits.requestTimeoutMs, limits.headersTimeoutMs),
    connectionsCheckingInterval: Math.min(timeoutCheckIntervalMs, Math.ceil(limits.headersTimeoutMs / 4)),
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    insecureHTTPParser: false,
    // Checked in createExchange, so that the error has the same format.
    requireHostHeader: false,
    shouldUpgradeCallback: request =>
      options.webSockets && isWebSocketUpgrade(request) && connections.get(request.socket)?.isIdle === true,
  });
  // One more than allowed, to detect excess: Node drops further headers silently.
  server.maxHeadersCount = limits.maxHeaders + 1;

  const halfCloseTimeouts = limits.halfCloseTimeoutMs > 0 ? new TimeoutQueue(limits.halfCloseTimeoutMs) : undefined;
  // Node's own switch, missing in its types: requests in progress are answered after the FIN of a client.
  Object.assign(server, { httpAllowHalfOpen: halfCloseTimeouts !== undefined });

  function receive(request: IncomingMessage, response: ServerResponse, intent?: RequestIntent): void {
    const connection = connections.get(request.socket);
    // Bytes after a request that closes the connection are ignored.
    if (!connection || connection.isClosing) return;
    // Pipelined requests run one at a time: the next may depend on this one, and concurrency per connection stays 1.
    if (!connection.isIdle) return connection.queuePipelined(() => receive(request, response, intent));
    if (options.closesAfterResponse) connection.closeAfterResponse();
    const writer = new Http1Writer(connection, request, response, limits.writeTimeoutMs, options.onWriteError);
    const call = createHttp1Exchange(request, connection, intent, response);
    const isCall = call instanceof Exchange;
    connection.beginCall(request, response, isCall ? call : undefined);
    if (!isCall) {
      const { method, url: target } = request;
      options.onInvalidRequest?.({ ...call, peer: connection.peer, protocol: 'HTTP/1.1', method, target });
      return refuseRequest(writer, connection, call);
    }
    options.handler.handle(call, writer);
  }

  function createHttp1Exchange(
    request: IncomingMessage,
    connection: Http1Connection,
    intent: RequestIntent | undefined,
    response: ServerResponse,
  ) {
    if (intent?.expectation) return requestFaults.expectation;
    if (request.httpVersionMajor !== 1) return requestFaults.version;
    if (request.httpVersion === '1.0' && request.headers['transfer-encoding'] !== undefined)
      return requestFaults.codingInHttp10;
    return createExchange(
      {
        method: request.method!,
        target: request.url!,
        headers: new HeaderList(request.rawHeaders),
        peer: connection.peer,
        upgrade: intent?.upgrade ?? '',
        mayOmitHost: request.httpVersion === '1.0',
        body: headers => createHttp1Body(bodyRate, request, headers, intent?.continue ? response : undefined),
      },
      options,
    );
  }

  server.on('request', (request, response) => receive(request, response));
  server.on('checkContinue', (request, response) => receive(request, response, { continue: true }));
  server.on('checkExpectation', (request, response) => receive(request, response, { expectation: true }));
  server.on('upgrade', (request, socket, first) => {
    const response = attachResponse(request, socket as Socket);
    if (first.length > 0) socket.unshift(first);
    receive(request, response, { upgrade: 'websocket' });
  });
  server.on('connect', (request, socket) => receive(request, attachResponse(request, socket as Socket)));
  server.on('clientError', (error, socket) => connections.get(socket)?.onParseError(error as NodeJS.ErrnoException));
  startTimeoutChecks(server);

  return {
    accept(socket, port) {
      // Socket errors surface as a disconnect in the 'close' event.
      socket.on('error', () => undefined);
      const peer = readPeer(socket, port, options.clientAddress);
      const connection = new Http1Connection(socket, peer, options.onInvalidRequest);
      connections.set(socket, connection);
      socket.once('end', () => connection.onHalfClose(halfCloseTimeouts));
      socket.once('close', () => {
        connections.delete(socket);
        if (closing && connections.size === 0) server.close();
      });
      if (closing) socket.destroy();
      else server.emit('connection', socket);
    },
    close() {
      closing = true;
      for (const connection of connections.values()) connection.closeWhenIdle();
    },
    closePort(port) {
      for (const connection of connections.values()) if (connection.peer.port === port) connection.closeWhenIdle();
    },
  };
}

/** Expectation or upgrade of a request. */
interface RequestIntent {
  readonly continue?: boolean;
  readonly expectation?: boolean;
  readonly upgrade?: string;
}

/** Starts Node's timeout checks, which otherwise start with `listen`: this server is handed its connections. */
function startTimeoutChecks(server: Server): void {
  server.emit('listening');
}

/** Attaches a response to a socket that Node detached (upgrade, CONNECT); the connection closes after it. */
function attachResponse(request: IncomingMessage, socket: Socket): ServerResponse {
  const response = new NodeResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once('finish', () => socket.destroySoon());
  // Node no longer forwards 'drain' of a detached socket.
  socket.on('drain', () => response.emit('drain'));
  return response;
}

/** WebSocket upgrade (RFC 6455, 4.1); any other upgrade is ignored (RFC 9110, 7.8). */
function isWebSocketUpgrade({ method, httpVersion, headers }: IncomingMessage): boolean {
  return (
    method === 'GET' &&
    httpVersion === '1.1' &&
    headers.upgrade?.toLowerCase() === 'websocket' &&
    headers['content-length'] === undefined &&
    headers['transfer-encoding'] === undefined
  );
}

function createHttp1Body(
  rate: BodyRate,
  request: IncomingMessage,
  headers: HeaderList,
  continueResponse: ServerResponse | undefined,
): Body {
  const length = headers.get('content-length');
  if (length === undefined ? !headers.has('transfer-encoding') : Number(length) === 0) return noBody();
  // An early return of the reader must not destroy the socket: the response still goes out over it.
  const read = () => request.iterator({ destroyOnReturn: false }) as AsyncIterator<Uint8Array>;
  return rate.body(
    {
      [Symbol.asyncIterator]() {
        // 100 Continue only when the body is read: a refused request needs none (RFC 9110, 10.1.1).
        continueResponse?.writeContinue();
        return read();
      },
    },
    length === undefined ? undefined : Number(length),
  );
}

function refuseRequest(writer: Http1Writer, connection: Http1Connection, fault: InvalidRequest): void {
  const { headers, body } = createBadRequestResponse(fault);
  connection.closeAfterResponse();
  writeUnroutedResponse(writer, fault.status, headers, body);
}
