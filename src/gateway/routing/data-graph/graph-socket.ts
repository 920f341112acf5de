import { GraphqlSocketServer } from '../../graphql/subscriptions/socket-server.ts';
import { computeSocketAccept } from '../../graphql/subscriptions/upstream-socket.ts';
import { noBody } from '../../http/body.ts';
import { HeaderList } from '../../http/headers.ts';
import { GatewayResponse } from '../../http/response.ts';
import type { GraphqlSocket } from '../../pipeline/checked-graphql.ts';
import { failExchange, finishExchange, runUpstreamResponsePhase, switchProtocol } from '../../pipeline/respond.ts';
import type { ResponseWriter } from '../../pipeline/response-writer.ts';
import type { ProxyContext } from '../../proxy/proxy.ts';
import type { GraphCall } from './graph-sender.ts';
import { runGraphOperation } from './graph-subscription.ts';

/** Accepts the WebSocket of a client: the response steps run on the 101 head, then its operations are executed. */
export function serveSocket(
  given: GraphCall,
  socket: GraphqlSocket,
  writer: ResponseWriter,
  { responder, closeTimeoutMs }: ProxyContext,
): void {
  const { whole: call } = given;
  const headers = new HeaderList([
    ...['Sec-WebSocket-Accept', computeSocketAccept(call.headers.get('sec-websocket-key')!)],
    ...['Sec-WebSocket-Protocol', socket.protocol],
  ]);
  const response = new GatewayResponse(101, headers, noBody());

  let server: GraphqlSocketServer | undefined;
  const open = (): void => {
    if (call.isClientDisconnected) return finishExchange(responder, call, false);
    const stream = switchProtocol(call, writer, response, () => server?.goAway());
    server = new GraphqlSocketServer(stream, {
      socket,
      closeTimeoutMs,
      run: (request, signal) => runGraphOperation(given, request, signal),
      onError: error => responder.log.error({ err: error, api: call.api?.id }, 'operation in a WebSocket failed'),
      onClose(sentBytes) {
        call.responseBytes = sentBytes;
        finishExchange(responder, call, true);
      },
    });
  };
  Promise.try(() => runUpstreamResponsePhase(call, response))
    .then(open)
    .catch((error: unknown) => failExchange(responder, call, writer, error));
}
