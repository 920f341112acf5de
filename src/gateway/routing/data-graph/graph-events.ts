import { SourceError } from '../../graphql/engine/source-error.ts';
import { maskedMessage } from '../../graphql/mask-errors.ts';
import { serverSentEventsType } from '../../graphql/media-types.ts';
import type { CheckedGraphqlRequest } from '../../pipeline/checked-graphql.ts';
import type { ResponseWriter } from '../../pipeline/response-writer.ts';
import type { ProxyContext } from '../../proxy/proxy.ts';
import { ProxyRequest } from '../../proxy/proxy-request.ts';
import type { UpstreamDispatcher, UpstreamHandler } from '../../proxy/upstream-dispatcher.ts';
import type { GraphCall } from './graph-sender.ts';
import { runGraphOperation } from './graph-subscription.ts';

const headers: readonly string[] = ['Content-Type', serverSentEventsType, 'Cache-Control', 'no-store'];

/**
 * Server-sent events of a subscription, each operation on a connection of its own: `next` with a result, then
 * `complete`. The stream passes response steps, captures and backpressure as one of an upstream does.
 */
export function sendEvents(
  given: GraphCall,
  request: CheckedGraphqlRequest,
  writer: ResponseWriter,
  context: ProxyContext,
): void {
  const { whole } = given;
  const onBug = (error: unknown) =>
    context.responder.log.error({ err: error, api: whole.api?.id }, 'subscription failed');
  const dispatcher: Pick<UpstreamDispatcher, 'dispatch'> = {
    dispatch: (_options, handler) => void pumpEvents(given, request, handler, onBug),
  };
  const options = { origin: '', path: whole.path, method: whole.method, headers: [], body: undefined };
  new ProxyRequest(whole, writer, context, dispatcher, { ...options, hasCallerTimeout: true }).send();
}

/** Never rejects. */
async function pumpEvents(
  given: GraphCall,
  request: CheckedGraphqlRequest,
  handler: UpstreamHandler,
  onBug: (error: unknown) => void,
): Promise<void> {
  const controller = new AbortController();
  const { signal } = controller;
  let resume: (() => void) | undefined;
  const waitUnless = async (isWritable: boolean): Promise<void> => {
    if (isWritable || signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    resume = resolve;
    await promise;
  };
  try {
    handler.onConnect((error = new Error('the client disconnected')) => {
      controller.abort();
      handler.onError(error);
      resume?.();
    });
    if (signal.aborted) return;
    const isWritable = handler.onHead(200, headers, () => resume?.());
    handler.onReadEnd();
    await waitUnless(isWritable);
    for await (const event of listEvents(given, request, signal, onBug)) {
      if (signal.aborted) return;
      await waitUnless(handler.onData(Buffer.from(event), false));
    }
    if (!signal.aborted) handler.onComplete([]);
  } catch (error) {
    controller.abort();
    handler.onError(error as Error);
  }
}

async function* listEvents(
  given: GraphCall,
  request: CheckedGraphqlRequest,
  signal: AbortSignal,
  onBug: (error: unknown) => void,
): AsyncGenerator<string, void> {
  const write = (result: object) => `event: next\ndata: ${JSON.stringify(result)}\n\n`;
  try {
    for await (const result of runGraphOperation(given, request, signal)) yield write(result);
  } catch (error) {
    if (!(error instanceof SourceError)) onBug(error);
    yield write({ errors: [{ message: error instanceof SourceError ? error.message : maskedMessage }] });
  }
  // Without data an EventSource would not see it.
  yield 'event: complete\ndata: \n\n';
}
