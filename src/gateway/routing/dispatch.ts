import { attempt } from '#base/maybe-promise.ts';
import { readToolSource } from '#definition/rest-tools/tool-source.ts';
import type { DataGraph } from '../graphql/data-graph.ts';
import { hasMatrixParameters, stripMatrixParameters } from '../http/path.ts';
import { removeGatewayCredentials } from '../http/request-head.ts';
import type { GatewayResponse } from '../http/response.ts';
import { bodyTooLargeResponse, exceedsBodyLimit } from '../pipeline/body-limit.ts';
import type { BuiltInRoute } from '../pipeline/built-in-route.ts';
import { runRequestSteps } from '../pipeline/chain.ts';
import { createErrorMessageOverrides } from '../pipeline/error-message-overrides.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { applyLoopControls } from '../pipeline/loops.ts';
import { refusals, refuse, refuseAsText } from '../pipeline/refusals.ts';
import type { RefusalCode } from '../pipeline/refusals-table.ts';
import { failExchange, handleError, type Responder, respond, writeLocalReply } from '../pipeline/respond.ts';
import { createDiscardingWriter, type RequestHandler, type ResponseWriter } from '../pipeline/response-writer.ts';
import type { UpstreamAddress } from '../pipeline/upstream-address.ts';
import { formatUpstreamFailure, noTargetFailure } from '../pipeline/upstream-failure.ts';
import { buildUpstreamPath } from '../proxy/load-balancer.ts';
import type { UpstreamPools } from '../proxy/pools.ts';
import { chooseUpstream, createProxyContext, type ProxyContext, proxy } from '../proxy/proxy.ts';
import { createOverridesByApi } from '../steps/error-overrides/overrides.ts';
import { lazyContentSteps } from '../steps/lazy-steps.ts';
import type { StepServices } from '../steps/step-services.ts';
import type { Api } from './api.ts';
import { leaveApi, stripListenPath } from './api-change.ts';
import { noBuiltInRoutes } from './built-in-routes.ts';
import { executeGraphCall } from './data-graph/graph-response.ts';
import type { RespondWithTools } from './rest-tools/adapter.ts';
import { loadToolAdapter } from './rest-tools/lazy-adapter.ts';
import type { RouteMatch, Router } from './router.ts';
import { findApiById, onlyIfActive, type Snapshot } from './snapshot.ts';
import type { VersionRuntime, VersionSelection } from './versions.ts';

export interface DispatcherOptions {
  readonly snapshot: () => Snapshot;
  readonly services: StepServices;
  readonly pools: UpstreamPools;
  readonly record: Responder['record'];
  readonly onUpstreamFailure?: Responder['onUpstreamFailure'];
}

/** Services and bounds of a thread for dispatching; created once. */
interface DispatchContext {
  readonly snapshot: () => Snapshot;
  readonly responder: Responder;
  readonly proxyContext: ProxyContext;
  readonly emitEvent: StepServices['emitEvent'];
  /** 0: no bound. */
  readonly maxBodyBytes: number;
  readonly maxLoops: number;
  readonly matrixParameters: 'pass' | 'check' | 'refuse';
  readonly allowsIdPaths: boolean;
  readonly respondWithTools: RespondWithTools;
  /** Dispatches requests that built-in routes make. */
  readonly handle: RequestHandler['handle'];
  /** Without records, for requests of the gateway itself. */
  readonly unrecorded?: DispatchContext;
}

/** A request to one version of an API, until the upstream or another API has it; one object per pass. */
interface Forwarding {
  readonly context: DispatchContext;
  readonly call: Exchange;
  readonly api: Api;
  readonly runtime: VersionRuntime;
  readonly writer: ResponseWriter;
  readonly current: Snapshot;
}

/**
 * Request dispatch: route, built-in route or version, request steps, then the upstream or a loop to another API.
 * `pipeline/respond.ts` writes every response, `proxy/proxy.ts` sends to the upstream.
 */
export const createDispatcher = (options: DispatcherOptions): RequestHandler =>
  createContext(options, createContext({ ...options, record: () => undefined }));

function createContext(options: DispatcherOptions, unrecorded?: DispatchContext): DispatchContext {
  const { snapshot, services, pools } = options;
  const { settings, emitEvent } = services;
  const responder = createResponder(options);
  let respondWithTools: RespondWithTools | undefined;
  const context: DispatchContext = {
    snapshot,
    responder,
    proxyContext: createProxyContext(settings, pools, responder),
    emitEvent,
    maxBodyBytes: settings['gateway.max_request_body_bytes'],
    maxLoops: settings['gateway.max_loops'],
    matrixParameters: settings['gateway.path_parameters'],
    allowsIdPaths: settings['gateway.api_id_paths'],
    respondWithTools: caller => {
      respondWithTools ??= loadToolAdapter().createToolAdapter(services);
      return respondWithTools(caller);
    },
    handle: (call, writer) => dispatch(context, call, writer),
    ...(unrecorded && { unrecorded }),
  };
  return context;
}

function createResponder({ services, record, onUpstreamFailure }: DispatcherOptions): Responder {
  const applyMessageOverrides = createErrorMessageOverrides(services.settings);
  const findOverrides = createOverridesByApi(services);
  return {
    log: services.log,
    record,
    onUpstreamFailure,
    overrideRefusal(call, response) {
      applyMessageOverrides(call, response);
      findOverrides(call.api)?.overrideRefusal(call, response);
    },
  };
}

/** Error boundary: a throw that no step accounts for fails its call, never the thread. */
function dispatch(context: DispatchContext, call: Exchange, writer: ResponseWriter): void {
  try {
    routeRequest(context, call, writer);
  } catch (error) {
    failExchange(context.responder, call, writer, error);
  }
}

function routeRequest(context: DispatchContext, call: Exchange, writer: ResponseWriter): void {
  const { responder, maxBodyBytes, matrixParameters } = context;
  if (maxBodyBytes > 0 && exceedsBodyLimit(call, maxBodyBytes))
    return writeLocalReply(responder, call, writer, bodyTooLargeResponse(call));
  const current = context.snapshot();
  const router = call.peer.port ? current.ports.get(call.peer.port) : current.router;
  const match =
    router?.find(call.host, call.path, current.guard) ??
    (context.allowsIdPaths ? findApiById(current, call) : undefined);
  if (!match || (call.restrictedToApiId !== '' && match.value.id !== call.restrictedToApiId))
    return writeLocalReply(responder, call, writer, refuseAsText(call, 'route_unknown'));
  if (matrixParameters !== 'pass' && hasMatrixParameters(call.path)) {
    if (matrixParameters === 'refuse' || isMatchedByParameters(call, match, router, current))
      return writeLocalReply(responder, call, writer, refuse(call, 'path_ambiguous'));
    call.isPathAmbiguous = true;
  }
  call.listenPath = match.listenPath;
  call.innerPath = stripListenPath(call.path, match.listenPath);
  call.pathParameters = match.parameters;
  dispatchToApi(context, call, match.value, writer, current);
}

/** True when the path without its matrix parameters belongs to another API. */
function isMatchedByParameters(
  call: Exchange,
  match: RouteMatch<Api>,
  router: Router<Api> | undefined,
  { guard }: Snapshot,
): boolean {
  const withoutParameters = router?.find(call.host, stripMatrixParameters(call.path), guard);
  return withoutParameters !== undefined && withoutParameters.value !== match.value;
}

function dispatchToApi(
  context: DispatchContext,
  call: Exchange,
  api: Api,
  writer: ResponseWriter,
  current: Snapshot,
): void {
  // Identity is per API: one that another API established does not count here.
  if (call.api !== api) leaveApi(call);
  call.skipsAuth = false;
  call.enforcedTimeout = undefined;
  call.sign = undefined;
  call.api = api;
  if (api.unavailableReason) return writeLocalReply(context.responder, call, writer, refuse(call, 'api_unavailable'));
  const route = api.builtInRoutes === noBuiltInRoutes ? undefined : api.builtInRoutes.get(call.innerPath);
  if (route) return runBuiltInRoute(context, call, writer, route);
  const selection = api.onlyVersion ?? api.versionSelector.select(call);
  if (selection.kind === 'refused') return rejectVersion(context, call, writer, selection);
  if (selection.kind === 'other')
    return dispatchToVersion(context, call, selection.apiId, selection.isDefault, writer, current);
  if (call.headers.hasGatewayCredentials) removeGatewayCredentials(call.headers, api.isKeyHeader);
  const forwarding: Forwarding = { context, call, api, runtime: selection, writer, current };
  if (api.forwardsOptions && call.method === 'OPTIONS')
    return attempt(forwarding, runOptionsAccess, continueOptions, failForwarding);
  call.chain = selection.chain;
  attempt(forwarding, runRequestPhase, continueRequest, failForwarding);
}

/** A built-in route: no chain, no upstream, and no analytics record, since its bodies carry credentials. */
function runBuiltInRoute(
  { responder, handle }: DispatchContext,
  call: Exchange,
  writer: ResponseWriter,
  route: BuiltInRoute,
): void {
  call.isRecorded = false;
  Promise.resolve(route(call, handle)).then(
    response => writeLocalReply(responder, call, writer, response),
    error => handleError(responder, call, writer, error),
  );
}

/** Another API serves this version: its whole chain runs, below the base's listen path. */
function dispatchToVersion(
  context: DispatchContext,
  call: Exchange,
  apiId: string,
  isDefault: boolean,
  writer: ResponseWriter,
  current: Snapshot,
): void {
  const { responder, maxLoops } = context;
  const child = onlyIfActive(current.apis.get(apiId));
  // A definition may name any id: only APIs of the same organisation are its versions.
  if (!child || child.orgId !== call.api!.orgId) {
    const code = isDefault ? 'version_default_unavailable' : 'version_api_unknown';
    return writeLocalReply(responder, call, writer, refuse(call, code));
  }
  if (++call.versionHops > maxLoops)
    return writeLocalReply(responder, call, writer, refuse(call, 'loop_too_deep', { limit: maxLoops }));
  // The base strips its listen path; the child's was never in the path.
  call.pathWithoutVersion = call.innerPath;
  dispatchToApi(context, call, child, writer, current);
}

function rejectVersion(
  { responder, emitEvent }: DispatchContext,
  call: Exchange,
  writer: ResponseWriter,
  selection: Extract<VersionSelection, { kind: 'refused' }>,
): void {
  const { event, message } = refusals[call.errorCode as RefusalCode];
  if (event && !selection.isSilent)
    emitEvent(event, call, 'Attempted access to disallowed version / path.', { key: '', reason: message });
  writeLocalReply(responder, call, writer, selection.response);
}

/** OPTIONS requests for the upstream pass access checks only. */
const runOptionsAccess = ({ call, runtime }: Forwarding) => runtime.optionsAccess?.(call);

function continueOptions(forwarding: Forwarding, refused: GatewayResponse | undefined): void {
  const { context, call, writer } = forwarding;
  if (refused) writeLocalReply(context.responder, call, writer, refused);
  else forward(forwarding);
}

const runRequestPhase = ({ call, runtime }: Forwarding) => runRequestSteps(runtime.chain, call);

function continueRequest(forwarding: Forwarding, response: GatewayResponse | undefined): void {
  const { context, call, writer } = forwarding;
  if (!response) return forward(forwarding);
  respond(context.responder, call, writer, response);
  if (call.background && context.unrecorded) sendInBackground(forwarding, call.background, context.unrecorded);
}

/** Sends a request that the cache made for itself; its response reaches no client. */
function sendInBackground(forwarding: Forwarding, call: Exchange, context: DispatchContext): void {
  const background: Forwarding = { ...forwarding, context, call, writer: createDiscardingWriter() };
  attempt(background, runStepsAfterCache, continueRequest, failForwarding);
}

/** The request steps that the stored response skipped: request signing, timeout, circuit breaker. */
const runStepsAfterCache = ({ call, runtime: { chain } }: Forwarding) =>
  runRequestSteps(chain, call, chain.names.request.indexOf(lazyContentSteps.cache.name) + 1);

/** Forwards to the upstream that the load balancer chooses, or executes the operation of a data graph. Never throws. */
const forward = (forwarding: Forwarding): void =>
  forwarding.api.dataGraph
    ? executeGraph(forwarding, forwarding.api.dataGraph)
    : attempt(forwarding, selectUpstream, forwardTo, failForwarding);

/** Requests to other APIs of the gateway are recorded there; those to other servers are parts of this one. */
function executeGraph({ context, call, api, writer, current }: Forwarding, graph: DataGraph): void {
  const { unrecorded = context } = context;
  const dispatchToSource = (own: Exchange, to: UpstreamAddress, into: ResponseWriter): void => {
    try {
      if (to.loop) return loopToApi(context, own, to, into, current);
      const sending = proxy(unrecorded.proxyContext, own, api, to, into, current.hasTenants ? api.orgId : '');
      if (sending) catchFailure(sending, unrecorded.responder, own, into);
    } catch (error) {
      failExchange(unrecorded.responder, own, into, error);
    }
  };
  const { maxBufferedBytes: maxSourceBytes } = context.proxyContext;
  executeGraphCall({ whole: call, graph, maxSourceBytes, dispatch: dispatchToSource }, writer, context.proxyContext);
}

const selectUpstream = ({ call, runtime }: Forwarding) => chooseUpstream(call, runtime);

function forwardTo({ context, call, api, writer, current }: Forwarding, to: UpstreamAddress | undefined): void {
  const { responder } = context;
  try {
    if (!to) return refuseWithoutTarget(responder, call, writer);
    if (to.loop) return loopTo(context, call, to, writer, current);
    const sending = proxy(context.proxyContext, call, api, to, writer, current.hasTenants ? api.orgId : '');
    if (sending) catchFailure(sending, responder, call, writer);
  } catch (error) {
    failExchange(responder, call, writer, error);
  }
}

function refuseWithoutTarget(responder: Responder, call: Exchange, writer: ResponseWriter): void {
  call.upstreamFailure = noTargetFailure;
  responder.onUpstreamFailure?.(call, 'upstream_hosts_down', formatUpstreamFailure(noTargetFailure));
  writeLocalReply(responder, call, writer, refuseAsText(call, 'upstream_hosts_down'));
}

function catchFailure(sending: Promise<void>, responder: Responder, call: Exchange, writer: ResponseWriter): void {
  sending.catch(error => failExchange(responder, call, writer, error));
}

function failForwarding({ context, call, writer }: Forwarding, error: unknown): void {
  handleError(context.responder, call, writer, error);
}

/** A loop of an MCP proxy may name a REST API whose operations are its tools. */
function loopTo(
  context: DispatchContext,
  call: Exchange,
  address: UpstreamAddress,
  writer: ResponseWriter,
  current: Snapshot,
): void {
  const source = call.api!.model.mcp === null ? '' : readToolSource(address);
  if (source === '') return loopToApi(context, call, address, writer, current);
  respondWithTools(context, call, current.findByName(call.api!.orgId, source), writer, current);
}

function respondWithTools(
  context: DispatchContext,
  call: Exchange,
  source: Api | undefined,
  writer: ResponseWriter,
  current: Snapshot,
): void {
  const { responder } = context;
  const limit = call.maxLoops || context.maxLoops;
  if (source?.model.format !== 'oas') return writeLocalReply(responder, call, writer, refuse(call, 'loop_unknown'));
  if (call.loopCount >= limit)
    return writeLocalReply(responder, call, writer, refuse(call, 'loop_too_deep', { limit }));
  if (source.unavailableReason !== '') return writeLocalReply(responder, call, writer, refuse(call, 'api_unavailable'));
  const dispatchToSource = (own: Exchange, into: ResponseWriter): void => {
    try {
      dispatchToApi(context, own, source, into, current);
    } catch (error) {
      failExchange(responder, own, into, error);
    }
  };
  context.respondWithTools({ whole: call, source, dispatch: dispatchToSource }).then(
    response => respond(responder, call, writer, response),
    error => handleError(responder, call, writer, error),
  );
}

/** `gw://name/path`: another API of this gateway, or the same one again, without leaving the process. */
function loopToApi(
  context: DispatchContext,
  call: Exchange,
  address: UpstreamAddress,
  writer: ResponseWriter,
  current: Snapshot,
): void {
  const { responder, matrixParameters } = context;
  const target = address.loop === 'self' ? (call.api as Api) : current.findByName(call.api!.orgId, address.loop);
  if (!target) {
    const code = call.rewrittenTarget?.address ? 'rewrite_loop_unknown' : 'loop_unknown';
    return writeLocalReply(responder, call, writer, refuse(call, code));
  }
  applyLoopControls(call, address.controls);
  const limit = call.maxLoops || context.maxLoops;
  if (++call.loopCount > limit)
    return writeLocalReply(responder, call, writer, refuse(call, 'loop_too_deep', { limit }));
  call.innerPath = buildUpstreamPath(call, { ...address, query: '' }, true, false).split('?', 1)[0]!;
  call.path = target.listenPath.replace(/\/$/, '') + call.innerPath;
  call.isPathAmbiguous ||= matrixParameters === 'check' && hasMatrixParameters(call.path);
  call.listenPath = target.listenPath;
  call.pathWithoutVersion = '';
  call.rewrittenTarget = undefined;
  call.upstreamHost = '';
  dispatchToApi(context, call, target, writer, current);
}
