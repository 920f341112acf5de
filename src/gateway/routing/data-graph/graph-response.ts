import { refuseGraphqlRequest } from '../../graphql/graphql-refusals.ts';
import { contentTypeOf, negotiateResponse } from '../../graphql/media-types.ts';
import { createResponse, type GatewayResponse } from '../../http/response.ts';
import { handleError, respond } from '../../pipeline/respond.ts';
import type { ResponseWriter } from '../../pipeline/response-writer.ts';
import type { ProxyContext } from '../../proxy/proxy.ts';
import { createGraphSender, type GraphCall } from './graph-sender.ts';
import { loadGraphEvents, loadGraphSocket } from './lazy-subscriptions.ts';

/** Executes the operations of a request to a data graph and writes the response: JSON, events, or a WebSocket. */
export function executeGraphCall(given: GraphCall, writer: ResponseWriter, context: ProxyContext): void {
  const { whole } = given;
  const { responder } = context;
  if (whole.graphqlSocket) return loadGraphSocket().serveSocket(given, whole.graphqlSocket, writer, context);
  const [first] = whole.graphqlRequests?.requests ?? [];
  if (first?.operation.type === 'subscription') return loadGraphEvents().sendEvents(given, first, writer, context);
  respondWithGraph(given).then(
    response => respond(responder, whole, writer, response),
    (error: unknown) => handleError(responder, whole, writer, error),
  );
}

/** Executes the checked operations of a request, those of a batch one after another. */
async function respondWithGraph(given: GraphCall): Promise<GatewayResponse> {
  const { whole, graph } = given;
  const checked = whole.graphqlRequests;
  if (!checked) return refuseGraphqlRequest(whole, 'graphql_method_not_allowed');
  const send = createGraphSender(given);
  const results: string[] = [];
  for (const request of checked.requests) results.push(JSON.stringify(await graph.execute(whole, request, send)));
  const type = contentTypeOf(negotiateResponse(whole.headers.get('accept')));
  return createResponse(200, { 'Content-Type': type }, checked.isBatch ? `[${results.join(',')}]` : results[0]!);
}
