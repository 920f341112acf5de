import { createHash } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { isObject } from '#base/json-tree.ts';
import { parseStrictJson } from '#base/strict-json.ts';
import { WebSocketPeer } from '../../proxy/websocket-peer.ts';
import type { SourceConnection } from '../data-graph.ts';
import { SourceError } from '../engine/source-error.ts';
import { EventQueue } from './event-queue.ts';
import { isSocketProtocol, messageTypes, type SocketProtocol } from './socket-protocols.ts';

/** RFC 6455, 1.3. */
const acceptSuffix = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

export const computeSocketAccept = (key: string): string =>
  createHash('sha1')
    .update(key + acceptSuffix)
    .digest('base64');

export interface UpstreamSocketOptions {
  readonly sourceName: string;
  /** That of the handshake. */
  readonly protocol: SocketProtocol;
  readonly operation: unknown;
  /** Ends the subscription. */
  readonly signal: AbortSignal;
  readonly maxMessageBytes: number;
  readonly maxValues: number;
  /** For the acknowledgement of the connection. */
  readonly timeoutMs: number;
  readonly closeTimeoutMs: number;
  readonly pingIntervalMs: number;
}

export interface HandshakeOptions {
  readonly sourceName: string;
  /** `Sec-WebSocket-Key` that was sent. */
  readonly key: string;
  readonly offered: readonly SocketProtocol[];
}

/** The subprotocol that the server chose. Throws where it opened no WebSocket: the caller ends the connection. */
export function readHandshake({ status, headers }: SourceConnection, options: HandshakeOptions): SocketProtocol {
  const { sourceName, offered } = options;
  if (status !== 101) throw new SourceError(`the data source ${sourceName} responded with status ${status}`);
  const protocol = readProtocol(headers, options);
  if (protocol !== undefined) return protocol;
  throw new SourceError(`the data source ${sourceName} has no WebSocket with ${offered.join(' or ')}`);
}

/** The only operation of a connection to a source. */
const operationId = '1';

/**
 * Subscription at a GraphQL server over a WebSocket of its own: `graphql-transport-ws`, or the older `graphql-ws`. Yields
 * payloads with data and errors, and ends the connection.
 */
export async function* readSocketEvents(stream: Duplex, options: UpstreamSocketOptions): AsyncGenerator<unknown, void> {
  const { sourceName } = options;
  const queue = new EventQueue<unknown>();
  const fail = (reason: string) => queue.end(new SourceError(`the data source ${sourceName} ${reason}`));
  const stop = () => queue.end();
  options.signal.addEventListener('abort', stop, { once: true });
  const timer = setTimeout(() => fail('did not acknowledge the connection'), options.timeoutMs);
  const types = messageTypes[options.protocol];
  let isAcknowledged = false;
  const peer = new WebSocketPeer(stream, {
    isClient: true,
    maxMessageBytes: options.maxMessageBytes,
    closeTimeoutMs: options.closeTimeoutMs,
    pingIntervalMs: options.pingIntervalMs,
    onMessage(text) {
      const message = readMessage(text, options.maxValues);
      if (!message) return fail('sent a message that is no JSON object');
      switch (message.type) {
        case 'connection_ack':
          if (isAcknowledged) return fail('acknowledged the connection twice');
          isAcknowledged = true;
          clearTimeout(timer);
          return peer.reply(JSON.stringify({ id: operationId, type: types.start, payload: options.operation }));
        case 'connection_error':
          return fail('refused the connection');
        case 'ping':
          return peer.reply(JSON.stringify({ type: 'pong' }));
        case types.result:
          return queue.push(message.payload);
        case 'error':
          return queue.end(new SourceError(readFirstError(message.payload) ?? `the data source ${sourceName} failed`));
        case 'complete':
          return queue.end();
        default:
          // `ka` of the older protocol, `pong`.
          return undefined;
      }
    },
    onError: () => fail('failed'),
    onClose: code => fail(`closed the connection (${code})`),
  });
  peer.send(JSON.stringify({ type: 'connection_init', payload: {} }));
  try {
    yield* queue.read();
  } finally {
    clearTimeout(timer);
    options.signal.removeEventListener('abort', stop);
    // A reader that stops early takes no further event: the connection would wait for it.
    queue.end();
    peer.send(JSON.stringify({ id: operationId, type: types.stop }));
    peer.close();
  }
}

function readMessage(text: string, maxValues: number) {
  const read = parseStrictJson(Buffer.from(text), maxValues);
  return 'value' in read && isObject(read.value) ? read.value : undefined;
}

/** Payload of an `error` message: a list of errors, or one in the older protocol. */
function readFirstError(payload: unknown): string | undefined {
  const first: unknown = Array.isArray(payload) ? payload[0] : payload;
  return isObject(first) && typeof first.message === 'string' ? first.message : undefined;
}

/** The subprotocol that the server chose; undefined where its handshake is invalid (RFC 6455, 4.1). */
function readProtocol(headers: readonly string[], { key, offered }: HandshakeOptions): SocketProtocol | undefined {
  const find = (name: string) => {
    const at = headers.findIndex((it, index) => index % 2 === 0 && it.toLowerCase() === name);
    return at < 0 ? '' : headers[at + 1]!.trim();
  };
  const chosen = find('sec-websocket-protocol');
  if (find('sec-websocket-accept') !== computeSocketAccept(key) || find('sec-websocket-extensions') !== '')
    return undefined;
  return isSocketProtocol(chosen) && offered.includes(chosen) ? chosen : undefined;
}
