import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AddressPolicy } from '#base/address-policy.ts';
import type { ConnectToBroker } from '#base/kafka/connection.ts';
import type { KafkaMessage } from '#base/kafka/record-batches.ts';
import { readTopics, type TopicPositions, type TopicReaderOptions } from '#base/kafka/topic-reader.ts';
import { KafkaError } from '#base/kafka/wire.ts';
import { parseStrictJson } from '#base/strict-json.ts';
import type { DataSource } from '#definition/data-graph/data-source.ts';
import type { PipelineServices } from '../../pipeline/services.ts';
import { createGuardedConnector } from '../../proxy/connect.ts';
import { compileVariables, type VariableServices } from '../../variables/variables.ts';
import { SourceError } from '../engine/source-error.ts';

/** A message as an event: its value, or why it has none. */
export interface TopicEvent {
  readonly payload: unknown;
  /** Empty where there is a value. */
  readonly failure: string;
}

export interface KafkaSubscriptionOptions {
  readonly services: VariableServices & Pick<PipelineServices, 'settings' | 'log'>;
  readonly apiId: string;
  readonly sources: readonly DataSource[];
  /** That of the organisation: also for the addresses that brokers give of others. */
  readonly policy: AddressPolicy;
}

export type SubscribeToTopics = (source: DataSource, signal: AbortSignal) => AsyncGenerator<TopicEvent, void>;

const minRetryMs = 500;
const maxRetryMs = 30_000;

/** Subscriptions of one API at its Kafka sources, with a bound on their number in this thread. */
export function createTopicSubscriptions(given: KafkaSubscriptionOptions): SubscribeToTopics {
  const { services, policy } = given;
  const { settings } = services;
  const maxConsumers = settings['graphql.max_kafka_consumers'];
  const readers = new Map(given.sources.map(source => [source, toReaderOptions(source, services)]));
  const log = createOutageLog(given);
  let consumers = 0;
  return async function* subscribeToTopics(source, signal) {
    if (consumers >= maxConsumers)
      throw new SourceError(`the data source ${source.name} has no more than ${maxConsumers} subscriptions`);
    consumers += 1;
    const timeoutMs = settings['graphql.execution_timeout_ms'];
    const reader = {
      ...readers.get(source)!,
      timeoutMs,
      maxBatchBytes: settings['gateway.max_buffered_body_bytes'],
      connect: createBrokerConnector(policy, timeoutMs),
      signal,
    };
    try {
      yield* consume(source, reader, { log, maxValues: settings['gateway.max_body_values'] });
    } finally {
      consumers -= 1;
    }
  };
}

type OutageLog = ReturnType<typeof createOutageLog>;

/** Log of the sources of an API: one entry for an outage, which all subscriptions of a source have together. */
function createOutageLog({ services: { log }, apiId }: KafkaSubscriptionOptions) {
  const outages = new Set<DataSource>();
  const describe = ({ name }: DataSource) => ({ api: apiId, source: name });
  return {
    reportFailure(source: DataSource, error: unknown): void {
      log.warn({ err: error, ...describe(source) }, 'Kafka source failed');
    },
    reportOutage(source: DataSource, error: unknown): void {
      if (outages.has(source)) return;
      outages.add(source);
      log.warn({ err: error, ...describe(source) }, 'Kafka source unavailable, retrying');
    },
    reportRecovery(source: DataSource): void {
      if (outages.delete(source)) log.info(describe(source), 'Kafka source available');
    },
  };
}

/** Reads topics until the signal is aborted, over the loss of brokers. */
async function* consume(
  source: DataSource,
  reader: Omit<TopicReaderOptions, 'onFetch'>,
  { log, maxValues }: { readonly log: OutageLog; readonly maxValues: number },
): AsyncGenerator<TopicEvent, void> {
  const { signal } = reader;
  const positions: TopicPositions = new Map();
  let failures = 0;
  const onFetch = () => {
    failures = 0;
    log.reportRecovery(source);
  };
  while (!signal.aborted) {
    try {
      for await (const message of readTopics({ ...reader, onFetch }, positions)) {
        const event = toTopicEvent(source, message, maxValues);
        if (event) yield event;
      }
    } catch (error) {
      const isFinal = error instanceof KafkaError && error.isFinal;
      // Without positions the subscription has not begun: its client is to know at once.
      if (isFinal || positions.size === 0) {
        log.reportFailure(source, error);
        throw new SourceError(`the data source ${source.name} ${isFinal ? 'cannot be read' : 'is unavailable'}`);
      }
      // The first attempt to connect again is silent: a broker may have passed a partition to another one.
      failures += 1;
      if (failures === 1) continue;
      log.reportOutage(source, error);
      if (failures === 2)
        yield { payload: undefined, failure: `the data source ${source.name} is unavailable: retrying` };
      await waitForRetry(failures - 2, signal);
    }
  }
}

/** Exponential backoff; ends early with the subscription. */
async function waitForRetry(attempt: number, signal: AbortSignal): Promise<void> {
  const waitMs = Math.min(maxRetryMs, minRetryMs * 2 ** Math.min(attempt, 10));
  await sleep(waitMs, undefined, { signal }).catch(() => undefined);
}

type StaticOptions = Omit<TopicReaderOptions, 'connect' | 'timeoutMs' | 'maxBatchBytes' | 'signal' | 'onFetch'>;

function toReaderOptions({ kafka }: DataSource, services: VariableServices): StaticOptions {
  const { sasl, ...rest } = kafka!;
  const resolve = (text: string) => compileVariables(text, services)({ context: undefined, session: undefined });
  return { ...rest, sasl: sasl && { user: resolve(sasl.user), password: resolve(sasl.password) } };
}

/** Connections to brokers pass the address policy, after DNS resolution. */
function createBrokerConnector(policy: AddressPolicy, timeoutMs: number): ConnectToBroker {
  const connect = createGuardedConnector(policy, {}, { timeout: timeoutMs });
  return ({ host, port }) => {
    const { promise, resolve, reject } = Promise.withResolvers<Socket>();
    connect({ protocol: 'http:', hostname: host, host, port: String(port) }, (error, socket) =>
      error ? reject(error) : resolve(socket as Socket),
    );
    return promise;
  };
}

/** Undefined for a tombstone, which has no value. */
function toTopicEvent({ name }: DataSource, { value }: KafkaMessage, maxValues: number): TopicEvent | undefined {
  if (value === undefined) return undefined;
  const read = parseStrictJson(value, maxValues);
  if ('value' in read) return { payload: read.value, failure: '' };
  return { payload: undefined, failure: `a message of the data source ${name} cannot be read: ${read.fault}` };
}
