import { createPublicId } from '#base/ids.ts';
import type { Exchange } from '../../pipeline/exchange.ts';
import { explainHeader, explanationHeader } from '../../pipeline/explain-header.ts';
import { ensureRequestId } from '../../pipeline/request-id.ts';
import type { RequestHandler, ResponseWriter } from '../../pipeline/response-writer.ts';
import { createDispatcher, type DispatcherOptions } from '../../routing/dispatch.ts';
import { createTrace, measureMs, type Trace } from '../debug/trace.ts';
import { noteUpstream } from '../debug/traced-api.ts';
import { tracePools } from '../debug/traced-pools.ts';
import { createExplainedSnapshot } from './explained-snapshot.ts';
import { ExplainedWriter, type ResponseEvents } from './explained-writer.ts';
import type { ExplanationStore } from './explanation-store.ts';
import { noteRoute } from './route.ts';
import { createSecretRateLimit } from './secret-rate-limit.ts';
import { summarizeTrace } from './summary.ts';

const rpcTimeoutMs = 2000;

type ExplainServices = DispatcherOptions['services'];

/** Explains requests with the explain header; all others cost one header lookup. */
export function withExplanations(
  options: DispatcherOptions,
  explanations: ExplanationStore,
  next: RequestHandler,
): RequestHandler {
  const isAllowed = createSecretCheck(options.services);
  return {
    handle(call, writer) {
      if (!call.headers.has(explainHeader)) return next.handle(call, writer);
      void isAllowed(call, takeSecret(call)).then(allowed =>
        allowed ? explainRequest(options, explanations, call, writer) : next.handle(call, writer),
      );
    },
  };
}

/** Removes the secret, valid or not: it must reach neither the upstream nor a record. */
function takeSecret({ headers }: Exchange): string {
  const secret = headers.get(explainHeader) ?? '';
  // `set` removes other spellings of the name too.
  headers.set(explainHeader, '');
  headers.remove(explainHeader);
  return secret;
}

function createSecretCheck({ clock, rpc, log }: ExplainServices) {
  const limitAttempts = createSecretRateLimit(clock);
  return async (
    { clientAddress, receivedMethod: method, host, target }: Exchange,
    secret: string,
  ): Promise<boolean> => {
    if (secret === '') return false;
    const request = { method, host, path: target.split('?', 1)[0]! };
    try {
      return await limitAttempts(clientAddress, () => rpc('explains', { secret, request }, rpcTimeoutMs));
    } catch (error) {
      log.warn({ reason: (error as Error).message }, 'explain secret not verified, request not explained');
      return false;
    }
  };
}

/** Dispatches the request with a dispatcher of its own, whose APIs, pools and writer are traced. */
function explainRequest(
  options: DispatcherOptions,
  explanations: ExplanationStore,
  call: Exchange,
  writer: ResponseWriter,
): void {
  const { services } = options;
  const id = createPublicId();
  const trace = createTrace(services.clock, { id: '', name: '', orgId: '' }, services.secrets.redact);
  explanations.add(id, trace);
  const pools = tracePools(options.pools, ({ origin, path, method }) => {
    const msg = `sent ${method} ${origin}${path.split('?', 1)[0]}`;
    trace.note({ level: 'info', type: 'request', mw: 'upstream', msg }, call.api);
  });
  const current = options.snapshot();
  noteRoute(call, current, trace, services.settings['gateway.api_id_paths']);
  const snapshot = createExplainedSnapshot(current, call, trace);
  const onUpstreamFailure = ({ api }: Exchange, refusal: string, reason: string) =>
    trace.note({ level: 'warn', type: 'response', mw: 'upstream', msg: `failed: ${reason}`, refusal }, api);
  const dispatcher = createDispatcher({ ...options, pools, snapshot: () => snapshot, onUpstreamFailure });
  dispatcher.handle(call, new ExplainedWriter(writer, traceResponse(call, id, trace)));
}

function traceResponse(call: Exchange, id: string, trace: Trace): ResponseEvents {
  return {
    onStart(status) {
      noteUpstream(call, trace);
      const refused = call.errorCode ? { refusal: call.errorCode } : {};
      const took_ms = measureMs(call.startedAt);
      const request_id = ensureRequestId(call);
      trace.note(
        { level: 'info', type: 'response', msg: `the client gets status ${status}`, ...refused, request_id, took_ms },
        call.api,
      );
      return [explanationHeader, summarizeTrace(id, trace.text(), call.traceId)];
    },
    onEnd: () => trace.note({ level: 'info', type: 'response', msg: 'done', took_ms: measureMs(call.startedAt) }),
  };
}
