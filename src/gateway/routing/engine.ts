import { Problem } from '#base/problems.ts';
import { toDatabaseProblem } from '#storage/database-errors.ts';
import { problem as bodyProblem, noBody } from '../http/body.ts';
import { grpcHttpStatus, readGrpcType, toGrpcStatus, toTrailersOnly } from '../http/grpc.ts';
import { holdsParameters, plainSpelling } from '../http/path.ts';
import { dropOwnCredentials } from '../http/request-head.ts';
import type { Answer } from '../http/response.ts';
import { bringsTooMuch, tooLarge } from '../pipeline/body-limit.ts';
import { copiesOf, needsBody, tellEnded, tellSettled, walkRequest, walkResponse } from '../pipeline/chain.ts';
import { refusalWords } from '../pipeline/error-message-overrides.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { type RefusalCode, refusalAnswer, refusals, refuse, refusePlainly } from '../pipeline/refusals.ts';
import type { Handler, Sink } from '../pipeline/response-writer.ts';
import type { GatewayTools } from '../pipeline/step-services.ts';
import { type Destination, upstreamPath } from '../proxy/load-balancer.ts';
import type { UpstreamPools } from '../proxy/pools.ts';
import { handOut, type Receiver } from '../proxy/proxy-request.ts';
import { hostsDown, sendingOf } from '../proxy/send.ts';
import { overridesByApi } from '../steps/error-overrides/overrides.ts';
import type { Api } from './api.ts';
import { noRoutes, type Route } from './built-in-routes.ts';
import { foundById, inService, type Snapshot } from './snapshot.ts';
import type { Chosen, Served } from './versions.ts';

export interface EngineOptions {
  readonly snapshot: () => Snapshot;
  readonly tools: GatewayTools;
  readonly pools: UpstreamPools;
  /** Writes a finished call down; never waits. */
  readonly record: (call: Exchange, complete: boolean) => void;
  /** Explanations: receives the reason of an upstream failure, which callers never see. */
  readonly onUpstreamFailure?: (call: Exchange, code: RefusalCode, reason: string) => void;
}

/** Takes a call through its API: route, version, steps, upstream, steps back. */
export function createEngine(options: EngineOptions): Handler {
  const { snapshot, tools, pools, record: write, onUpstreamFailure } = options;
  const loopsAllowed = tools.settings['gateway.loop_limit'];
  const worded = refusalWords(tools.settings);
  const overridden = overridesByApi(tools);
  const bodyBytes = tools.settings['gateway.request_body_bytes'];
  const parameters = tools.settings['gateway.path_parameters'];
  const idPaths = tools.settings['gateway.api_id_paths'];
  const receiver: Receiver = {
    answerBytes: tools.settings['gateway.response_body_bytes'] || Number.POSITIVE_INFINITY,
    onHead(call, given) {
      withAnswerHeaders(call, given);
      call.answer = given;
      call.status = given.status;
      if (call.chain === undefined) return;
      tellSettled(call.chain, call, { status: given.status, failure: '' });
      return walkResponse(call.chain, call, given);
    },
    heldBytes: tools.settings['gateway.held_body_bytes'],
    needsBody: (call, given) => call.chain !== undefined && needsBody(call.chain, call, given),
    copies: (call, given) => call.chain && copiesOf(call.chain, call, given),
    onEnd: (call, complete) => record(call, complete),
    onFailure(call, sink, code, error) {
      if (call.chain) tellSettled(call.chain, call, { status: 0, failure: code });
      if (code !== 'client_gone') tools.log.warn({ api: call.api?.id, code, reason: error.message }, 'upstream failed');
      onUpstreamFailure?.(call, code, error.message);
      deliver(call, sink, refusalFor(call, code));
    },
  };

  function record(call: Exchange, complete: boolean): void {
    if (call.chain) tellEnded(call.chain, call);
    write(call, complete);
  }

  const sendUpstream = sendingOf(tools, pools, receiver);

  /** Error boundary: a throw that no step accounts for fails its call, never the thread. */
  function handle(call: Exchange, sink: Sink): void {
    try {
      enterRoute(call, sink);
    } catch (error) {
      breakOff(call, sink, error);
    }
  }

  function enterRoute(call: Exchange, sink: Sink): void {
    if (bodyBytes > 0 && bringsTooMuch(call, bodyBytes)) return deliver(call, sink, tooLarge(call));
    const current = snapshot();
    const router = call.peer.port ? current.ports.get(call.peer.port) : current.router;
    const found = router?.find(call.host, call.path, current.guard) ?? (idPaths ? foundById(current, call) : undefined);
    if (!found || (call.within !== '' && found.value.id !== call.within))
      return deliver(call, sink, refusePlainly(call, 'route_unknown'));
    if (parameters !== 'pass' && holdsParameters(call.path)) {
      const plainly = router?.find(call.host, plainSpelling(call.path), current.guard);
      if (parameters === 'refuse' || (plainly && plainly.value !== found.value))
        return deliver(call, sink, refuse(call, 'path_twofold'));
      call.isPathAmbiguous = true;
    }
    call.listenPath = found.listenPath;
    call.innerPath = belowListenPath(call.path, found.listenPath);
    call.pathParameters = found.parameters;
    enter(call, found.value, sink, current);
  }

  function enter(call: Exchange, api: Api, sink: Sink, current: Snapshot): void {
    // Each API decides for itself who may call: what another one found out does not count here.
    if (call.api !== api) forgetCaller(call);
    call.skipsAuth = false;
    call.deadlines = undefined;
    call.sign = undefined;
    call.api = api;
    if (api.unserved) return deliver(call, sink, refuse(call, 'api_unserved'));
    const route = api.routes === noRoutes ? undefined : api.routes.get(call.innerPath);
    if (route) return answeredBy(call, sink, route);
    const chosen = api.only ?? api.versions.choose(call);
    if (chosen.kind === 'refused') return refusedByVersion(call, sink, chosen);
    if (chosen.kind === 'other') return enterVersion(call, chosen.apiId, chosen.isDefault, sink, current);
    if (call.headers.holdsOwnCredentials) dropOwnCredentials(call.headers, api.readsKeyFrom);
    if (api.passesOptions && call.method === 'OPTIONS') return passOptions(call, api, chosen, sink, current);
    call.chain = chosen.chain;
    walk(call, api, chosen, sink, current);
  }

  function passOptions(call: Exchange, api: Api, served: Served, sink: Sink, current: Snapshot): void {
    Promise.try(() => served.optionsAccess?.(call)).then(
      refused => (refused ? deliver(call, sink, refused) : forward(call, api, served, sink, current)),
      error => failed(call, sink, error),
    );
  }

  /** A path the API answers itself: no chain, no upstream, and nothing of it in the traffic logs, where it would be read. */
  function answeredBy(call: Exchange, sink: Sink, route: Route): void {
    call.tracked = false;
    Promise.resolve(route(call, handle)).then(
      given => deliver(call, sink, given),
      error => failed(call, sink, error),
    );
  }

  /** Another API serves this version: its whole chain runs, below the base's listen path. */
  function enterVersion(call: Exchange, apiId: string, isDefault: boolean, sink: Sink, current: Snapshot): void {
    const child = inService(current.apis.get(apiId));
    // A definition may name any id: only APIs of its own organisation are versions of it.
    if (!child || child.orgId !== call.api!.orgId)
      return deliver(call, sink, refuse(call, isDefault ? 'version_default_unserved' : 'version_api_unknown'));
    if (++call.versionHops > loopsAllowed)
      return deliver(call, sink, refuse(call, 'loop_too_deep', { limit: loopsAllowed }));
    // The base takes its listen path off, and that of the child was never in the path.
    call.pathWithoutVersion = call.innerPath;
    enter(call, child, sink, current);
  }

  function passedOn(call: Exchange, sink: Sink): boolean {
    call.loops++;
    const limit = call.loopLimit || loopsAllowed;
    if (call.loops <= limit) return true;
    deliver(call, sink, refuse(call, 'loop_too_deep', { limit }));
    return false;
  }

  function refusedByVersion(call: Exchange, sink: Sink, chosen: Extract<Chosen, { kind: 'refused' }>): void {
    const { event, message } = refusals[call.refusal as RefusalCode];
    if (event && !chosen.isSilent)
      tools.fire(event, call, 'Attempted access to disallowed version / path.', { key: '', reason: message });
    deliver(call, sink, chosen.answer);
  }

  function walk(call: Exchange, api: Api, served: Served, sink: Sink, current: Snapshot): void {
    let outcome: ReturnType<typeof walkRequest>;
    try {
      outcome = walkRequest(served.chain, call);
    } catch (error) {
      return failed(call, sink, error);
    }
    if (outcome instanceof Promise) {
      outcome.then(
        answer => (answer ? answered(call, sink, answer) : forward(call, api, served, sink, current)),
        error => failed(call, sink, error),
      );
    } else if (outcome) answered(call, sink, outcome);
    else forward(call, api, served, sink, current);
  }

  function answered(call: Exchange, sink: Sink, given: Answer): void {
    try {
      if (given.refused || given.final) return deliver(call, sink, given);
      withAnswerHeaders(call, given);
      const waiting = walkResponse(call.chain!, call, given);
      if (waiting instanceof Promise)
        waiting.then(() => delivered(call, sink, given)).catch(error => breakOff(call, sink, error));
      else delivered(call, sink, given);
    } catch (error) {
      breakOff(call, sink, error);
    }
  }

  function delivered(call: Exchange, sink: Sink, given: Answer): void {
    const copies = copiesOf(call.chain!, call, given);
    send(call, sink, given);
    if (copies) handOut(copies, given.body.bytes ?? Buffer.alloc(0));
  }

  function failed(call: Exchange, sink: Sink, error: unknown): void {
    const { code } = error as { code?: string };
    if (code === bodyProblem.too_large.code) return deliver(call, sink, tooLarge(call));
    if (code === bodyProblem.too_slow.code) return deliver(call, sink, refuse(call, 'body_too_slow'));
    const fault = toDatabaseProblem(error);
    if (fault) {
      // Who the caller is cannot be looked up: nobody is let in, and where the database is stays between us.
      tools.log.warn({ api: call.api?.id, reason: fault.message }, 'a call needs the database');
      return deliver(call, sink, refuse(call, 'records_away'));
    }
    if (error instanceof Problem && (error.status < 500 || error.status === 503)) {
      call.refusal = error.code;
      return deliver(call, sink, refusalAnswer(call, error.status, error.message));
    }
    tools.log.error({ err: error, api: call.api?.id }, 'a step failed');
    deliver(call, sink, refuse(call, 'internal'));
  }

  /** The same boundary for what happens outside the steps, some of it in a callback of a promise. */
  function breakOff(call: Exchange, sink: Sink, error: unknown): void {
    if (!call.answer) return failed(call, sink, error);
    tools.log.error({ err: error, api: call.api?.id }, 'a response failed');
    sink.abort();
    record(call, false);
  }

  function forward(call: Exchange, api: Api, { fixed, target }: Served, sink: Sink, current: Snapshot): void {
    let destination: ReturnType<Served['target']['next']>;
    try {
      destination = call.rewritten?.destination ?? fixed ?? target.next();
    } catch (error) {
      return failed(call, sink, error);
    }
    if (destination instanceof Promise)
      destination.then(
        found => sent(call, api, found, sink, current),
        error => failed(call, sink, error),
      );
    else sent(call, api, destination, sink, current);
  }

  function sent(call: Exchange, api: Api, to: Destination | undefined, sink: Sink, current: Snapshot): void {
    try {
      if (!to) deliver(call, sink, hostsDown(call));
      else if (to.loop) loop(call, to, sink, current);
      else {
        const sending = sendUpstream(call, api, to, sink, current.hasTenants ? api.orgId : '');
        if (sending) sending.catch(error => breakOff(call, sink, error));
      }
    } catch (error) {
      breakOff(call, sink, error);
    }
  }

  /** `gw://name/path`: another API of this gateway, or the same one again, without leaving the process. */
  function loop(call: Exchange, destination: Destination, sink: Sink, current: Snapshot): void {
    const target = destination.loop === 'self' ? call.api : current.byName(call.api!.orgId, destination.loop);
    if (!target)
      return deliver(call, sink, refuse(call, call.rewritten?.destination ? 'rewrite_loop_unknown' : 'loop_unknown'));
    controlled(call, destination);
    if (!passedOn(call, sink)) return;
    call.innerPath = upstreamPath(call, { ...destination, query: '' }, true, false).split('?', 1)[0]!;
    call.path = target.listenPath.replace(/\/$/, '') + call.innerPath;
    call.isPathAmbiguous ||= parameters === 'check' && holdsParameters(call.path);
    call.listenPath = target.listenPath;
    call.pathWithoutVersion = '';
    call.rewritten = undefined;
    call.upstreamHost = '';
    enter(call, target, sink, current);
  }

  /** An answer that no step has seen on its way out. */
  function deliver(call: Exchange, sink: Sink, given: Answer): void {
    withAnswerHeaders(call, given);
    send(call, sink, given);
  }

  function send(call: Exchange, sink: Sink, given: Answer): void {
    if (call.gone) return record(call, false);
    if (given.refused) {
      worded(call, given);
      overridden(call.api)?.refusal(call, given);
      const grpcType = readGrpcType(call.receivedMethod, call.headers);
      if (grpcType !== undefined) return refuseGrpc(call, sink, given, grpcType);
    }
    const bytes = given.body.bytes;
    const length = given.status === 304 ? undefined : (bytes?.length ?? given.body.length);
    if (length === undefined) given.headers.remove('content-length');
    else given.headers.set('Content-Length', String(length));
    call.answer = given;
    call.status = given.status;
    call.answerBytes = bytes?.length ?? 0;
    sink.start(given.status, given.headers.flat);
    sink.finish(call.receivedMethod === 'HEAD' ? undefined : bytes);
    record(call, true);
  }

  /** Trailers-Only refusal. Analytics keep the HTTP status, so that errors are counted as errors. */
  function refuseGrpc(call: Exchange, sink: Sink, given: Answer, type: string): void {
    const message = given.message || (given.body.bytes?.toString() ?? '');
    toTrailersOnly(given.headers, type, toGrpcStatus(given.status, call.refusal), message);
    given.body = noBody();
    call.answer = given;
    call.status = given.status;
    sink.start(grpcHttpStatus, given.headers.flat);
    sink.finish();
    record(call, true);
  }

  return { handle };
}

/** Seconds after which a client may try again that found no place at an upstream. */
const busyRetrySeconds = 1;

function refusalFor(call: Exchange, code: RefusalCode): Answer {
  if (code === 'body_too_large') return tooLarge(call);
  const refused = refuse(call, code);
  if (code === 'upstream_busy') refused.headers.append('Retry-After', String(busyRetrySeconds));
  return refused;
}

function forgetCaller(call: Exchange): void {
  if (call.keyId !== '') call.earlierKeys += `${call.keyId.length}:${call.keyId}`;
  call.keyId = '';
  call.keyOwner = '';
  call.keyHash = '';
  call.session = undefined;
  call.identityFrom = '';
  call.alternative = -1;
  call.verified = undefined;
  call.bearer = '';
}

/** The first limit a call is given holds for the rest of it. */
function controlled(call: Exchange, { controls }: Destination): void {
  call.method = call.upstreamMethod ?? call.method;
  call.upstreamMethod = undefined;
  if (!controls) return;
  call.query = controls.query;
  if (controls.method) call.method = controls.method;
  if (call.loopLimit === 0) call.loopLimit = controls.limit;
  call.checkLimitsInLoop = controls.checksLimits;
}

/** Begins with a slash, also where listen paths match in the middle of a segment. */
function belowListenPath(path: string, listenPath: string): string {
  const rest = path.slice(listenPath.endsWith('/') ? listenPath.length - 1 : listenPath.length);
  return rest.startsWith('/') ? rest : `/${rest}`;
}

function withAnswerHeaders(call: Exchange, given: Answer): void {
  if (call.answerHeaders) given.headers.flat.push(...call.answerHeaders);
}
