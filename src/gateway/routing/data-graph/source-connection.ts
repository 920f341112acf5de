import { type Duplex, duplexPair, Readable } from 'node:stream';
import type { OpeningConnection, SourceConnection, SourceRequest } from '../../graphql/data-graph.ts';
import type { Exchange } from '../../pipeline/exchange.ts';
import type { ResponseWriter } from '../../pipeline/response-writer.ts';
import type { UpstreamAddress } from '../../pipeline/upstream-address.ts';
import { createSourceExchange } from './source-exchange.ts';

export interface SourceConnectionOwner {
  /** Request of the client. */
  readonly whole: Exchange;
  readonly credentialHeaders: readonly string[];
  dispatch(call: Exchange, address: UpstreamAddress, writer: ResponseWriter): void;
}

/**
 * Opens a connection to a source through the proxy: a response that streams, or a WebSocket. The exchange sees a client
 * that reads as fast as the stream is read.
 */
export function connectToSource(
  request: SourceRequest,
  upgrade: '' | 'websocket',
  { whole, credentialHeaders, dispatch }: SourceConnectionOwner,
): OpeningConnection {
  const { call, address } = createSourceExchange(request, whole, credentialHeaders, upgrade);
  const { promise, resolve } = Promise.withResolvers<SourceConnection | undefined>();
  let stream: Readable | undefined;
  let isAbandoned = false;
  const open = (status: number, headers: readonly string[], opened: Readable) => {
    stream = opened;
    // An error is seen by the reader, if there is one.
    opened.on('error', () => undefined);
    resolve({ status, headers: [...headers], stream: opened, isFailed: call.upstreamFailure !== undefined });
    if (isAbandoned) opened.destroy();
  };
  const writer = createConnectionWriter(open, () => resolve(undefined));
  dispatch(call, address, writer);
  return {
    connection: promise,
    abandon() {
      isAbandoned = true;
      call.isClientDisconnected = true;
      call.onDisconnect?.();
      stream?.destroy();
      resolve(undefined);
    },
  };
}

type OpenConnection = (status: number, headers: readonly string[], stream: Readable) => void;

/** Response writer whose body is a stream, with the backpressure of its reader. */
function createConnectionWriter(open: OpenConnection, onAbort: () => void): ResponseWriter {
  let body: Readable | undefined;
  const writer: ResponseWriter = {
    onDrain: undefined,
    writeHead(status, headers) {
      body = new Readable({ read: () => writer.onDrain?.() });
      open(status, headers, body);
    },
    // Copied: the connection reuses its buffer.
    write: chunk => body!.destroyed || body!.push(Buffer.from(chunk)),
    end(chunk) {
      if (body!.destroyed) return;
      if (chunk && chunk.byteLength > 0) body!.push(Buffer.from(chunk));
      body!.push(null);
    },
    abort() {
      body?.destroy(new Error('the response is truncated'));
      onAbort();
    },
    switchProtocol(headers) {
      const [ours, theirs] = duplexPair();
      linkEnds(ours, theirs);
      open(101, headers, ours);
      return theirs;
    },
  };
  return writer;
}

/** One end of the pair that is destroyed ends the other. */
function linkEnds(one: Duplex, other: Duplex): void {
  one.once('close', () => other.destroy());
  other.once('close', () => one.destroy());
}
