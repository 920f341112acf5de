import type { MaybePromise } from '#base/maybe-promise.ts';
import type { GatewayResponse } from '../../http/response.ts';
import type { Chain } from '../../pipeline/chain.ts';
import type { Exchange } from '../../pipeline/exchange.ts';
import { refusals } from '../../pipeline/refusals.ts';
import type { Api } from '../../routing/api.ts';
import type { VersionRuntime, VersionSelector } from '../../routing/versions.ts';
import { stepSettings } from './step-settings.ts';
import { type Identity, type Line, milliseconds, type Trace } from './trace.ts';

/**
 * The same API whose every decision is written down. Its steps are the steps of traffic, each inside a wrapper: nothing
 * on the path of traffic knows of tests.
 */
export function tracedApi(api: Api, trace: Trace): Api {
  const traced = new Map(api.versionRuntimes.map(it => [it, { ...it, chain: tracedChain(it, api, trace) }]));
  return {
    ...api,
    versionSelector: tracedVersions(api, traced, trace),
    onlyVersion: undefined,
    versionRuntimes: [...traced.values()],
  };
}

function tracedVersions(api: Api, traced: ReadonlyMap<VersionRuntime, VersionRuntime>, trace: Trace): VersionSelector {
  return {
    select(call) {
      const begun = performance.now();
      const chosen = api.versionSelector.select(call);
      const line = { type: 'request', mw: 'version', took_ms: milliseconds(begun) } as const;
      if (chosen.kind === 'refused') trace.note({ ...line, ...refusalOf(call, chosen.response) }, api);
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

function tracedChain({ chain, version }: VersionRuntime, of: Api, trace: Trace): Chain {
  const { names } = chain;
  const told = (mw: string) => {
    const settings = stepSettings(mw, of.model, version);
    return settings === undefined ? { mw } : { mw, settings };
  };
  return {
    ...chain,
    request: chain.request.map((run, at) => call => {
      const session = call.session;
      return watched(
        trace,
        { type: 'request', ...told(names.request[at]!) },
        of,
        () => run(call),
        outcome => ({ ...(outcome ? endedBy(call, outcome) : passed), ...recognised(call, session) }),
      );
    }),
    response: chain.response.map((run, at) => (call, response) => {
      noteUpstream(call, trace);
      const before = response.status;
      return watched(
        trace,
        { type: 'response', ...told(names.response[at]!) },
        of,
        () => run(call, response),
        () =>
          response.status === before ? passed : { level: 'info', msg: `changed the status to ${response.status}` },
      );
    }),
  };
}

type Said = Pick<Line, 'level' | 'msg'> & Partial<Pick<Line, 'code' | 'refusal' | 'about' | 'key_hash'>>;
const passed: Said = { level: 'debug', msg: 'passed' };

/** Runs a step, waits only if it does, and writes down what came of it. */
function watched<T>(
  trace: Trace,
  line: Pick<Line, 'type'> & { mw: string },
  of: Identity,
  run: () => MaybePromise<T>,
  said: (value: T) => Said,
): MaybePromise<T> {
  const begun = performance.now();
  trace.at = `the step ${line.mw}`;
  trace.side = line.type;
  const done = (value: T): T => {
    trace.note({ ...line, ...said(value), took_ms: milliseconds(begun) }, of);
    return value;
  };
  const failed = (error: unknown): never => {
    const msg = `failed: ${(error as Error).message}`;
    trace.note({ ...line, level: 'error', msg, took_ms: milliseconds(begun) }, of);
    throw error;
  };
  try {
    const doing = run();
    return doing instanceof Promise ? doing.then(done, failed) : done(doing);
  } catch (error) {
    return failed(error);
  }
}

const endedBy = (call: Exchange, response: GatewayResponse): Said =>
  response.isGatewayError
    ? refusalOf(call, response)
    : { level: 'info', msg: `answered with ${response.status} in place of the upstream`, code: response.status };

export function refusalOf(call: Exchange, response: GatewayResponse): Said {
  const { errorCode } = call;
  const known = refusals[errorCode as keyof typeof refusals];
  const text = textOf(response) ?? known?.message ?? '';
  const why = known ? { about: known.about } : {};
  return {
    level: 'warn',
    msg: `refused with ${response.status}: ${text}`,
    code: response.status,
    refusal: errorCode,
    ...why,
  };
}

/** The sentence in a refusal's own notation. */
function textOf({ body }: GatewayResponse): string | undefined {
  const text = body.bytes?.toString() ?? '';
  return /<error>(.*)<\/error>/s.exec(text)?.[1] ?? /"error": (".*")/.exec(text)?.[1]?.slice(1, -1);
}

/** A step that found out who calls says so, by the hash of the key. */
const recognised = (call: Exchange, before: Exchange['session']) =>
  call.session !== undefined && call.session !== before
    ? { key_hash: call.keyHash, msg: `knows the caller by ${call.authMethod || 'its credential'}` }
    : {};

const noted = new WeakSet<Exchange>();

/** Once for each call, before whatever happens to the answer. */
export function noteUpstream(call: Exchange, trace: Trace): void {
  trace.side = 'response';
  if (call.upstreamMs === 0 || noted.has(call)) return;
  noted.add(call);
  const took_ms = Math.round(call.upstreamMs * 1000) / 1000;
  const msg = `the upstream answered with ${call.status}`;
  trace.note({ level: 'info', type: 'response', mw: 'upstream', msg, code: call.status, took_ms }, call.api);
}
