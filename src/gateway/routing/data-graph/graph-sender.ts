import type { DataGraph, RunningSourceRequest, SendToSource, SourceRequest } from '../../graphql/data-graph.ts';
import type { Exchange } from '../../pipeline/exchange.ts';
import type { ResponseWriter } from '../../pipeline/response-writer.ts';
import type { UpstreamAddress } from '../../pipeline/upstream-address.ts';
import { type ByteBudget, createMemoryWriter } from '../batch/memory-writer.ts';
import { createSourceExchange } from './source-exchange.ts';

/** A request to a data graph: the client's, and how requests to sources are sent. */
export interface GraphCall {
  readonly whole: Exchange;
  readonly graph: DataGraph;
  /** Bytes of all responses of sources together. */
  readonly maxSourceBytes: number;
  /** Sends to an upstream, or to another API. */
  dispatch(call: Exchange, address: UpstreamAddress, writer: ResponseWriter): void;
}

/** Sends requests to sources whose responses share one budget of bytes. */
export function createGraphSender(given: GraphCall): SendToSource {
  const budget: ByteBudget = { remaining: given.maxSourceBytes };
  return (request, counter) => sendToSource(request, counter, given, budget);
}

function sendToSource(
  request: SourceRequest,
  counter: { count: number },
  given: GraphCall,
  budget: ByteBudget,
): RunningSourceRequest {
  const { call, address } = createSourceExchange(request, given.whole, given.graph.credentialHeaders);
  call.sourceRequests = counter;
  const { promise, resolve } = Promise.withResolvers<Awaited<RunningSourceRequest['response']>>();
  /** Cancels the request: its exchange sees a client disconnect. */
  const abandon = () => {
    call.isClientDisconnected = true;
    call.onDisconnect?.();
    resolve(undefined);
  };
  const writer = createMemoryWriter(budget, kept => {
    if (!kept) return abandon();
    resolve({ ...kept, budget, isFailed: call.upstreamFailure !== undefined });
  });
  given.dispatch(call, address, writer);
  return { response: promise, abandon };
}
