import { createSourceEventStream, type GraphQLError, type GraphQLFieldResolver } from 'graphql';
import { type DataGraphDefinition, toFieldKey } from '#definition/data-graph/data-graph.ts';
import type { DataSource } from '#definition/data-graph/data-source.ts';
import type { CompiledSchema } from '#languages/graphql/schema.ts';
import type { CheckedGraphqlRequest } from '../../pipeline/checked-graphql.ts';
import type { SubscriptionCall } from '../data-graph.ts';
import type { SubscribeToTopics, TopicEvent } from '../subscriptions/kafka-subscription.ts';
import { type SubscriptionBounds, subscribeToSource } from '../subscriptions/source-subscription.ts';
import type { FieldReader } from './field-reader.ts';
import { SourceError } from './source-error.ts';

/** An event of a source: the root value of the execution that it causes. */
export class SubscriptionEvent {
  readonly source: DataSource;
  readonly payload: unknown;
  /** Why the field has no value; empty where it has one. */
  readonly failure: string;

  constructor(source: DataSource, payload: unknown, failure = '') {
    this.source = source;
    this.payload = payload;
    this.failure = failure;
  }
}

export interface EventOptions {
  readonly graph: DataGraphDefinition;
  readonly compiled: CompiledSchema;
  readonly reader: FieldReader;
  readonly bounds: SubscriptionBounds;
  readonly subscribeToTopics: SubscribeToTopics;
}

/** Subscribes the field of an operation at its source; the graphql package finds the field and its arguments. */
export async function openSourceEvents(
  { graph, compiled, reader, bounds, subscribeToTopics }: EventOptions,
  { document, operation, variables }: CheckedGraphqlRequest,
  own: SubscriptionCall,
): Promise<AsyncIterable<SubscriptionEvent>> {
  const subscribeFieldResolver: GraphQLFieldResolver<unknown, unknown> = (_root, args, _context, info) => {
    const { parentType, fieldName } = info;
    const source = graph.fields.get(toFieldKey(parentType.name, fieldName))?.source;
    if (!source) throw new SourceError(`the field ${parentType.name}.${fieldName} has no data source`);
    if (source.kind === 'Kafka') return toTopicEvents(source, subscribeToTopics(source, own.signal));
    const request = reader.buildSubscription(source, { call: own.call, args, parent: undefined }, info);
    return toEvents(source, subscribeToSource(source, request, own, bounds));
  };
  const opened = await createSourceEventStream({
    schema: compiled.schema,
    document,
    variableValues: variables,
    operationName: operation.name || null,
    subscribeFieldResolver,
  });
  if (Symbol.asyncIterator in opened) return opened as AsyncIterable<SubscriptionEvent>;
  const error = opened.errors?.[0] as GraphQLError;
  const { originalError: cause } = error;
  if (!cause || cause instanceof SourceError || cause.name === 'GraphQLError') throw new SourceError(error.message);
  throw cause;
}

async function* toEvents(
  source: DataSource,
  payloads: AsyncIterable<unknown>,
): AsyncGenerator<SubscriptionEvent, void> {
  for await (const payload of payloads) yield new SubscriptionEvent(source, payload);
}

async function* toTopicEvents(
  source: DataSource,
  events: AsyncIterable<TopicEvent>,
): AsyncGenerator<SubscriptionEvent, void> {
  for await (const { payload, failure } of events) yield new SubscriptionEvent(source, payload, failure);
}
