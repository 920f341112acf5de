import type { Socket } from 'node:net';
import { encode, KafkaError, KafkaReader } from './wire.ts';

export interface KafkaBroker {
  readonly host: string;
  readonly port: number;
}

/** Opens a connection to a broker. Brokers name each other: every address is checked here. */
export type ConnectToBroker = (broker: KafkaBroker) => Promise<Socket>;

export interface KafkaConnection {
  /** One request at a time; the body of its response. */
  request(message: KafkaRequest, waitMs?: number): Promise<KafkaReader>;
  close(): void;
}

export interface KafkaRequest {
  readonly apiKey: number;
  readonly version: number;
  readonly body: Buffer;
}

export interface ConnectionOptions {
  readonly clientId: string;
  readonly maxResponseBytes: number;
  readonly timeoutMs: number;
}

interface PendingResponse {
  readonly id: number;
  readonly resolve: (reader: KafkaReader) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

/** Kafka protocol over a socket: a request has a length, a key, a version and an id that its response repeats. */
export function createKafkaConnection(socket: Socket, options: ConnectionOptions): KafkaConnection {
  const { clientId, maxResponseBytes, timeoutMs } = options;
  const name = clientId === '' ? encode.int16(-1) : encode.text(clientId);
  let pending: PendingResponse | undefined;
  let failure: Error | undefined;
  let lastId = 0;

  function fail(error: Error): void {
    failure ??= error;
    socket.destroy();
    if (pending) clearTimeout(pending.timer);
    pending?.reject(failure);
    pending = undefined;
  }
  const readFrames = createFrameReader(maxResponseBytes, frame => {
    const reader = new KafkaReader(frame);
    if (!pending || reader.int32() !== pending.id) throw new KafkaError('the broker sent an unexpected response');
    clearTimeout(pending.timer);
    const { resolve } = pending;
    pending = undefined;
    resolve(reader);
  });
  socket.on('data', (chunk: Buffer) => {
    try {
      readFrames(chunk);
    } catch (error) {
      fail(error as Error);
    }
  });
  socket.on('error', fail);
  socket.once('close', () => fail(new KafkaError('the broker closed the connection')));
  return {
    request({ apiKey, version, body }, waitMs = 0) {
      const { promise, resolve, reject } = Promise.withResolvers<KafkaReader>();
      if (failure) return Promise.reject(failure);
      lastId = (lastId + 1) & 0x7fffffff;
      const timer = setTimeout(
        () => fail(new KafkaError(`the broker did not respond in ${timeoutMs} ms`)),
        timeoutMs + waitMs,
      );
      pending = { id: lastId, resolve, reject, timer };
      const head = [encode.int16(apiKey), encode.int16(version), encode.int32(lastId), name];
      socket.write(encode.bytes(Buffer.concat([...head, body])));
      return promise;
    },
    close: () => fail(new KafkaError('the connection is closed')),
  };
}

/** Splits a stream into frames. Throws at one that is longer than the bound, before it is received. */
function createFrameReader(maxBytes: number, onFrame: (frame: Buffer) => void): (chunk: Buffer) => void {
  let chunks: Buffer[] = [];
  let received = 0;
  let needed = 4;
  return chunk => {
    chunks.push(chunk);
    received += chunk.length;
    while (received >= needed) {
      const all = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
      const length = all.readInt32BE(0);
      if (length < 4 || length > maxBytes)
        throw new KafkaError(`a response of the broker has more than ${maxBytes} bytes`, true);
      chunks = [all];
      needed = 4 + length;
      if (received < needed) return;
      chunks = [all.subarray(needed)];
      received -= needed;
      const frame = all.subarray(4, needed);
      needed = 4;
      onFrame(frame);
    }
  };
}
