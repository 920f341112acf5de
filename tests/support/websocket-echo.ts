import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';

/** Agrees to become a WebSocket, then repeats every byte or every message. */
export interface Echo {
  readonly port: number;
  readonly asked: IncomingMessage[];
  readonly sockets: Duplex[];
  /** Instead of agreeing. */
  answer: ((request: IncomingMessage, socket: Duplex) => void) | undefined;
  /** Responds to requests that are no upgrade; by default with their URL. */
  respond: ((request: IncomingMessage, response: ServerResponse) => void) | undefined;
  connections: number;
  close(): Promise<void>;
}

export async function startEcho(server: Server = createServer()): Promise<Echo> {
  const echo: Echo = {
    port: 0,
    asked: [],
    sockets: [],
    answer: undefined,
    respond: undefined,
    connections: 0,
    close: () =>
      new Promise(resolve => {
        for (const socket of echo.sockets) socket.destroy();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  server.on('connection', () => echo.connections++);
  server.on('request', (request, response) => {
    echo.asked.push(request);
    if (echo.respond) return echo.respond(request, response);
    response.end(JSON.stringify({ url: request.url, upgrade: request.headers.upgrade ?? null }));
  });
  server.on('upgrade', (request, socket, head) => {
    echo.asked.push(request);
    echo.sockets.push(socket);
    socket.on('error', () => undefined);
    if (echo.answer) return echo.answer(request, socket);
    const accept = createHash('sha1')
      .update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
      .digest('base64');
    const [protocol] = request.headers['sec-websocket-protocol']?.split(',') ?? [];
    const selected = protocol === undefined ? '' : `Sec-WebSocket-Protocol: ${protocol.trim()}\r\n`;
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n${selected}X-Theirs: 1\r\n\r\n`,
    );
    if (head.length > 0) socket.unshift(head);
    if (request.headers['x-bytes']) socket.pipe(socket);
    else socket.on('data', chunk => repeatFrames(chunk, socket));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(echo, { port: (server.address() as AddressInfo).port });
}

/** Short text frames of a client, sent back as a server would. */
function repeatFrames(chunk: Buffer, socket: Duplex): void {
  for (let rest = chunk; rest.length > 0; rest = rest.subarray(6 + (rest[1]! & 0x7f))) {
    if ((rest[0]! & 0x0f) === 8) return void socket.end(Buffer.from([0x88, 0]));
    const length = rest[1]! & 0x7f;
    const mask = rest.subarray(2, 6);
    const text = rest.subarray(6, 6 + length).map((byte, at) => byte ^ mask[at % 4]!);
    socket.write(Buffer.concat([Buffer.from([0x81, length]), text]));
  }
}
