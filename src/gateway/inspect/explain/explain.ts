import { createPublicId } from '#base/ids.ts';
import type { Exchange } from '../../pipeline/exchange.ts';
import { explainHeader } from '../../pipeline/explain-header.ts';
import type { RequestHandler, ResponseWriter } from '../../pipeline/response-writer.ts';
import { createEngine, type EngineOptions } from '../../routing/engine.ts';
import { tracedPools } from '../debug/run.ts';
import { createTrace, milliseconds } from '../debug/trace.ts';
import { noteUpstream } from '../debug/traced-api.ts';
import { explainedSnapshot } from './explained-snapshot.ts';
import { ExplainedSink } from './explained-writer.ts';
import type { KeptExplanations } from './explanation-store.ts';
import { noteRoute } from './route.ts';
import { attemptLimit } from './secret-rate-limit.ts';
import { summaryOf } from './summary.ts';

const told = 'X-Gw-Explanation';

const answerWithinMs = 2000;

/** Takes calls that ask to be explained; all others pass with one look at their headers. */
export function withExplanations(options: EngineOptions, kept: KeptExplanations, next: RequestHandler): RequestHandler {
  const { services } = options;
  const attempt = attemptLimit(services.clock);

  /** It never goes on, right or wrong: not to the upstream, and not into any record. */
  function taken({ headers }: Exchange): string {
    const secret = headers.get(explainHeader) ?? '';
    // `set` takes away other spellings of the name too.
    headers.set(explainHeader, '');
    headers.remove(explainHeader);
    return secret;
  }

  async function isAllowed({ clientAddress }: Exchange, secret: string): Promise<boolean> {
    if (secret === '') return false;
    try {
      return await attempt(clientAddress, () => services.rpc('explains', { secret }, answerWithinMs));
    } catch (error) {
      services.log.warn({ reason: (error as Error).message }, 'whether a call may be explained could not be found out');
      return false;
    }
  }

  function explained(call: Exchange, writer: ResponseWriter): void {
    const id = createPublicId();
    const trace = createTrace(services.clock, { id: '', name: '', orgId: '' }, services.secrets.redact);
    kept.keep(id, trace);
    const pools = tracedPools(options.pools, ({ origin, path, method }) => {
      const msg = `sent ${method} ${origin}${path.split('?', 1)[0]}`;
      trace.note({ level: 'info', type: 'request', mw: 'upstream', msg }, call.api);
    });
    const snapshot = options.snapshot();
    noteRoute(call, snapshot, trace, services.settings['gateway.api_id_paths']);
    const current = explainedSnapshot(snapshot, call, trace);
    const watching = {
      onStart(status: number) {
        noteUpstream(call, trace);
        const refused = call.errorCode ? { refusal: call.errorCode } : {};
        const took_ms = milliseconds(call.startedAt);
        trace.note(
          { level: 'info', type: 'response', msg: `the caller gets ${status}`, ...refused, took_ms },
          call.api,
        );
        return [told, summaryOf(id, trace.text())];
      },
      onEnd: () => trace.note({ level: 'info', type: 'response', msg: 'done', took_ms: milliseconds(call.startedAt) }),
    };
    const onUpstreamFailure = ({ api }: Exchange, refusal: string, reason: string) =>
      trace.note({ level: 'warn', type: 'response', mw: 'upstream', msg: `failed: ${reason}`, refusal }, api);
    const engine = createEngine({ ...options, pools, snapshot: () => current, onUpstreamFailure });
    engine.handle(call, new ExplainedSink(writer, watching));
  }

  return {
    handle(call, writer) {
      if (!call.headers.has(explainHeader)) return next.handle(call, writer);
      void isAllowed(call, taken(call)).then(allowed =>
        allowed ? explained(call, writer) : next.handle(call, writer),
      );
    },
  };
}
