import { SourceError } from '../../graphql/engine/source-error.ts';
import { maskErrors, maskedMessage } from '../../graphql/mask-errors.ts';
import type { CheckedGraphqlRequest } from '../../pipeline/checked-graphql.ts';
import { Exchange } from '../../pipeline/exchange.ts';
import { ensureRequestId } from '../../pipeline/request-id.ts';
import { createGraphSender, type GraphCall } from './graph-sender.ts';
import { connectToSource } from './source-connection.ts';

/**
 * Results of one operation of a connection that outlives its request: one, or one for each event. The operation has an
 * exchange of its own: a WebSocket has several at a time.
 */
export async function* runGraphOperation(
  given: GraphCall,
  request: CheckedGraphqlRequest,
  signal: AbortSignal,
): AsyncGenerator<object, void> {
  const { whole, graph } = given;
  ensureRequestId(whole);
  const call: Exchange = Object.assign(Object.create(Exchange.prototype) as Exchange, whole, {
    onDisconnect: undefined,
  });
  const leave = () => {
    call.isClientDisconnected = true;
    call.onDisconnect?.();
  };
  signal.addEventListener('abort', leave, { once: true });
  const createSend = () => createGraphSender(given);
  const isMasked = whole.api!.model.graphql.maskErrors;
  const mask = isMasked ? maskResult : (result: object) => result;
  try {
    if (request.operation.type !== 'subscription') return yield mask(await graph.execute(call, request, createSend()));
    const owner = { ...given, credentialHeaders: graph.credentialHeaders };
    const transport = {
      createSend,
      connect: (to: Parameters<typeof connectToSource>[0], upgrade: '' | 'websocket') =>
        connectToSource(to, upgrade, owner),
    };
    for await (const result of graph.subscribe(request, { call, transport, signal })) yield mask(result);
  } catch (error) {
    throw isMasked && error instanceof SourceError ? new SourceError(maskedMessage) : error;
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

const maskResult = (result: object): object => (maskErrors(result, 200) as object | undefined) ?? result;
