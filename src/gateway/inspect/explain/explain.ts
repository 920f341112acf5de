import { createPublicId } from '#base/ids.ts';
import type { Exchange } from '../../pipeline/exchange.ts';
import { explainHeader } from '../../pipeline/explain-header.ts';
import type { RequestHandler, ResponseWriter } from '../../pipeline/response-writer.ts';
import { createEngine, type EngineOptions } from '../../routing/engine.ts';
import { tracePools } from '../debug/run.ts';
import { createTrace, elapsedMs } from '../debug/trace.ts';
import { noteUpstream } from '../debug/traced-api.ts';
import { createExplainedSnapshot } from './explained-snapshot.ts';
import { ExplainedWriter } from './explained-writer.ts';
import type { ExplanationStore } from './explanation-store.ts';
import { noteRoute } from './route.ts';
import { createSecretRateLimit } from './secret-rate-limit.ts';
import { summarizeTrace } from './summary.ts';

const explanationHeader = 'X-Gw-Explanation';

const rpcTimeoutMs = 2000;

/** Explains requests with the explain header; all others cost one header lookup. */
export function withExplanations(
  options: EngineOptions,
  explanations: ExplanationStore,
  next: RequestHandler,
): RequestHandler {
  const { services } = options;
  const limitAttempts = createSecretRateLimit(services.clock);

  /** Removes the secret, valid or not: it must reach neither the upstream nor a record. */
  function takeSecret({ headers }: Exchange): string {
    const secret = headers.get(explainHeader) ?? '';
    // `set` removes other spellings of the name too.
    headers.set(explainHeader, '');
    headers.remove(explainHeader);
    return secret;
  }

  async function isAllowed({ clientAddress }: Exchange, secret: string): Promise<boolean> {
    if (secret === '') return false;
    try {
      return await limitAttempts(clientAddress, () => services.rpc('explains', { secret }, rpcTimeoutMs));
    } catch (error) {
      services.log.warn({ reason: (error as Error).message }, 'explain secret not verified, request not explained');
      return false;
    }
  }

  function explain(call: Exchange, writer: ResponseWriter): void {
    const id = createPublicId();
    const trace = createTrace(services.clock, { id: '', name: '', orgId: '' }, services.secrets.redact);
    explanations.add(id, trace);
    const pools = tracePools(options.pools, ({ origin, path, method }) => {
      const msg = `sent ${method} ${origin}${path.split('?', 1)[0]}`;
      trace.note({ level: 'info', type: 'request', mw: 'upstream', msg }, call.api);
    });
    const snapshot = options.snapshot();
    noteRoute(call, snapshot, trace, services.settings['gateway.api_id_paths']);
    const current = createExplainedSnapshot(snapshot, call, trace);
    const events = {
      onStart(status: number) {
        noteUpstream(call, trace);
        const refused = call.errorCode ? { refusal: call.errorCode } : {};
        const took_ms = elapsedMs(call.startedAt);
        trace.note(
          { level: 'info', type: 'response', msg: `the caller gets ${status}`, ...refused, took_ms },
          call.api,
        );
        return [explanationHeader, summarizeTrace(id, trace.text())];
      },
      onEnd: () => trace.note({ level: 'info', type: 'response', msg: 'done', took_ms: elapsedMs(call.startedAt) }),
    };
    const onUpstreamFailure = ({ api }: Exchange, refusal: string, reason: string) =>
      trace.note({ level: 'warn', type: 'response', mw: 'upstream', msg: `failed: ${reason}`, refusal }, api);
    const engine = createEngine({ ...options, pools, snapshot: () => current, onUpstreamFailure });
    engine.handle(call, new ExplainedWriter(writer, events));
  }

  return {
    handle(call, writer) {
      if (!call.headers.has(explainHeader)) return next.handle(call, writer);
      void isAllowed(call, takeSecret(call)).then(allowed =>
        allowed ? explain(call, writer) : next.handle(call, writer),
      );
    },
  };
}
