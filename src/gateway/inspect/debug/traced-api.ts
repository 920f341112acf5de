import type { MaybePromise } from '#base/maybe-promise.ts';
import type { GatewayResponse } from '../../http/response.ts';
import type { Chain, Exchange } from '../../pipeline/exchange.ts';
import { refusals } from '../../pipeline/refusals.ts';
import type { Api } from '../../routing/api.ts';
import type { VersionRuntime, VersionSelector } from '../../routing/versions.ts';
import { describeStepSettings } from './step-settings.ts';
import { measureMs, type Trace, type TracedApiIdentity, type TraceLine } from './trace.ts';

/**
 * Wraps an API so that every step's decision is traced. The steps are those of traffic: the traffic path has no
 * tracing hooks.
 */
export function traceApi(api: Api, trace: Trace): Api {
  const traced = new Map(api.versionRuntimes.map(it => [it, { ...it, chain: traceChain(it, api, trace) }]));
  return {
    ...api,
    versionSelector: traceSelector(api, traced, trace),
    onlyVersion: undefined,
    versionRuntimes: [...traced.values()],
  };
}

function traceSelector(api: Api, traced: ReadonlyMap<VersionRuntime, VersionRuntime>, trace: Trace): VersionSelector {
  return {
    select(call) {
      const begun = performance.now();
      const chosen = api.versionSelector.select(call);
      const line = { type: 'request', mw: 'version', took_ms: measureMs(begun) } as const;
      if (chosen.kind === 'refused') trace.note({ ...line, ...describeRefusal(call, chosen.response) }, api);
      else if (chosen.kind === 'other')
        trace.note({ ...line, level: 'info', msg: `version ${call.versionName} is served by ${chosen.apiId}` }, api);
      else {
        const name = call.versionName || chosen.version.version.name || chosen.version.key || 'the only one';
        trace.note({ ...line, level: 'debug', msg: `version: ${name}` }, api);
        return traced.get(chosen)!;
      }
      return chosen;
    },
  };
}

function traceChain({ chain, version }: VersionRuntime, of: Api, trace: Trace): Chain {
  const { names } = chain;
  const describeStep = (mw: string) => {
    const settings = describeStepSettings(mw, of.model, version);
    return settings === undefined ? { mw } : { mw, settings };
  };
  return {
    ...chain,
    request: chain.request.map((run, at) => call => {
      const session = call.session;
      call.hookChanges = [];
      return traceStep(
        trace,
        { type: 'request', ...describeStep(names.request[at]!) },
        of,
        () => run(call),
        outcome =>
          withHookChanges(call, {
            ...(outcome ? describeResponse(call, outcome) : passed),
            ...describeIdentity(call, session),
          }),
      );
    }),
    response: chain.response.map((run, at) => (call, response) => {
      noteUpstream(call, trace);
      const before = response.status;
      call.hookChanges = [];
      return traceStep(
        trace,
        { type: 'response', ...describeStep(names.response[at]!) },
        of,
        () => run(call, response),
        () =>
          withHookChanges(
            call,
            response.status === before ? passed : { level: 'info', msg: `changed the status to ${response.status}` },
          ),
      );
    }),
  };
}

type StepOutcome = Pick<TraceLine, 'level' | 'msg'> &
  Partial<Pick<TraceLine, 'code' | 'refusal' | 'about' | 'key_hash'>>;
const passed: StepOutcome = { level: 'debug', msg: 'passed' };

/** Adds what the hooks of plugins changed in the step. */
function withHookChanges({ hookChanges = [] }: Exchange, outcome: StepOutcome): StepOutcome {
  if (hookChanges.length === 0) return outcome;
  return { ...outcome, msg: `${outcome.msg} (${hookChanges.join('; ')})` };
}

/** Runs a step and traces its outcome; awaits only a promise. */
function traceStep<T>(
  trace: Trace,
  line: Pick<TraceLine, 'type'> & { mw: string },
  of: TracedApiIdentity,
  run: () => MaybePromise<T>,
  describe: (value: T) => StepOutcome,
): MaybePromise<T> {
  const startedAt = performance.now();
  trace.waitingFor = `the step ${line.mw}`;
  trace.phase = line.type;
  const onResult = (value: T): T => {
    trace.note({ ...line, ...describe(value), took_ms: measureMs(startedAt) }, of);
    return value;
  };
  const onError = (error: unknown): never => {
    const msg = `failed: ${(error as Error).message}`;
    trace.note({ ...line, level: 'error', msg, took_ms: measureMs(startedAt) }, of);
    throw error;
  };
  try {
    const result = run();
    return result instanceof Promise ? result.then(onResult, onError) : onResult(result);
  } catch (error) {
    return onError(error);
  }
}

const describeResponse = (call: Exchange, response: GatewayResponse): StepOutcome =>
  response.isGatewayError
    ? describeRefusal(call, response)
    : { level: 'info', msg: `responded with status ${response.status} instead of the upstream`, code: response.status };

export function describeRefusal(call: Exchange, response: GatewayResponse): StepOutcome {
  const { errorCode } = call;
  const known = refusals[errorCode as keyof typeof refusals];
  const text = readErrorText(response) ?? known?.message ?? '';
  const why = known ? { about: known.about } : {};
  return {
    level: 'warn',
    msg: `refused with ${response.status}: ${text}`,
    code: response.status,
    refusal: errorCode,
    ...why,
  };
}

/** The message inside a refusal body, XML or JSON. */
function readErrorText({ body }: GatewayResponse): string | undefined {
  const text = body.bytes?.toString() ?? '';
  return /<error>(.*)<\/error>/s.exec(text)?.[1] ?? /"error": (".*")/.exec(text)?.[1]?.slice(1, -1);
}

/** Traces the identity that a step established, by key hash. */
const describeIdentity = (call: Exchange, before: Exchange['session']) =>
  call.session !== undefined && call.session !== before
    ? { key_hash: call.keyHash, msg: `authenticated by ${call.authMethod || 'its credential'}` }
    : {};

const tracedUpstreamCalls = new WeakSet<Exchange>();

/** Traces the upstream response once per exchange, before the response steps. */
export function noteUpstream(call: Exchange, trace: Trace): void {
  trace.phase = 'response';
  const hasResponse = call.upstreamMs > 0 && !call.upstreamFailure && !call.isClientDisconnected;
  if (!hasResponse || tracedUpstreamCalls.has(call)) return;
  tracedUpstreamCalls.add(call);
  const took_ms = Math.round(call.upstreamMs * 1000) / 1000;
  const msg = `the upstream responded with status ${call.status}`;
  trace.note({ level: 'info', type: 'response', mw: 'upstream', msg, code: call.status, took_ms }, call.api);
}
