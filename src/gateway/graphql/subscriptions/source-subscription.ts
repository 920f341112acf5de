import type { Duplex } from 'node:stream';
import { createPublicId } from '#base/ids.ts';
import { parseMediaType } from '#base/media-type.ts';
import type { Settings } from '#base/settings.ts';
import { parseStrictJson } from '#base/strict-json.ts';
import type { DataSource } from '#definition/data-graph/data-source.ts';
import type { SourceConnection, SourceRequest, SubscriptionCall } from '../data-graph.ts';
import { SourceError } from '../engine/source-error.ts';
import { readServerSentEvents } from './event-reader.ts';
import { isSocketProtocol, type SocketProtocol, socketProtocols } from './socket-protocols.ts';
import { readHandshake, readSocketEvents } from './upstream-socket.ts';

export interface SubscriptionBounds {
  readonly maxMessageBytes: number;
  readonly maxValues: number;
  /** For the acknowledgement of a WebSocket connection. */
  readonly timeoutMs: number;
  /** Of Ping frames in a WebSocket; 0 for none. */
  readonly pingIntervalMs: number;
}

/** Bounds by the settings: an event has those of a response. */
export const readSubscriptionBounds = (settings: Settings): SubscriptionBounds => ({
  maxMessageBytes: settings['gateway.max_buffered_body_bytes'],
  maxValues: settings['gateway.max_body_values'],
  timeoutMs: settings['graphql.execution_timeout_ms'],
  pingIntervalMs: settings['graphql.socket_ping_interval_ms'],
});

/** Longer query strings exceed the bounds of many servers, together with their headers. */
const maxQueryLength = 4096;
const closeTimeoutMs = 2000;

/**
 * Subscribes at a GraphQL source by its protocol: a WebSocket, or server-sent events. Yields payloads with data and
 * errors; the connection is that of this subscription, and ends with it.
 */
export async function* subscribeToSource(
  source: DataSource,
  built: SourceRequest,
  { transport, signal }: Pick<SubscriptionCall, 'transport' | 'signal'>,
  bounds: SubscriptionBounds,
): AsyncGenerator<unknown, void> {
  if (signal.aborted) return;
  const key = Buffer.from(createPublicId(), 'hex').toString('base64');
  const { subscriptionType } = source;
  const offered = isSocketProtocol(subscriptionType) ? [subscriptionType] : socketProtocols;
  const isSocket = subscriptionType !== 'sse';
  const request = isSocket ? toUpgradeRequest(built, key, offered) : toEventRequest(built, source.sseUsePost);
  const opening = transport.connect(request, isSocket ? 'websocket' : '');
  let hasPeer = false;
  // The peer of a WebSocket ends its connection, with a Close frame.
  const leave = () => void (hasPeer || opening.abandon());
  signal.addEventListener('abort', leave, { once: true });
  try {
    const connection = await opening.connection;
    if (signal.aborted) return;
    if (!connection || connection.isFailed) throw new SourceError(`the data source ${source.name} is unavailable`);
    if (!isSocket) return yield* readEvents(source.name, connection, bounds);
    const operation: unknown = JSON.parse(built.body!.toString());
    const { name: sourceName } = source;
    const protocol = readHandshake(connection, { sourceName, key, offered });
    hasPeer = true;
    const own = { sourceName, protocol, operation, signal, closeTimeoutMs };
    yield* readSocketEvents(connection.stream as Duplex, { ...bounds, ...own });
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    signal.removeEventListener('abort', leave);
    leave();
  }
}

/** The operation is sent in the socket. */
function toUpgradeRequest(built: SourceRequest, key: string, offered: readonly SocketProtocol[]): SourceRequest {
  const headers = [
    ...withoutHeaders(built.headers, ['content-type', 'sec-websocket-key', 'sec-websocket-protocol']),
    'Sec-WebSocket-Key',
    key,
    'Sec-WebSocket-Version',
    '13',
    'Sec-WebSocket-Protocol',
    offered.join(', '),
  ];
  return { ...built, method: 'GET', headers, body: undefined };
}

/** Server-sent events with GET, unless they are to use POST: values stay in a body, because logs have URLs. */
function toEventRequest(built: SourceRequest, usesPost: boolean): SourceRequest {
  const accepted = [...withoutHeaders(built.headers, ['accept']), 'Accept', 'text/event-stream'];
  const { query: document, variables = {} } = JSON.parse(built.body!.toString()) as {
    query: string;
    variables?: object;
  };
  const parameter = `query=${encodeURIComponent(document)}`;
  const query = built.query === '' ? parameter : `${built.query}&${parameter}`;
  const isPosted = usesPost || Object.keys(variables).length > 0 || query.length > maxQueryLength;
  if (isPosted) return { ...built, headers: accepted };
  return { ...built, method: 'GET', headers: withoutHeaders(accepted, ['content-type']), body: undefined, query };
}

function withoutHeaders(headers: readonly string[], names: readonly string[]): string[] {
  const kept: string[] = [];
  for (let at = 0; at < headers.length; at += 2)
    if (!names.includes(headers[at]!.toLowerCase())) kept.push(headers[at]!, headers[at + 1]!);
  return kept;
}

/** Events of a source: `next` and those without a name have a payload, `complete` is the last. */
async function* readEvents(
  name: string,
  { status, headers, stream }: SourceConnection,
  { maxMessageBytes, maxValues }: SubscriptionBounds,
): AsyncGenerator<unknown, void> {
  if (status < 200 || status > 299) throw new SourceError(`the data source ${name} responded with status ${status}`);
  const at = headers.findIndex((it, index) => index % 2 === 0 && it.toLowerCase() === 'content-type');
  if (parseMediaType(headers[at + 1] ?? '') !== 'text/event-stream')
    throw new SourceError(`the response of the data source ${name} is no event stream`);
  try {
    for await (const event of readServerSentEvents(stream, maxMessageBytes)) {
      if (event.name === 'complete') return;
      if (event.name !== 'next' && event.name !== '' && event.name !== 'message') continue;
      const read = parseStrictJson(Buffer.from(event.data), maxValues);
      if ('fault' in read) throw new SourceError(`an event of the data source ${name} cannot be read: ${read.fault}`);
      yield read.value;
    }
  } catch (error) {
    if (error instanceof SourceError) throw error;
    throw new SourceError(`the event stream of the data source ${name} is incomplete or too large`);
  }
}
