import { Problem } from '#base/problems.ts';
import { toDatabaseProblem } from '#storage/database-errors.ts';
import { problem as bodyProblem, noBody } from '../http/body.ts';
import { grpcHttpStatus, readGrpcType, toGrpcStatus, toTrailersOnly } from '../http/grpc.ts';
import { hasMatrixParameters, stripMatrixParameters } from '../http/path.ts';
import { removeGatewayCredentials } from '../http/request-head.ts';
import type { GatewayResponse } from '../http/response.ts';
import { bodyTooLargeResponse, exceedsBodyLimit } from '../pipeline/body-limit.ts';
import type { BuiltInRoute } from '../pipeline/built-in-route.ts';
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
import { applyLoopControls } from '../pipeline/loops.ts';
import { refusalResponse, refusals, refuse, refuseAsText } from '../pipeline/refusals.ts';
import type { RefusalCode } from '../pipeline/refusals-table.ts';
import type { RequestHandler, ResponseWriter } from '../pipeline/response-writer.ts';
import type { UpstreamAddress } from '../pipeline/upstream-address.ts';
import { buildUpstreamPath } from '../proxy/load-balancer.ts';
import type { UpstreamPools } from '../proxy/pools.ts';
import { deliverCaptures, type ProxyEvents } from '../proxy/proxy-request.ts';
import { createSender, noHealthyHostResponse } from '../proxy/send.ts';
import { createOverridesByApi } from '../steps/error-overrides/overrides.ts';
import type { StepServices } from '../steps/step-services.ts';
import type { Api } from './api.ts';
import { noBuiltInRoutes } from './built-in-routes.ts';
import { findApiById, onlyIfActive, type Snapshot } from './snapshot.ts';
import type { VersionRuntime, VersionSelection } from './versions.ts';

export interface EngineOptions {
  readonly snapshot: () => Snapshot;
  readonly services: StepServices;
  readonly pools: UpstreamPools;
  /** Records a finished exchange; never waits. */
  readonly record: (call: Exchange, complete: boolean) => void;
  /** Explanations: receives the reason of an upstream failure, which callers never see. */
  readonly onUpstreamFailure?: (call: Exchange, code: RefusalCode, reason: string) => void;
}

/** The request pipeline: route, version, request steps, upstream, response steps. */
export function createEngine(options: EngineOptions): RequestHandler {
  const { snapshot, services, pools, record: recordExchange, onUpstreamFailure } = options;
  const maxLoops = services.settings['gateway.max_loops'];
  const applyMessageOverrides = createErrorMessageOverrides(services.settings);
  const findOverrides = createOverridesByApi(services);
  const maxBodyBytes = services.settings['gateway.max_request_body_bytes'];
  const matrixParameters = services.settings['gateway.path_parameters'];
  const allowsIdPaths = services.settings['gateway.api_id_paths'];
  const proxyEvents: ProxyEvents = {
    maxResponseBytes: services.settings['gateway.max_response_body_bytes'] || Number.POSITIVE_INFINITY,
    onHead(call, response) {
      addExtraHeaders(call, response);
      call.response = response;
      call.status = response.status;
      if (call.chain === undefined) return;
      notifyUpstreamResult(call.chain, call, { status: response.status, failure: '' });
      return runResponseSteps(call.chain, call, response);
    },
    maxBufferedBytes: services.settings['gateway.max_buffered_body_bytes'],
    buffersResponse: (call, response) => call.chain !== undefined && buffersResponse(call.chain, call, response),
    bodyCaptures: (call, response) => call.chain && collectBodyCaptures(call.chain, call, response),
    onEnd: (call, complete) => finish(call, complete),
    onFailure(call, writer, code, error) {
      if (call.chain) notifyUpstreamResult(call.chain, call, { status: 0, failure: code });
      if (code !== 'client_disconnected')
        services.log.warn({ api: call.api?.id, code, reason: error.message }, 'upstream failed');
      onUpstreamFailure?.(call, code, error.message);
      writeLocalReply(call, writer, buildRefusal(call, code));
    },
  };

  function finish(call: Exchange, complete: boolean): void {
    if (call.chain) notifyFinished(call.chain, call);
    recordExchange(call, complete);
  }

  const sendUpstream = createSender(services, pools, proxyEvents);

  /** Error boundary: a throw that no step accounts for fails its call, never the thread. */
  function handle(call: Exchange, writer: ResponseWriter): void {
    try {
      routeRequest(call, writer);
    } catch (error) {
      failExchange(call, writer, error);
    }
  }

  function routeRequest(call: Exchange, writer: ResponseWriter): void {
    if (maxBodyBytes > 0 && exceedsBodyLimit(call, maxBodyBytes))
      return writeLocalReply(call, writer, bodyTooLargeResponse(call));
    const current = snapshot();
    const router = call.peer.port ? current.ports.get(call.peer.port) : current.router;
    const match =
      router?.find(call.host, call.path, current.guard) ?? (allowsIdPaths ? findApiById(current, call) : undefined);
    if (!match || (call.restrictedToApiId !== '' && match.value.id !== call.restrictedToApiId))
      return writeLocalReply(call, writer, refuseAsText(call, 'route_unknown'));
    if (matrixParameters !== 'pass' && hasMatrixParameters(call.path)) {
      const matchWithoutParameters = router?.find(call.host, stripMatrixParameters(call.path), current.guard);
      if (matrixParameters === 'refuse' || (matchWithoutParameters && matchWithoutParameters.value !== match.value))
        return writeLocalReply(call, writer, refuse(call, 'path_ambiguous'));
      call.isPathAmbiguous = true;
    }
    call.listenPath = match.listenPath;
    call.innerPath = stripListenPath(call.path, match.listenPath);
    call.pathParameters = match.parameters;
    dispatchToApi(call, match.value, writer, current);
  }

  function dispatchToApi(call: Exchange, api: Api, writer: ResponseWriter, current: Snapshot): void {
    // Identity is per API: one that another API established does not count here.
    if (call.api !== api) clearIdentity(call);
    call.skipsAuth = false;
    call.enforcedTimeout = undefined;
    call.sign = undefined;
    call.api = api;
    if (api.unavailableReason) return writeLocalReply(call, writer, refuse(call, 'api_unavailable'));
    const route = api.builtInRoutes === noBuiltInRoutes ? undefined : api.builtInRoutes.get(call.innerPath);
    if (route) return runBuiltInRoute(call, writer, route);
    const selection = api.onlyVersion ?? api.versionSelector.select(call);
    if (selection.kind === 'refused') return rejectVersion(call, writer, selection);
    if (selection.kind === 'other')
      return dispatchToVersion(call, selection.apiId, selection.isDefault, writer, current);
    if (call.headers.hasGatewayCredentials) removeGatewayCredentials(call.headers, api.isKeyHeader);
    if (api.forwardsOptions && call.method === 'OPTIONS') return forwardOptions(call, api, selection, writer, current);
    call.chain = selection.chain;
    runRequestPhase(call, api, selection, writer, current);
  }

  function forwardOptions(
    call: Exchange,
    api: Api,
    runtime: VersionRuntime,
    writer: ResponseWriter,
    current: Snapshot,
  ): void {
    Promise.try(() => runtime.optionsAccess?.(call)).then(
      refused =>
        refused ? writeLocalReply(call, writer, refused) : chooseUpstream(call, api, runtime, writer, current),
      error => handleError(call, writer, error),
    );
  }

  /** A built-in route: no chain, no upstream, and no analytics record, since its bodies carry credentials. */
  function runBuiltInRoute(call: Exchange, writer: ResponseWriter, route: BuiltInRoute): void {
    call.isRecorded = false;
    Promise.resolve(route(call, handle)).then(
      response => writeLocalReply(call, writer, response),
      error => handleError(call, writer, error),
    );
  }

  /** Another API serves this version: its whole chain runs, below the base's listen path. */
  function dispatchToVersion(
    call: Exchange,
    apiId: string,
    isDefault: boolean,
    writer: ResponseWriter,
    current: Snapshot,
  ): void {
    const child = onlyIfActive(current.apis.get(apiId));
    // A definition may name any id: only APIs of the same organisation are its versions.
    if (!child || child.orgId !== call.api!.orgId)
      return writeLocalReply(
        call,
        writer,
        refuse(call, isDefault ? 'version_default_unavailable' : 'version_api_unknown'),
      );
    if (++call.versionHops > maxLoops)
      return writeLocalReply(call, writer, refuse(call, 'loop_too_deep', { limit: maxLoops }));
    // The base strips its listen path; the child's was never in the path.
    call.pathWithoutVersion = call.innerPath;
    dispatchToApi(call, child, writer, current);
  }

  function countLoop(call: Exchange, writer: ResponseWriter): boolean {
    call.loopCount++;
    const limit = call.maxLoops || maxLoops;
    if (call.loopCount <= limit) return true;
    writeLocalReply(call, writer, refuse(call, 'loop_too_deep', { limit }));
    return false;
  }

  function rejectVersion(
    call: Exchange,
    writer: ResponseWriter,
    selection: Extract<VersionSelection, { kind: 'refused' }>,
  ): void {
    const { event, message } = refusals[call.errorCode as RefusalCode];
    if (event && !selection.isSilent)
      services.emitEvent(event, call, 'Attempted access to disallowed version / path.', { key: '', reason: message });
    writeLocalReply(call, writer, selection.response);
  }

  function runRequestPhase(
    call: Exchange,
    api: Api,
    runtime: VersionRuntime,
    writer: ResponseWriter,
    current: Snapshot,
  ): void {
    let outcome: ReturnType<typeof runRequestSteps>;
    try {
      outcome = runRequestSteps(runtime.chain, call);
    } catch (error) {
      return handleError(call, writer, error);
    }
    if (outcome instanceof Promise) {
      outcome.then(
        response =>
          response ? runResponsePhase(call, writer, response) : chooseUpstream(call, api, runtime, writer, current),
        error => handleError(call, writer, error),
      );
    } else if (outcome) runResponsePhase(call, writer, outcome);
    else chooseUpstream(call, api, runtime, writer, current);
  }

  function runResponsePhase(call: Exchange, writer: ResponseWriter, response: GatewayResponse): void {
    try {
      if (response.isGatewayError || response.skipsResponseSteps) return writeLocalReply(call, writer, response);
      addExtraHeaders(call, response);
      const pending = runResponseSteps(call.chain!, call, response);
      if (pending instanceof Promise)
        pending.then(() => writeWithCaptures(call, writer, response)).catch(error => failExchange(call, writer, error));
      else writeWithCaptures(call, writer, response);
    } catch (error) {
      failExchange(call, writer, error);
    }
  }

  function writeWithCaptures(call: Exchange, writer: ResponseWriter, response: GatewayResponse): void {
    const captures = collectBodyCaptures(call.chain!, call, response);
    writeResponse(call, writer, response);
    if (captures) deliverCaptures(captures, response.body.bytes ?? Buffer.alloc(0));
  }

  function handleError(call: Exchange, writer: ResponseWriter, error: unknown): void {
    const { code } = error as { code?: string };
    if (code === bodyProblem.too_large.code) return writeLocalReply(call, writer, bodyTooLargeResponse(call));
    if (code === bodyProblem.too_slow.code) return writeLocalReply(call, writer, refuse(call, 'body_too_slow'));
    const unavailable = toDatabaseProblem(error);
    if (unavailable) {
      // Fails closed: the key cannot be looked up. The response does not reveal where the database is.
      services.log.warn({ api: call.api?.id, reason: unavailable.message }, 'database unavailable, request refused');
      return writeLocalReply(call, writer, refuse(call, 'database_unavailable'));
    }
    if (error instanceof Problem && (error.status < 500 || error.status === 503)) {
      call.errorCode = error.code;
      return writeLocalReply(call, writer, refusalResponse(call, error.status, error.message));
    }
    services.log.error({ err: error, api: call.api?.id }, 'step failed');
    writeLocalReply(call, writer, refuse(call, 'internal'));
  }

  /** Error boundary outside the steps, also for promise callbacks; aborts a response that has begun. */
  function failExchange(call: Exchange, writer: ResponseWriter, error: unknown): void {
    if (!call.response) return handleError(call, writer, error);
    services.log.error({ err: error, api: call.api?.id }, 'response failed, connection aborted');
    writer.abort();
    finish(call, false);
  }

  function chooseUpstream(
    call: Exchange,
    api: Api,
    { fixedAddress: fixed, loadBalancer: target }: VersionRuntime,
    writer: ResponseWriter,
    current: Snapshot,
  ): void {
    let address: ReturnType<VersionRuntime['loadBalancer']['next']>;
    try {
      address = call.rewrittenTarget?.address ?? fixed ?? target.next();
    } catch (error) {
      return handleError(call, writer, error);
    }
    if (address instanceof Promise)
      address.then(
        chosen => proxy(call, api, chosen, writer, current),
        error => handleError(call, writer, error),
      );
    else proxy(call, api, address, writer, current);
  }

  function proxy(
    call: Exchange,
    api: Api,
    to: UpstreamAddress | undefined,
    writer: ResponseWriter,
    current: Snapshot,
  ): void {
    try {
      if (!to) writeLocalReply(call, writer, noHealthyHostResponse(call));
      else if (to.loop) loopToApi(call, to, writer, current);
      else {
        const sending = sendUpstream(call, api, to, writer, current.hasTenants ? api.orgId : '');
        if (sending) sending.catch(error => failExchange(call, writer, error));
      }
    } catch (error) {
      failExchange(call, writer, error);
    }
  }

  /** `gw://name/path`: another API of this gateway, or the same one again, without leaving the process. */
  function loopToApi(call: Exchange, address: UpstreamAddress, writer: ResponseWriter, current: Snapshot): void {
    const target = address.loop === 'self' ? (call.api as Api) : current.findByName(call.api!.orgId, address.loop);
    if (!target)
      return writeLocalReply(
        call,
        writer,
        refuse(call, call.rewrittenTarget?.address ? 'rewrite_loop_unknown' : 'loop_unknown'),
      );
    applyLoopControls(call, address.controls);
    if (!countLoop(call, writer)) return;
    call.innerPath = buildUpstreamPath(call, { ...address, query: '' }, true, false).split('?', 1)[0]!;
    call.path = target.listenPath.replace(/\/$/, '') + call.innerPath;
    call.isPathAmbiguous ||= matrixParameters === 'check' && hasMatrixParameters(call.path);
    call.listenPath = target.listenPath;
    call.pathWithoutVersion = '';
    call.rewrittenTarget = undefined;
    call.upstreamHost = '';
    dispatchToApi(call, target, writer, current);
  }

  /** Local reply: a response of the gateway itself, without the response steps. */
  function writeLocalReply(call: Exchange, writer: ResponseWriter, response: GatewayResponse): void {
    addExtraHeaders(call, response);
    writeResponse(call, writer, response);
  }

  function writeResponse(call: Exchange, writer: ResponseWriter, response: GatewayResponse): void {
    if (call.isClientDisconnected) return finish(call, false);
    if (response.isGatewayError) {
      applyMessageOverrides(call, response);
      findOverrides(call.api)?.overrideRefusal(call, response);
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
    finish(call, true);
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
    finish(call, true);
  }

  return { handle };
}

/** Retry-After of a request that found no upstream connection free. */
const busyRetrySeconds = 1;

function buildRefusal(call: Exchange, code: RefusalCode): GatewayResponse {
  if (code === 'body_too_large') return bodyTooLargeResponse(call);
  const refusal = refuse(call, code);
  if (code === 'upstream_busy') refusal.headers.append('Retry-After', String(busyRetrySeconds));
  return refusal;
}

function clearIdentity(call: Exchange): void {
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

/** Begins with a slash, also where listen paths match in the middle of a segment. */
function stripListenPath(path: string, listenPath: string): string {
  const rest = path.slice(listenPath.endsWith('/') ? listenPath.length - 1 : listenPath.length);
  return rest.startsWith('/') ? rest : `/${rest}`;
}

function addExtraHeaders(call: Exchange, response: GatewayResponse): void {
  if (call.extraResponseHeaders) response.headers.flat.push(...call.extraResponseHeaders);
}
