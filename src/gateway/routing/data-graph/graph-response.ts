import type { DataGraph, RunningSourceRequest, SendToSource, SourceRequest } from '../../graphql/data-graph.ts';
import { refuseGraphqlRequest } from '../../graphql/graphql-refusals.ts';
import { contentTypeOf, negotiateResponse } from '../../graphql/media-types.ts';
import { createResponse, type GatewayResponse } from '../../http/response.ts';
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

/** Executes the checked operations of a request, those of a batch one after another. */
export async function respondWithGraph(given: GraphCall): Promise<GatewayResponse> {
  const { whole, graph, maxSourceBytes } = given;
  const checked = whole.graphqlRequests;
  if (!checked) return refuseGraphqlRequest(whole, 'graphql_method_not_allowed');
  const budget: ByteBudget = { remaining: maxSourceBytes };
  const send: SendToSource = (request, counter) => sendToSource(request, counter, given, budget);
  const results: string[] = [];
  for (const request of checked.requests) results.push(JSON.stringify(await graph.execute(whole, request, send)));
  const type = contentTypeOf(negotiateResponse(whole.headers.get('accept')));
  return createResponse(200, { 'Content-Type': type }, checked.isBatch ? `[${results.join(',')}]` : results[0]!);
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
