import { Problem } from '#base/problems.ts';
import { toDatabaseProblem } from '#storage/database-errors.ts';
import { problem as bodyProblem, noBody } from '../http/body.ts';
import { grpcHttpStatus, readGrpcType, toGrpcStatus, toTrailersOnly } from '../http/grpc.ts';
import { hasMatrixParameters, stripMatrixParameters } from '../http/path.ts';
import { removeGatewayCredentials } from '../http/request-head.ts';
import type { GatewayResponse } from '../http/response.ts';
import { bodyTooLargeResponse, exceedsBodyLimit } from '../pipeline/body-limit.ts';
import {
  buffersResponse,
  collectBodyCaptures,
  notifyFinished,
  notifyUpstreamResult,
  runRequestSteps,
  runResponseSteps,
} from '../pipeline/chain.ts';
import { createErrorMessageOverrides } from '../pipeline/error-message-overrides.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { type RefusalCode, refusalResponse, refusals, refuse, refuseAsText } from '../pipeline/refusals.ts';
import type { RequestHandler, ResponseWriter } from '../pipeline/response-writer.ts';
import type { StepServices } from '../pipeline/step-services.ts';
import { buildUpstreamPath, type UpstreamAddress } from '../proxy/load-balancer.ts';
import type { UpstreamPools } from '../proxy/pools.ts';
import { deliverCaptures, type ProxyEvents } from '../proxy/proxy-request.ts';
import { createSender, noHealthyHostResponse } from '../proxy/send.ts';
import { createOverridesByApi } from '../steps/error-overrides/overrides.ts';
import type { Api } from './api.ts';
import { noRoutes, type Route } from './built-in-routes.ts';
import { foundById, inService, type Snapshot } from './snapshot.ts';
import type { Chosen, Served } from './versions.ts';

export interface EngineOptions {
  readonly snapshot: () => Snapshot;
  readonly services: StepServices;
  readonly pools: UpstreamPools;
  /** Writes a finished call down; never waits. */
  readonly record: (call: Exchange, complete: boolean) => void;
  /** Explanations: receives the reason of an upstream failure, which callers never see. */
  readonly onUpstreamFailure?: (call: Exchange, code: RefusalCode, reason: string) => void;
}

/** Takes a call through its API: route, version, steps, upstream, steps back. */
export function createEngine(options: EngineOptions): RequestHandler {
  const { snapshot, services, pools, record: write, onUpstreamFailure } = options;
  const loopsAllowed = services.settings['gateway.max_loops'];
  const worded = createErrorMessageOverrides(services.settings);
  const overridden = createOverridesByApi(services);
  const bodyBytes = services.settings['gateway.max_request_body_bytes'];
  const parameters = services.settings['gateway.path_parameters'];
  const idPaths = services.settings['gateway.api_id_paths'];
  const receiver: ProxyEvents = {
    maxResponseBytes: services.settings['gateway.max_response_body_bytes'] || Number.POSITIVE_INFINITY,
    onHead(call, response) {
      withAnswerHeaders(call, response);
      call.response = response;
      call.status = response.status;
      if (call.chain === undefined) return;
      notifyUpstreamResult(call.chain, call, { status: response.status, failure: '' });
      return runResponseSteps(call.chain, call, response);
    },
    maxBufferedBytes: services.settings['gateway.max_buffered_body_bytes'],
    buffersResponse: (call, response) => call.chain !== undefined && buffersResponse(call.chain, call, response),
    bodyCaptures: (call, response) => call.chain && collectBodyCaptures(call.chain, call, response),
    onEnd: (call, complete) => record(call, complete),
    onFailure(call, writer, code, error) {
      if (call.chain) notifyUpstreamResult(call.chain, call, { status: 0, failure: code });
      if (code !== 'client_disconnected')
        services.log.warn({ api: call.api?.id, code, reason: error.message }, 'upstream failed');
      onUpstreamFailure?.(call, code, error.message);
      deliver(call, writer, refusalFor(call, code));
    },
  };

  function record(call: Exchange, complete: boolean): void {
    if (call.chain) notifyFinished(call.chain, call);
    write(call, complete);
  }

  const sendUpstream = createSender(services, pools, receiver);

  /** Error boundary: a throw that no step accounts for fails its call, never the thread. */
  function handle(call: Exchange, writer: ResponseWriter): void {
    try {
      enterRoute(call, writer);
    } catch (error) {
      breakOff(call, writer, error);
    }
  }

  function enterRoute(call: Exchange, writer: ResponseWriter): void {
    if (bodyBytes > 0 && exceedsBodyLimit(call, bodyBytes)) return deliver(call, writer, bodyTooLargeResponse(call));
    const current = snapshot();
    const router = call.peer.port ? current.ports.get(call.peer.port) : current.router;
    const found = router?.find(call.host, call.path, current.guard) ?? (idPaths ? foundById(current, call) : undefined);
    if (!found || (call.restrictedToApiId !== '' && found.value.id !== call.restrictedToApiId))
      return deliver(call, writer, refuseAsText(call, 'route_unknown'));
    if (parameters !== 'pass' && hasMatrixParameters(call.path)) {
      const plainly = router?.find(call.host, stripMatrixParameters(call.path), current.guard);
      if (parameters === 'refuse' || (plainly && plainly.value !== found.value))
        return deliver(call, writer, refuse(call, 'path_ambiguous'));
      call.isPathAmbiguous = true;
    }
    call.listenPath = found.listenPath;
    call.innerPath = belowListenPath(call.path, found.listenPath);
    call.pathParameters = found.parameters;
    enter(call, found.value, writer, current);
  }

  function enter(call: Exchange, api: Api, writer: ResponseWriter, current: Snapshot): void {
    // Each API decides for itself who may call: what another one found out does not count here.
    if (call.api !== api) forgetCaller(call);
    call.skipsAuth = false;
    call.enforcedTimeout = undefined;
    call.sign = undefined;
    call.api = api;
    if (api.unserved) return deliver(call, writer, refuse(call, 'api_unavailable'));
    const route = api.routes === noRoutes ? undefined : api.routes.get(call.innerPath);
    if (route) return answeredBy(call, writer, route);
    const chosen = api.only ?? api.versions.choose(call);
    if (chosen.kind === 'refused') return refusedByVersion(call, writer, chosen);
    if (chosen.kind === 'other') return enterVersion(call, chosen.apiId, chosen.isDefault, writer, current);
    if (call.headers.hasGatewayCredentials) removeGatewayCredentials(call.headers, api.readsKeyFrom);
    if (api.passesOptions && call.method === 'OPTIONS') return passOptions(call, api, chosen, writer, current);
    call.chain = chosen.chain;
    walk(call, api, chosen, writer, current);
  }

  function passOptions(call: Exchange, api: Api, served: Served, writer: ResponseWriter, current: Snapshot): void {
    Promise.try(() => served.optionsAccess?.(call)).then(
      refused => (refused ? deliver(call, writer, refused) : forward(call, api, served, writer, current)),
      error => failed(call, writer, error),
    );
  }

  /** A path the API answers itself: no chain, no upstream, and nothing of it in the traffic logs, where it would be read. */
  function answeredBy(call: Exchange, writer: ResponseWriter, route: Route): void {
    call.isRecorded = false;
    Promise.resolve(route(call, handle)).then(
      response => deliver(call, writer, response),
      error => failed(call, writer, error),
    );
  }

  /** Another API serves this version: its whole chain runs, below the base's listen path. */
  function enterVersion(
    call: Exchange,
    apiId: string,
    isDefault: boolean,
    writer: ResponseWriter,
    current: Snapshot,
  ): void {
    const child = inService(current.apis.get(apiId));
    // A definition may name any id: only APIs of its own organisation are versions of it.
    if (!child || child.orgId !== call.api!.orgId)
      return deliver(call, writer, refuse(call, isDefault ? 'version_default_unavailable' : 'version_api_unknown'));
    if (++call.versionHops > loopsAllowed)
      return deliver(call, writer, refuse(call, 'loop_too_deep', { limit: loopsAllowed }));
    // The base takes its listen path off, and that of the child was never in the path.
    call.pathWithoutVersion = call.innerPath;
    enter(call, child, writer, current);
  }

  function passedOn(call: Exchange, writer: ResponseWriter): boolean {
    call.loopCount++;
    const limit = call.maxLoops || loopsAllowed;
    if (call.loopCount <= limit) return true;
    deliver(call, writer, refuse(call, 'loop_too_deep', { limit }));
    return false;
  }

  function refusedByVersion(
    call: Exchange,
    writer: ResponseWriter,
    chosen: Extract<Chosen, { kind: 'refused' }>,
  ): void {
    const { event, message } = refusals[call.errorCode as RefusalCode];
    if (event && !chosen.isSilent)
      services.emitEvent(event, call, 'Attempted access to disallowed version / path.', { key: '', reason: message });
    deliver(call, writer, chosen.answer);
  }

  function walk(call: Exchange, api: Api, served: Served, writer: ResponseWriter, current: Snapshot): void {
    let outcome: ReturnType<typeof runRequestSteps>;
    try {
      outcome = runRequestSteps(served.chain, call);
    } catch (error) {
      return failed(call, writer, error);
    }
    if (outcome instanceof Promise) {
      outcome.then(
        response => (response ? answered(call, writer, response) : forward(call, api, served, writer, current)),
        error => failed(call, writer, error),
      );
    } else if (outcome) answered(call, writer, outcome);
    else forward(call, api, served, writer, current);
  }

  function answered(call: Exchange, writer: ResponseWriter, response: GatewayResponse): void {
    try {
      if (response.isGatewayError || response.skipsResponseSteps) return deliver(call, writer, response);
      withAnswerHeaders(call, response);
      const waiting = runResponseSteps(call.chain!, call, response);
      if (waiting instanceof Promise)
        waiting.then(() => delivered(call, writer, response)).catch(error => breakOff(call, writer, error));
      else delivered(call, writer, response);
    } catch (error) {
      breakOff(call, writer, error);
    }
  }

  function delivered(call: Exchange, writer: ResponseWriter, response: GatewayResponse): void {
    const copies = collectBodyCaptures(call.chain!, call, response);
    send(call, writer, response);
    if (copies) deliverCaptures(copies, response.body.bytes ?? Buffer.alloc(0));
  }

  function failed(call: Exchange, writer: ResponseWriter, error: unknown): void {
    const { code } = error as { code?: string };
    if (code === bodyProblem.too_large.code) return deliver(call, writer, bodyTooLargeResponse(call));
    if (code === bodyProblem.too_slow.code) return deliver(call, writer, refuse(call, 'body_too_slow'));
    const fault = toDatabaseProblem(error);
    if (fault) {
      // Who the caller is cannot be looked up: nobody is let in, and where the database is stays between us.
      services.log.warn({ api: call.api?.id, reason: fault.message }, 'a call needs the database');
      return deliver(call, writer, refuse(call, 'database_unavailable'));
    }
    if (error instanceof Problem && (error.status < 500 || error.status === 503)) {
      call.errorCode = error.code;
      return deliver(call, writer, refusalResponse(call, error.status, error.message));
    }
    services.log.error({ err: error, api: call.api?.id }, 'a step failed');
    deliver(call, writer, refuse(call, 'internal'));
  }

  /** The same boundary for what happens outside the steps, some of it in a callback of a promise. */
  function breakOff(call: Exchange, writer: ResponseWriter, error: unknown): void {
    if (!call.response) return failed(call, writer, error);
    services.log.error({ err: error, api: call.api?.id }, 'a response failed');
    writer.abort();
    record(call, false);
  }

  function forward(
    call: Exchange,
    api: Api,
    { fixed, target }: Served,
    writer: ResponseWriter,
    current: Snapshot,
  ): void {
    let address: ReturnType<Served['target']['next']>;
    try {
      address = call.rewrittenTarget?.address ?? fixed ?? target.next();
    } catch (error) {
      return failed(call, writer, error);
    }
    if (address instanceof Promise)
      address.then(
        found => sent(call, api, found, writer, current),
        error => failed(call, writer, error),
      );
    else sent(call, api, address, writer, current);
  }

  function sent(
    call: Exchange,
    api: Api,
    to: UpstreamAddress | undefined,
    writer: ResponseWriter,
    current: Snapshot,
  ): void {
    try {
      if (!to) deliver(call, writer, noHealthyHostResponse(call));
      else if (to.loop) loop(call, to, writer, current);
      else {
        const sending = sendUpstream(call, api, to, writer, current.hasTenants ? api.orgId : '');
        if (sending) sending.catch(error => breakOff(call, writer, error));
      }
    } catch (error) {
      breakOff(call, writer, error);
    }
  }

  /** `gw://name/path`: another API of this gateway, or the same one again, without leaving the process. */
  function loop(call: Exchange, address: UpstreamAddress, writer: ResponseWriter, current: Snapshot): void {
    const target = address.loop === 'self' ? call.api : current.byName(call.api!.orgId, address.loop);
    if (!target)
      return deliver(
        call,
        writer,
        refuse(call, call.rewrittenTarget?.address ? 'rewrite_loop_unknown' : 'loop_unknown'),
      );
    controlled(call, address);
    if (!passedOn(call, writer)) return;
    call.innerPath = buildUpstreamPath(call, { ...address, query: '' }, true, false).split('?', 1)[0]!;
    call.path = target.listenPath.replace(/\/$/, '') + call.innerPath;
    call.isPathAmbiguous ||= parameters === 'check' && hasMatrixParameters(call.path);
    call.listenPath = target.listenPath;
    call.pathWithoutVersion = '';
    call.rewrittenTarget = undefined;
    call.upstreamHost = '';
    enter(call, target, writer, current);
  }

  /** An answer that no step has seen on its way out. */
  function deliver(call: Exchange, writer: ResponseWriter, response: GatewayResponse): void {
    withAnswerHeaders(call, response);
    send(call, writer, response);
  }

  function send(call: Exchange, writer: ResponseWriter, response: GatewayResponse): void {
    if (call.isClientDisconnected) return record(call, false);
    if (response.isGatewayError) {
      worded(call, response);
      overridden(call.api)?.overrideRefusal(call, response);
      const grpcType = readGrpcType(call.receivedMethod, call.headers);
      if (grpcType !== undefined) return refuseGrpc(call, writer, response, grpcType);
    }
    const bytes = response.body.bytes;
    const length = response.status === 304 ? undefined : (bytes?.length ?? response.body.length);
    if (length === undefined) response.headers.remove('content-length');
    else response.headers.set('Content-Length', String(length));
    call.response = response;
    call.status = response.status;
    call.responseBytes = bytes?.length ?? 0;
    writer.writeHead(response.status, response.headers.flat);
    writer.end(call.receivedMethod === 'HEAD' ? undefined : bytes);
    record(call, true);
  }

  /** Trailers-Only refusal. Analytics keep the HTTP status, so that errors are counted as errors. */
  function refuseGrpc(call: Exchange, writer: ResponseWriter, response: GatewayResponse, type: string): void {
    const message = response.message || (response.body.bytes?.toString() ?? '');
    toTrailersOnly(response.headers, type, toGrpcStatus(response.status, call.errorCode), message);
    response.body = noBody();
    call.response = response;
    call.status = response.status;
    writer.writeHead(grpcHttpStatus, response.headers.flat);
    writer.end();
    record(call, true);
  }

  return { handle };
}

/** Seconds after which a client may try again that found no place at an upstream. */
const busyRetrySeconds = 1;

function refusalFor(call: Exchange, code: RefusalCode): GatewayResponse {
  if (code === 'body_too_large') return bodyTooLargeResponse(call);
  const refused = refuse(call, code);
  if (code === 'upstream_busy') refused.headers.append('Retry-After', String(busyRetrySeconds));
  return refused;
}

function forgetCaller(call: Exchange): void {
  if (call.keyId !== '') call.previousKeyIds += `${call.keyId.length}:${call.keyId}`;
  call.keyId = '';
  call.counterOwner = '';
  call.keyHash = '';
  call.session = undefined;
  call.authMethod = '';
  call.matchedAlternative = -1;
  call.verifiedToken = undefined;
  call.bearerToken = '';
}

/** The first limit a call is given holds for the rest of it. */
function controlled(call: Exchange, { controls }: UpstreamAddress): void {
  call.method = call.upstreamMethod ?? call.method;
  call.upstreamMethod = undefined;
  if (!controls) return;
  call.query = controls.query;
  if (controls.method) call.method = controls.method;
  if (call.maxLoops === 0) call.maxLoops = controls.limit;
  call.checkLimitsInLoop = controls.checksLimits;
}

/** Begins with a slash, also where listen paths match in the middle of a segment. */
function belowListenPath(path: string, listenPath: string): string {
  const rest = path.slice(listenPath.endsWith('/') ? listenPath.length - 1 : listenPath.length);
  return rest.startsWith('/') ? rest : `/${rest}`;
}

function withAnswerHeaders(call: Exchange, response: GatewayResponse): void {
  if (call.extraResponseHeaders) response.headers.flat.push(...call.extraResponseHeaders);
}
