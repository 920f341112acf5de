import { type ClientHttp2Session, constants } from 'node:http2';
import { TimeoutQueue } from '#base/timeout-queue.ts';
import { createGrpcConnections, type GrpcConnectionOptions } from './grpc-connections.ts';
import { GrpcError } from './grpc-error.ts';
import { createUnaryResponse, frameHeadBytes } from './unary-response.ts';

export interface GrpcClientOptions extends GrpcConnectionOptions {
  /** `:authority` of calls; empty for host and port of the address. */
  readonly authority: string;
  readonly timeoutMs: number;
  readonly maxSendBytes: number;
  readonly maxReceiveBytes: number;
}

export interface GrpcClient {
  readonly maxSendBytes: number;
  /** Unary call. `frame` has five bytes for the head of the message before it. Throws `GrpcError`. */
  call(path: string, frame: Uint8Array): Promise<Buffer>;
  close(): void;
}

/** Calls of one thread in progress. */
const maxCallsInProgress = 2000;

/** gRPC over HTTP/2: unary calls with a deadline. */
export function createGrpcClient(options: GrpcClientOptions): GrpcClient {
  const { address, timeoutMs, maxSendBytes, maxReceiveBytes } = options;
  const connections = createGrpcConnections(options);
  const timeouts = new TimeoutQueue(timeoutMs);
  const sharedHead = {
    ':method': 'POST',
    ':scheme': address.isTls ? 'https' : 'http',
    ':authority': options.authority || address.authority,
    'content-type': 'application/grpc',
    te: 'trailers',
    'grpc-timeout': `${timeoutMs}m`,
  };
  let callsInProgress = 0;

  function send(session: ClientHttp2Session, path: string, frame: Uint8Array, isRetry: boolean): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const stream = session.request({ ...sharedHead, ':path': path });
      const entry = {
        expiresAtMs: 0,
        onTimeout() {
          response.fail(new GrpcError('timeout', `no response within ${timeoutMs} ms`));
          connections.ping(session);
        },
      };
      const response = createUnaryResponse(stream, maxReceiveBytes, (error, message) => {
        timeouts.clear(entry);
        if (message) return resolve(message);
        // The server has not processed the stream (RFC 9113, 8.7): the call may be sent again.
        if (isRetry || stream.rstCode !== constants.NGHTTP2_REFUSED_STREAM) return reject(error);
        resolve(Promise.try(() => send(connections.acquire(), path, frame, true)));
      });
      timeouts.start(entry);
      stream.end(frame);
    });
  }

  return {
    maxSendBytes,
    async call(path, frame) {
      const size = frame.length - frameHeadBytes;
      if (size > maxSendBytes) throw new GrpcError('size', `the message has ${size} bytes, more than ${maxSendBytes}`);
      if (callsInProgress >= maxCallsInProgress)
        throw new GrpcError('overload', `more than ${maxCallsInProgress} calls are in progress`);
      writeFrameHead(frame, size);
      callsInProgress++;
      try {
        return await send(connections.acquire(), path, frame, false);
      } finally {
        callsInProgress--;
      }
    },
    close: () => connections.close(),
  };
}

/** Uncompressed, and the length in four bytes. */
function writeFrameHead(frame: Uint8Array, size: number): void {
  frame[0] = 0;
  new DataView(frame.buffer, frame.byteOffset).setUint32(1, size);
}
