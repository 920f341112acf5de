import { createServer, type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type Body, noBody } from '../http/body.ts';
import { HeaderList } from '../http/headers.ts';
import type { InvalidRequest } from '../http/request-head.ts';
import { Exchange } from '../pipeline/exchange.ts';
import { type BodyRate, createBodyRate } from './body-rate.ts';
import { createBadRequestResponse, createExchange } from './create-exchange.ts';
import { Http1Connection } from './http1-connection.ts';
import { Http1Writer } from './http1-writer.ts';
import { readPeer } from './peer.ts';
import type { Transport, TransportOptions } from './transport.ts';

/** How often slow callers are looked for, at the least. */
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
    // Looked at with everything else, so that it is said in the same words.
    requireHostHeader: false,
    shouldUpgradeCallback: request =>
      options.webSockets && isWebSocketUpgrade(request) && connections.get(request.socket)?.isIdle === true,
  });
  // One more than is allowed: Node would drop the rest without a word.
  server.maxHeadersCount = limits.headers + 1;

  function receive(request: IncomingMessage, response: ServerResponse, intent?: RequestIntent): void {
    const connection = connections.get(request.socket);
    // Whatever follows a call that ends the connection, or comes after its end, is not a call.
    if (!connection || connection.isClosing) return;
    // The next call may depend on what this one does, and nobody may have many under way by sending them together.
    if (!connection.isIdle) return connection.queuePipelined(() => receive(request, response, intent));
    if (options.closesAfterResponse) connection.closeAfterResponse();
    const writer = new Http1Writer(connection, request, response, limits.writeTimeoutMs, options.onWriteError);
    const call = createHttp1Exchange(request, connection, intent, response);
    const isCall = call instanceof Exchange;
    connection.beginCall(request, response, isCall ? call : undefined);
    if (!isCall) return refuseRequest(writer, connection, call);
    options.handler.handle(call, writer);
  }

  function createHttp1Exchange(
    request: IncomingMessage,
    connection: Http1Connection,
    intent: RequestIntent | undefined,
    response: ServerResponse,
  ) {
    if (intent?.expectation) return { status: 417, fault: 'the expectation is not one that can be met' };
    if (request.httpVersionMajor !== 1) return { status: 505, fault: 'only HTTP/1.1, HTTP/1.0 and HTTP/2' };
    if (request.httpVersion === '1.0' && request.headers['transfer-encoding'] !== undefined)
      return { status: 400, fault: 'a Transfer-Encoding in HTTP/1.0' };
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
      // Whoever waits for an answer hears of it by the end of the connection; nobody else has to.
      socket.on('error', () => undefined);
      const connection = new Http1Connection(socket, readPeer(socket, port, options.clientAddress));
      connections.set(socket, connection);
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

/** What the caller asks for beside the call itself. */
interface RequestIntent {
  readonly continue?: boolean;
  readonly expectation?: boolean;
  readonly upgrade?: string;
}

/** A server looks for slow callers from the moment it listens. This one never does: connections are brought to it. */
function startTimeoutChecks(server: Server): void {
  server.emit('listening');
}

/** A connection that Node no longer looks after still gets an ordinary answer, and ends with it. */
function attachResponse(request: IncomingMessage, socket: Socket): ServerResponse {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once('finish', () => socket.destroySoon());
  // Nor does Node say any more when there is room for the rest of it.
  socket.on('drain', () => response.emit('drain'));
  return response;
}

/** Only what is exactly that: any other upgrade is left out, and the call is an ordinary one. */
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
  // Whoever stops reading early must not break the connection: the answer still has to go out over it.
  const read = () => request.iterator({ destroyOnReturn: false }) as AsyncIterator<Uint8Array>;
  return rate.body(
    {
      [Symbol.asyncIterator]() {
        // Asked for only when somebody wants it: a call that is refused needs no body.
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
  writer.writeHead(fault.status, headers);
  writer.end(body);
}
