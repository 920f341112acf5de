import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ExecutionResult, execute, type GraphQLSchema, parse, subscribe } from 'graphql';
import { makeServer } from 'graphql-ws';

type Bag = Record<string, unknown>;

/** A real GraphQL server with subscriptions over WebSocket (both protocols) and server-sent events. */
export interface SubscriptionServer {
  readonly url: string;
  /** Requests, upgrades included, with their bodies; those of a socket are in `operations`. */
  readonly requests: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[];
  /** Operations that a client sent over a WebSocket. */
  readonly operations: Bag[];
  /** Open subscriptions. */
  readonly feeds: Set<Feed>;
  /** Close codes of the WebSockets that have ended. */
  readonly closeCodes: number[];
  /** Connections that are open. */
  readonly sockets: Set<Duplex>;
  /** Sends a value to all open subscriptions. */
  emit(value: unknown): void;
  close(): Promise<void>;
}

/** Events of one subscription: `push` queues, so a reader that waits gets all. */
export class Feed {
  readonly #queued: unknown[] = [];
  #wake: (() => void) | undefined;
  #isEnded = false;
  /** Values that were taken. */
  taken = 0;

  push(value: unknown): void {
    this.#queued.push(value);
    this.#wake?.();
  }
  end(): void {
    this.#isEnded = true;
    this.#wake?.();
  }
  #waitForValue(): Promise<void> {
    return new Promise(resolve => {
      this.#wake = resolve;
    });
  }
  async *read(): AsyncGenerator<unknown, void> {
    for (;;) {
      if (this.#queued.length > 0) {
        this.taken++;
        yield this.#queued.shift();
      } else if (this.#isEnded) return;
      else await this.#waitForValue();
    }
  }
}

export interface SubscriptionServerOptions {
  readonly schema: GraphQLSchema;
  readonly root?: Bag;
  /** Subprotocols of the server; all by default. */
  readonly protocols?: readonly string[];
}

export async function startSubscriptionServer(options: SubscriptionServerOptions): Promise<SubscriptionServer> {
  const { schema, root = {}, protocols = ['graphql-transport-ws', 'graphql-ws'] } = options;
  const subscriptions = Object.keys(schema.getSubscriptionType()?.getFields() ?? {});
  const rootValue = { ...root, ...Object.fromEntries(subscriptions.map(name => [name, (it: unknown) => it])) };
  const server = createServer((request, response) => void respond(request, response));
  const state: SubscriptionServer = {
    url: '',
    ...{ requests: [], operations: [], feeds: new Set<Feed>(), closeCodes: [], sockets: new Set<Duplex>() },
    emit(value) {
      for (const feed of state.feeds) feed.push(value);
    },
    close: () =>
      new Promise(resolve => {
        for (const feed of state.feeds) feed.end();
        for (const socket of state.sockets) socket.destroy();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };

  function createFeed(field: string): AsyncGenerator<unknown, void> {
    const feed = new Feed();
    state.feeds.add(feed);
    const leave = () => {
      feed.end();
      state.feeds.delete(feed);
    };
    async function* read() {
      try {
        for await (const value of feed.read()) yield { [field]: value };
      } finally {
        leave();
      }
    }
    return leaveOnReturn(read(), leave);
  }

  const run = (query: string, variables: Bag | undefined) => {
    const args = { schema, document: parse(query), rootValue, ...(variables && { variableValues: variables }) };
    return /^\s*subscription/.test(query)
      ? subscribe({ ...args, subscribeFieldResolver: (_root, _args, _context, { fieldName }) => createFeed(fieldName) })
      : execute(args);
  };

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { method = '', url = '', headers } = request;
    state.requests.push({ method, url, headers, body });
    const parameters = new URL(url, 'http://x').searchParams;
    const { query, variables } =
      method === 'POST' ? JSON.parse(body) : { query: parameters.get('query') ?? '', variables: undefined };
    const result = await run(query, variables);
    if (!(Symbol.asyncIterator in result))
      return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(result));
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(':\n\n');
    response.once('close', () => void result.return?.(undefined));
    for await (const it of result as AsyncIterable<ExecutionResult>)
      response.write(`event: next\r\ndata: ${JSON.stringify(it)}\r\n\r\n`);
    response.end('event: complete\ndata: \n\n');
  }

  const graphqlServer = makeServer({
    schema,
    onSubscribe: (_context, _id, { query, variables }) => {
      state.operations.push({ query, variables });
      return { schema, document: parse(query), variableValues: variables ?? {}, rootValue } as never;
    },
    execute: ({ document, variableValues }) =>
      execute({ schema, document, rootValue, variableValues: variableValues! }),
    subscribe: args =>
      subscribe({
        ...args,
        rootValue,
        subscribeFieldResolver: (_root, _args, _context, { fieldName }) => createFeed(fieldName),
      }),
  });

  server.on('upgrade', (request, socket) => {
    const { method = '', url = '', headers } = request;
    state.requests.push({ method, url, headers, body: '' });
    state.sockets.add(socket);
    socket.once('close', () => state.sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map(it => it.trim());
    const protocol = offered.find(it => protocols.includes(it));
    const accept = createHash('sha1')
      .update(`${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
      .digest('base64');
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n` +
        `${protocol === undefined ? '' : `Sec-WebSocket-Protocol: ${protocol}\r\n`}\r\n`,
    );
    const send = (text: string) => void socket.write(toServerFrame(1, Buffer.from(text)));
    const isOlder = protocol === 'graphql-ws';
    let receive: ((text: string) => Promise<void>) | undefined;
    const closed = graphqlServer.opened(
      {
        protocol: 'graphql-transport-ws',
        send: text => send(isOlder ? toOlder(text) : text),
        close: (code = 1000) => {
          const payload = Buffer.alloc(2);
          payload.writeUInt16BE(code);
          socket.write(toServerFrame(8, payload));
        },
        onMessage(listener) {
          receive = listener;
        },
      },
      {},
    );
    readClientFrames(socket, (opcode, payload) => {
      if (opcode === 1) return void receive?.(isOlder ? fromOlder(payload.toString()) : payload.toString());
      if (opcode !== 8) return;
      const code = payload.length >= 2 ? payload.readUInt16BE(0) : 1005;
      state.closeCodes.push(code);
      socket.end(toServerFrame(8, payload.subarray(0, 2)));
      void closed(code, '');
    });
    socket.once('close', () => void closed(1006, ''));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(state, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}

/** A generator that is left at once by `return`, also where nothing was read of it: its own `finally` would not run. */
function leaveOnReturn<T>(source: AsyncGenerator<T, void>, leave: () => void): AsyncGenerator<T, void> {
  const end = source.return.bind(source);
  return Object.assign(source, {
    return(value: undefined) {
      leave();
      return end(value);
    },
  });
}

const olderTypes: Readonly<Record<string, string>> = { next: 'data' };
const newerTypes: Readonly<Record<string, string>> = { start: 'subscribe', stop: 'complete' };

/** Messages of the older protocol, which the package has left behind. */
function toOlder(text: string): string {
  const { type, payload, ...rest } = JSON.parse(text);
  return JSON.stringify({ ...rest, type: olderTypes[type] ?? type, payload: type === 'error' ? payload[0] : payload });
}

function fromOlder(text: string): string {
  const { type, ...rest } = JSON.parse(text);
  return JSON.stringify({ ...rest, type: newerTypes[type] ?? type });
}

function toServerFrame(opcode: number, payload: Buffer): Buffer {
  const { length } = payload;
  if (length < 126) return Buffer.concat([Buffer.from([0x80 | opcode, length]), payload]);
  const head = Buffer.alloc(length < 65_536 ? 4 : 10);
  head[0] = 0x80 | opcode;
  head[1] = length < 65_536 ? 126 : 127;
  if (length < 65_536) head.writeUInt16BE(length, 2);
  else head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, payload]);
}

/** Whole frames of a client, which are masked. */
function readClientFrames(socket: Duplex, onFrame: (opcode: number, payload: Buffer) => void): void {
  let bytes = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk]);
    for (;;) {
      if (bytes.length < 6) return;
      const short = bytes[1]! & 0x7f;
      const head = 2 + (short === 126 ? 2 : short === 127 ? 8 : 0) + 4;
      if (bytes.length < head) return;
      const length = short === 126 ? bytes.readUInt16BE(2) : short === 127 ? Number(bytes.readBigUInt64BE(2)) : short;
      if (bytes.length < head + length) return;
      if ((bytes[1]! & 0x80) === 0) throw new Error('the frame is not masked');
      const mask = bytes.subarray(head - 4, head);
      const payload = Buffer.from(bytes.subarray(head, head + length).map((byte, at) => byte ^ mask[at % 4]!));
      const opcode = bytes[0]! & 0x0f;
      bytes = bytes.subarray(head + length);
      onFrame(opcode, payload);
    }
  });
}
