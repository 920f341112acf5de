import { type AddressInfo, createServer, type Socket } from 'node:net';
import { encode, KafkaReader } from '#base/kafka/wire.ts';

export interface KafkaBrokerOptions {
  readonly port?: number;
  /** Address that its metadata have of the leader; its own by default. */
  readonly leader?: { readonly host: string; readonly port: number };
  /** Required of clients, by SASL. */
  readonly credentials?: string;
  /** Length that fetch responses claim. */
  readonly claimedBytes?: number;
  /** Transactions that were rolled back. */
  readonly aborted?: readonly { readonly producerId: bigint; readonly firstOffset: bigint }[];
}

/** A broker with one topic of one partition, whose log the test writes. */
export interface KafkaTestBroker {
  readonly address: string;
  readonly port: number;
  /** Record batches by offset, each of one message or a marker. */
  readonly log: Buffer[];
  readonly clientIds: Set<string>;
  /** Number of open connections. */
  connections(): number;
  /** Number of fetches so far. */
  fetches(): number;
  /** Closes all connections; new ones are accepted. */
  disconnect(): void;
  close(): Promise<void>;
}

export interface RecordBatchOptions {
  readonly attributes?: number;
  readonly producerId?: bigint;
}

const varint = (value: number): Buffer => {
  const bytes: number[] = [];
  let rest = value * 2;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  return Buffer.from([...bytes, rest]);
};

/** A batch of one record with a value (message format 2). */
export function toRecordBatch(offset: number, value: string, options: RecordBatchOptions = {}): Buffer {
  const { attributes = 0, producerId = -1n } = options;
  const bytes = Buffer.from(value);
  const body = Buffer.concat([Buffer.from([0, 0, 0, 1]), varint(bytes.length), bytes, varint(0)]);
  const record = Buffer.concat([varint(body.length), body]);
  const rest = Buffer.concat([
    ...[encode.int32(0), encode.int8(2), encode.int32(0), encode.int16(attributes), encode.int32(0)],
    ...[encode.int64(0n), encode.int64(0n), encode.int64(producerId), encode.int16(0), encode.int32(0)],
    ...[encode.int32(1), record],
  ]);
  return Buffer.concat([encode.int64(BigInt(offset)), encode.bytes(rest)]);
}

export async function startKafkaBroker(topic: string, options: KafkaBrokerOptions = {}): Promise<KafkaTestBroker> {
  const log: Buffer[] = [];
  const clientIds = new Set<string>();
  const sockets = new Set<Socket>();
  let fetches = 0;
  const server = createServer(socket => {
    let input = Buffer.alloc(0);
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    const session = { isKnown: options.credentials === undefined };
    socket.on('data', (chunk: Buffer) => {
      input = Buffer.concat([input, chunk]);
      while (input.length >= 4 && input.length >= 4 + input.readInt32BE()) {
        const end = 4 + input.readInt32BE();
        respond(socket, new KafkaReader(input.subarray(4, end)), session);
        input = input.subarray(end);
      }
    });
  });
  await new Promise<void>(resolve => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const leader = options.leader ?? { host: '127.0.0.1', port };

  function respond(socket: Socket, reader: KafkaReader, session: { isKnown: boolean }): void {
    const key = reader.int16();
    reader.int16();
    const id = encode.int32(reader.int32());
    clientIds.add(reader.text());
    const send = (...parts: Buffer[]) => socket.write(encode.bytes(Buffer.concat([id, ...parts])));
    if (key === 17) return void send(encode.int16(0), encode.list(['PLAIN'], encode.text));
    if (key === 36) {
      session.isKnown = reader.bytes()?.toString() === options.credentials;
      return void send(encode.int16(session.isKnown ? 0 : 58), encode.int16(-1), encode.int32(-1));
    }
    if (!session.isKnown) return void socket.destroy();
    if (key === 18) return void send(encode.int16(0), encode.list([1, 2, 3, 18], encodeVersions));
    if (key === 3) return void send(...encodeMetadata(topic, leader));
    if (key === 2) return void send(...encodeOffset(topic, readTimestamp(reader) === -2n ? 0 : log.length));
    if (options.claimedBytes !== undefined) return void socket.write(encode.int32(options.claimedBytes));
    fetches += 1;
    const { isCommittedOnly, from } = readPosition(reader);
    const aborted = isCommittedOnly ? (options.aborted ?? []) : [];
    const records = Buffer.concat(log.slice(from));
    if (records.length > 0) return void send(...encodeRecords(topic, records, aborted));
    // A long poll, shorter than that of a broker.
    setTimeout(() => send(...encodeRecords(topic, Buffer.concat(log.slice(from)), aborted)), 20).unref();
  }

  return {
    address: `127.0.0.1:${port}`,
    port,
    log,
    clientIds,
    connections: () => sockets.size,
    fetches: () => fetches,
    disconnect() {
      for (const socket of sockets) socket.destroy();
    },
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

const encodeVersions = (key: number): Buffer => Buffer.concat([encode.int16(key), encode.int16(0), encode.int16(12)]);

const encodeMetadata = (topic: string, { host, port }: { host: string; port: number }): Buffer[] => [
  encode.int32(0),
  encode.list([0], () => Buffer.concat([encode.int32(7), encode.text(host), encode.int32(port), encode.int16(-1)])),
  encode.int16(-1),
  encode.int32(7),
  encode.list([0], () =>
    Buffer.concat([
      ...[encode.int16(0), encode.text(topic), encode.int8(0), encode.int32(1)],
      ...[encode.int16(0), encode.int32(0), encode.int32(7), encode.int32(0), encode.int32(0)],
    ]),
  ),
];

const encodeOffset = (topic: string, offset: number): Buffer[] => [
  ...[encode.int32(0), encode.int32(1), encode.text(topic), encode.int32(1)],
  ...[encode.int32(0), encode.int16(0), encode.int64(0n), encode.int64(BigInt(offset))],
];

const encodeRecords = (
  topic: string,
  records: Buffer,
  aborted: NonNullable<KafkaBrokerOptions['aborted']>,
): Buffer[] => [
  ...[encode.int32(0), encode.int32(1), encode.text(topic), encode.int32(1)],
  ...[encode.int32(0), encode.int16(0), encode.int64(0n), encode.int64(0n)],
  encode.list(aborted, it => Buffer.concat([encode.int64(it.producerId), encode.int64(it.firstOffset)])),
  encode.bytes(records),
];

function readTimestamp(reader: KafkaReader): bigint {
  reader.take(9);
  reader.text();
  reader.take(8);
  return reader.int64();
}

function readPosition(reader: KafkaReader): { isCommittedOnly: boolean; from: number } {
  reader.take(16);
  const isCommittedOnly = reader.int8() === 1;
  reader.take(4);
  reader.text();
  reader.take(8);
  return { isCommittedOnly, from: Number(reader.int64()) };
}
