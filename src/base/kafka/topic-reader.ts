import { type ConnectToBroker, createKafkaConnection, type KafkaBroker, type KafkaConnection } from './connection.ts';
import { decodeRecordBatches, type KafkaMessage } from './record-batches.ts';
import {
  authenticate,
  type ClusterMetadata,
  fetchClusterMetadata,
  fetchOffsets,
  fetchRecords,
  type SaslCredentials,
  type TopicPartition,
  toPartitionKey,
} from './requests.ts';
import { KafkaError } from './wire.ts';

export interface TopicReaderOptions {
  readonly brokers: readonly KafkaBroker[];
  readonly topics: readonly string[];
  readonly clientId: string;
  readonly sasl: SaslCredentials | undefined;
  /** Messages of transactions only when they are committed. */
  readonly isCommittedOnly: boolean;
  readonly startsAt: 'oldest' | 'next';
  readonly connect: ConnectToBroker;
  /** For a response. */
  readonly timeoutMs: number;
  /** Of a batch of messages, and so of a message. */
  readonly maxBatchBytes: number;
  readonly signal: AbortSignal;
  /** After each fetch that succeeded. */
  readonly onFetch: () => void;
}

/** Positions by partition. They outlive a connection: a reader that starts again goes on where the last one was. */
export type TopicPositions = Map<string, bigint>;

/** Of a fetch without messages, as in other clients. */
const maxWaitMs = 500;
const maxFetchBytes = 1_048_576;
/** Names, offsets and transactions beside the messages of a response. */
const maxOverheadBytes = 262_144;
const maxPartitions = 1000;
/** Then the reader ends: a new one sees new partitions and leaders. */
const metadataTtlMs = 300_000;

/**
 * Messages of topics, all partitions of them, without a consumer group: every reader gets every message. Fetches again
 * when the last messages were taken, so it holds one fetch of each broker. Throws `KafkaError`, or the error of a
 * connection; ends when the signal is aborted, and when its view of the cluster is old.
 */
export async function* readTopics(
  options: TopicReaderOptions,
  positions: TopicPositions,
): AsyncGenerator<KafkaMessage, void> {
  const connections = createConnections(options);
  const stop = () => connections.close();
  options.signal.addEventListener('abort', stop, { once: true });
  try {
    const metadata = await connections.bootstrap();
    const byLeader = await locatePartitions(metadata, positions, options, connections);
    yield* fetchInTurns(byLeader, positions, options);
  } catch (error) {
    if (!options.signal.aborted) throw error;
  } finally {
    options.signal.removeEventListener('abort', stop);
    connections.close();
  }
}

type Connections = ReturnType<typeof createConnections>;

/** Connections of one reader, one for each broker. */
function createConnections(options: TopicReaderOptions) {
  const open = new Map<string, KafkaConnection>();
  let isClosed = false;

  async function connect(broker: KafkaBroker): Promise<KafkaConnection> {
    const key = `${broker.host}:${broker.port}`;
    const known = open.get(key);
    if (known) return known;
    const socket = await options.connect(broker);
    const { clientId, timeoutMs, maxBatchBytes } = options;
    const maxResponseBytes = Math.max(maxBatchBytes, maxFetchBytes) + maxOverheadBytes;
    const connection = createKafkaConnection(socket, { clientId, timeoutMs, maxResponseBytes });
    open.set(key, connection);
    if (isClosed) connection.close();
    if (options.sasl) await authenticate(connection, options.sasl);
    return connection;
  }

  return {
    connect,
    /** Metadata of the first broker that responds. */
    async bootstrap(): Promise<ClusterMetadata> {
      let failure: unknown;
      for (const broker of options.brokers)
        try {
          return await fetchClusterMetadata(await connect(broker), options.topics);
        } catch (error) {
          if (error instanceof KafkaError && error.isFinal) throw error;
          failure = error;
          open.delete(`${broker.host}:${broker.port}`);
        }
      throw failure;
    },
    close(): void {
      isClosed = true;
      for (const connection of open.values()) connection.close();
    },
  };
}

type PartitionsByLeader = Map<KafkaConnection, TopicPartition[]>;

async function locatePartitions(
  { brokers, partitions }: ClusterMetadata,
  positions: TopicPositions,
  options: TopicReaderOptions,
  { connect }: Connections,
): Promise<PartitionsByLeader> {
  if (partitions.length > maxPartitions)
    throw new KafkaError(`the topics have more than ${maxPartitions} partitions`, true);
  const byLeader: PartitionsByLeader = new Map();
  for (const it of partitions) {
    const broker = brokers.get(it.leader);
    if (!broker) throw new KafkaError(`a partition has no leader: ${toPartitionKey(it)}`);
    const connection = await connect(broker);
    byLeader.set(connection, [...(byLeader.get(connection) ?? []), it]);
  }
  // A partition that a later reader sees first is new: all its messages are.
  const from = positions.size === 0 ? options.startsAt : 'oldest';
  const isolationLevel = toIsolationLevel(options);
  for (const [connection, own] of byLeader) {
    const unknown = own.filter(it => !positions.has(toPartitionKey(it)));
    if (unknown.length === 0) continue;
    for (const [key, offset] of await fetchOffsets(connection, unknown, { from, isolationLevel }))
      positions.set(key, offset);
  }
  return byLeader;
}

const toIsolationLevel = ({ isCommittedOnly }: TopicReaderOptions): number => (isCommittedOnly ? 1 : 0);

/** A fetch in progress at each leader; the messages of the one that ends first are taken before it fetches again. */
async function* fetchInTurns(
  byLeader: PartitionsByLeader,
  positions: TopicPositions,
  options: TopicReaderOptions,
): AsyncGenerator<KafkaMessage, void> {
  const running = new Map<KafkaConnection, Promise<{ connection: KafkaConnection; messages: PositionedMessage[] }>>();
  const start = (connection: KafkaConnection, partitions: readonly TopicPartition[]) => {
    const fetching = fetchMessages(connection, partitions, positions, options);
    running.set(
      connection,
      fetching.then(messages => ({ connection, messages })),
    );
  };
  let isOld = false;
  const timer = setTimeout(() => {
    isOld = true;
  }, metadataTtlMs).unref();
  try {
    for (const [connection, partitions] of byLeader) start(connection, partitions);
    while (!isOld) {
      const { connection, messages } = await Promise.race(running.values());
      options.onFetch();
      for (const { key, message } of messages) {
        yield message;
        positions.set(key, message.offset + 1n);
      }
      start(connection, byLeader.get(connection)!);
    }
  } finally {
    clearTimeout(timer);
    // Fetches that are not awaited end with their connections.
    for (const fetching of running.values()) fetching.catch(() => undefined);
  }
}

interface PositionedMessage {
  readonly key: string;
  readonly message: KafkaMessage;
}

async function fetchMessages(
  connection: KafkaConnection,
  partitions: readonly TopicPartition[],
  positions: TopicPositions,
  options: TopicReaderOptions,
): Promise<PositionedMessage[]> {
  const isolationLevel = toIsolationLevel(options);
  const maxBytes = Math.min(maxFetchBytes, options.maxBatchBytes);
  const asked = partitions.map(it => ({ ...it, offset: positions.get(toPartitionKey(it))! }));
  const messages: PositionedMessage[] = [];
  for (const fetched of await fetchRecords(connection, asked, { isolationLevel, maxWaitMs, maxBytes })) {
    const key = toPartitionKey(fetched);
    const from = positions.get(key);
    if (from === undefined) throw new KafkaError('the broker sent an unexpected response');
    if (fetched.isOutOfRange) {
      for (const [again, offset] of await fetchOffsets(connection, [fetched], { from: 'oldest', isolationLevel }))
        positions.set(again, offset);
      continue;
    }
    const { aborted, records } = fetched;
    const decoded = await decodeRecordBatches(records, { from, aborted, maxBatchBytes: options.maxBatchBytes });
    messages.push(...decoded.messages.map(message => ({ key, message })));
    // Past batches without messages for readers: markers, and what was rolled back.
    if (decoded.messages.length === 0) positions.set(key, decoded.next);
  }
  return messages;
}
