import { constants, performServerHandshake, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import { type Body, noBody } from '../http/body.ts';
import { readGrpcType, toGrpcStatus } from '../http/grpc.ts';
import { HeaderList } from '../http/headers.ts';
import type { InvalidRequest } from '../http/request-head.ts';
import { Exchange, type Peer } from '../pipeline/exchange.ts';
import { writeTrailersOnly, writeUnroutedResponse } from '../pipeline/respond.ts';
import { type BodyRate, createBodyRate } from './body-rate.ts';
import { createBadRequestResponse, createExchange } from './create-exchange.ts';
import { isolateStreamErrors } from './http2-stream-errors.ts';
import { Http2Writer } from './http2-writer.ts';
import { readPeer } from './peer.ts';
import type { Transport, TransportOptions } from './transport.ts';

/** SETTINGS_MAX_CONCURRENT_STREAMS of a connection. */
const maxConcurrentStreams = 100;
/** Flood protection: invalid frames and stream resets (rapid reset) before a connection is closed. */
const maxInvalidFrames = 50;
const maxResetBurst = 200;
const maxResetsPerSecond = 33;
const maxSessionMegabytes = 10;

/** HTTP/2 transport on Node's server, over TLS or cleartext. */
export function createHttp2Transport(options: TransportOptions): Transport {
  const { limits } = options;
  const bodyRate = createBodyRate(limits.bodyRate);
  const sessions = new Map<ServerHttp2Session, number>();

  function receive(stream: ServerHttp2Stream, raw: readonly string[], peer: Peer): void {
    stream.on('error', () => undefined);
    const writer = new Http2Writer(stream, limits.writeTimeoutMs, options.onWriteError);
    const head = parseHead(raw);
    const call =
      'fault' in head
        ? head
        : createExchange(
            {
              ...head,
              peer,
              protocol: 'HTTP/2.0',
              mayOmitHost: false,
              body: headers => createHttp2Body(bodyRate, stream, headers),
            },
            options,
          );
    if (!(call instanceof Exchange)) {
      const parsed = 'fault' in head ? undefined : head;
      options.onInvalidRequest?.({
        ...call,
        peer,
        protocol: 'HTTP/2.0',
        method: parsed?.method,
        target: parsed?.target,
      });
      return refuseRequest(writer, call, parsed);
    }
    stream.once('close', () => {
      if (writer.isComplete) return;
      call.isClientDisconnected = true;
      call.onDisconnect?.();
    });
    if (!call.body.isEmpty && limits.requestTimeoutMs > 0) closeAfterTimeout(stream, limits.requestTimeoutMs);
    options.handler.handle(call, writer);
  }

  return {
    accept(socket, port) {
      socket.on('error', () => undefined);
      // Streams are reset individually: a half-closed connection is a disconnect.
      socket.allowHalfOpen = false;
      const session = performServerHandshake(socket, {
        maxSessionInvalidFrames: maxInvalidFrames,
        maxSessionRejectedStreams: maxInvalidFrames,
        maxSessionMemory: maxSessionMegabytes,
        maxHeaderListPairs: limits.maxHeaders + 4,
        streamResetBurst: maxResetBurst,
        streamResetRate: maxResetsPerSecond,
        settings: {
          maxConcurrentStreams: maxConcurrentStreams,
          maxHeaderListSize: limits.maxHeaderBytes,
          enablePush: false,
        },
      });
      isolateStreamErrors(session, maxInvalidFrames);
      const peer = readPeer(socket, port, options.clientAddress);
      sessions.set(session, port);
      session.once('close', () => sessions.delete(session));
      session.on('error', () => session.destroy());
      session.setTimeout(limits.keepAliveTimeoutMs, () => session.close());
      session.on('stream', (stream, _headers, _flags, raw) => {
        receive(stream, raw as string[], peer);
        // GOAWAY; streams in progress still complete.
        if (options.closesAfterResponse) session.close();
      });
    },
    close() {
      for (const session of sessions.keys()) session.close();
    },
    closePort(port) {
      for (const [session, sessionPort] of sessions) if (sessionPort === port) session.close();
    },
  };
}

/** Converts pseudo-headers to method, target and Host, as in HTTP/1.1 (RFC 9113, 8.3.1). */
function parseHead(raw: readonly string[]): { method: string; target: string; headers: HeaderList } | InvalidRequest {
  const flat: string[] = [];
  let method = '';
  let target = '';
  let authority = '';
  let host: string | undefined;
  let cookie = '';
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at]!;
    const value = raw[at + 1]!;
    if (name === ':method') method = value;
    else if (name === ':path') target = value;
    else if (name === ':authority') authority = value;
    else if (name === 'cookie') cookie = cookie ? `${cookie}; ${value}` : value;
    else if (name === 'host' && host !== undefined) return { status: 400, fault: 'more than one Host' };
    else if (name === 'host') host = value;
    else if (!name.startsWith(':')) flat.push(name, value);
  }
  if (host !== undefined && authority !== '' && host.toLowerCase() !== authority.toLowerCase())
    return { status: 400, fault: 'the Host header differs from :authority' };
  flat.push('host', authority || (host ?? ''));
  // Cookie crumbs are joined (RFC 9113, 8.2.3).
  if (cookie !== '') flat.push('cookie', cookie);
  return { method, target, headers: new HeaderList(flat) };
}

function createHttp2Body(rate: BodyRate, stream: ServerHttp2Stream, headers: HeaderList): Body {
  if (stream.endAfterHeaders) return noBody();
  const length = headers.get('content-length');
  const expectsContinue = headers.get('expect')?.toLowerCase() === '100-continue';
  return rate.body(
    {
      [Symbol.asyncIterator]() {
        if (expectsContinue && !stream.headersSent && !stream.destroyed) stream.additionalHeaders({ ':status': 100 });
        return stream.iterator({ destroyOnReturn: false }) as AsyncIterator<Uint8Array>;
      },
    },
    length === undefined ? undefined : Number(length),
  );
}

function closeAfterTimeout(stream: ServerHttp2Stream, timeoutMs: number): void {
  const timer = setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), timeoutMs);
  stream.once('end', () => clearTimeout(timer));
  stream.once('close', () => clearTimeout(timer));
}

function refuseRequest(
  writer: Http2Writer,
  bad: InvalidRequest,
  head?: { readonly method: string; readonly headers: HeaderList },
): void {
  const { headers, body } = createBadRequestResponse(bad);
  const grpcType = head && readGrpcType(head.method, head.headers);
  if (grpcType === undefined) return writeUnroutedResponse(writer, bad.status, headers, body);
  writeTrailersOnly(writer, new HeaderList(headers), grpcType, toGrpcStatus(bad.status), body.toString());
}
