import type { KafkaBroker, KafkaConnection } from './connection.ts';
import type { AbortedTransaction } from './record-batches.ts';
import { encode, KafkaError, type KafkaReader } from './wire.ts';

/** Keys and versions of requests: those that brokers from 0.11 to 4 have in common. */
const apis = {
  fetch: { apiKey: 1, version: 4 },
  listOffsets: { apiKey: 2, version: 2 },
  metadata: { apiKey: 3, version: 4 },
  apiVersions: { apiKey: 18, version: 0 },
  saslHandshake: { apiKey: 17, version: 1 },
  saslAuthenticate: { apiKey: 36, version: 0 },
} as const;

/** Error codes that a message names; any other is written as a number. */
const errorNames: Readonly<Record<number, string>> = {
  3: 'the topic or partition is unknown',
  29: 'the topic is not authorized',
  33: 'the SASL mechanism is not supported',
  58: 'SASL authentication failed',
};
const offsetOutOfRange = 1;
/** Errors that a later attempt cannot mend. */
const finalErrors: readonly number[] = [29, 33, 58];

function ensureSuccess(code: number, topic = ''): void {
  if (code === 0) return;
  const about = errorNames[code] ?? `the broker returned error ${code}`;
  throw new KafkaError(topic === '' ? about : `${about}: ${topic}`, finalErrors.includes(code));
}

export interface SaslCredentials {
  readonly user: string;
  readonly password: string;
}

/** SASL/PLAIN (RFC 4616), in messages of the Kafka protocol. */
export async function authenticate(connection: KafkaConnection, { user, password }: SaslCredentials): Promise<void> {
  const handshake = await connection.request({ ...apis.saslHandshake, body: encode.text('PLAIN') });
  ensureSuccess(handshake.int16());
  const body = encode.bytes(Buffer.from(`\0${user}\0${password}`));
  ensureSuccess((await connection.request({ ...apis.saslAuthenticate, body })).int16());
}

export interface TopicPartition {
  readonly topic: string;
  readonly partition: number;
}

export interface ClusterMetadata {
  readonly brokers: ReadonlyMap<number, KafkaBroker>;
  readonly partitions: readonly (TopicPartition & { readonly leader: number })[];
}

/** Highest version that the broker has of a request. */
async function fetchVersions(connection: KafkaConnection): Promise<ReadonlyMap<number, number>> {
  const reader = await connection.request({ ...apis.apiVersions, body: Buffer.alloc(0) });
  ensureSuccess(reader.int16());
  return new Map(
    reader.list(() => {
      const apiKey = reader.int16();
      reader.int16();
      return [apiKey, reader.int16()] as const;
    }),
  );
}

/** Partitions of the topics with their leaders. The broker is asked to create no topic, where it has that option. */
export async function fetchClusterMetadata(
  connection: KafkaConnection,
  topics: readonly string[],
): Promise<ClusterMetadata> {
  const versions = await fetchVersions(connection);
  if ((versions.get(apis.fetch.apiKey) ?? 0) < apis.fetch.version)
    throw new KafkaError('the broker is older than Kafka 0.11', true);
  const hasOption = (versions.get(apis.metadata.apiKey) ?? 0) >= apis.metadata.version;
  const names = encode.list(topics, encode.text);
  const reader = await connection.request({
    apiKey: apis.metadata.apiKey,
    version: hasOption ? apis.metadata.version : 1,
    body: hasOption ? Buffer.concat([names, encode.int8(0)]) : names,
  });
  if (hasOption) reader.int32();
  const brokers = new Map(
    reader.list(() => {
      const id = reader.int32();
      const broker = { host: reader.text(), port: reader.int32() };
      reader.text();
      return [id, broker] as const;
    }),
  );
  if (hasOption) reader.text();
  reader.int32();
  const partitions = readPartitions(reader);
  return { brokers, partitions };
}

function readPartitions(reader: KafkaReader): ClusterMetadata['partitions'] {
  const partitions = reader.list(() => {
    const code = reader.int16();
    const topic = reader.text();
    reader.int8();
    const found = reader.list(() => {
      const partitionCode = reader.int16();
      const partition = reader.int32();
      const leader = reader.int32();
      reader.list(reader.int32);
      reader.list(reader.int32);
      ensureSuccess(partitionCode, topic);
      return { topic, partition, leader };
    });
    ensureSuccess(code, topic);
    return found;
  });
  return partitions.flat();
}

const groupByTopic = <T extends TopicPartition>(partitions: readonly T[]): [string, T[]][] =>
  Object.entries(Object.groupBy(partitions, it => it.topic)) as [string, T[]][];

const encodeTopics = <T extends TopicPartition>(partitions: readonly T[], encodePartition: (it: T) => Buffer): Buffer =>
  encode.list(groupByTopic(partitions), ([topic, own]) =>
    Buffer.concat([encode.text(topic), encode.list(own, encodePartition)]),
  );

export const toPartitionKey = ({ topic, partition }: TopicPartition): string => `${topic}/${partition}`;

/** Offsets of the oldest message, or of the next one, by partition. */
export async function fetchOffsets(
  connection: KafkaConnection,
  partitions: readonly TopicPartition[],
  { from, isolationLevel }: { readonly from: 'oldest' | 'next'; readonly isolationLevel: number },
): Promise<[string, bigint][]> {
  const timestamp = encode.int64(from === 'oldest' ? -2n : -1n);
  const body = Buffer.concat([
    encode.int32(-1),
    encode.int8(isolationLevel),
    encodeTopics(partitions, ({ partition }) => Buffer.concat([encode.int32(partition), timestamp])),
  ]);
  const reader = await connection.request({ ...apis.listOffsets, body });
  reader.int32();
  const found = reader.list(() => {
    const topic = reader.text();
    return reader.list((): [string, bigint] => {
      const partition = reader.int32();
      ensureSuccess(reader.int16(), topic);
      reader.int64();
      return [toPartitionKey({ topic, partition }), reader.int64()];
    });
  });
  return found.flat();
}

export interface FetchOptions {
  readonly isolationLevel: number;
  readonly maxWaitMs: number;
  readonly maxBytes: number;
}

export interface FetchedPartition extends TopicPartition {
  readonly aborted: readonly AbortedTransaction[];
  readonly records: Buffer;
  /** The position is not in the log: older messages were deleted. */
  readonly isOutOfRange: boolean;
}

/** Long poll: returns when there are messages, or after a wait without any. */
export async function fetchRecords(
  connection: KafkaConnection,
  positions: readonly (TopicPartition & { readonly offset: bigint })[],
  { isolationLevel, maxWaitMs, maxBytes }: FetchOptions,
): Promise<FetchedPartition[]> {
  const body = Buffer.concat([
    ...[encode.int32(-1), encode.int32(maxWaitMs), encode.int32(1), encode.int32(maxBytes)],
    encode.int8(isolationLevel),
    encodeTopics(positions, ({ partition, offset }) =>
      Buffer.concat([encode.int32(partition), encode.int64(offset), encode.int32(maxBytes)]),
    ),
  ]);
  const reader = await connection.request({ ...apis.fetch, body }, maxWaitMs);
  reader.int32();
  const found = reader.list(() => {
    const topic = reader.text();
    return reader.list((): FetchedPartition => {
      const partition = reader.int32();
      const code = reader.int16();
      const isOutOfRange = code === offsetOutOfRange;
      if (!isOutOfRange) ensureSuccess(code, topic);
      reader.take(16);
      const aborted = reader.list(() => ({ producerId: reader.int64(), firstOffset: reader.int64() }));
      const records = reader.bytes() ?? Buffer.alloc(0);
      return { topic, partition, aborted, records, isOutOfRange };
    });
  });
  return found.flat();
}
