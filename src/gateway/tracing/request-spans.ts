import { BoundedMap } from '#base/bounded-map.ts';
import {
  type AttributeGroup,
  type OtlpAttributes,
  type OtlpSpan,
  type SpanEncoder,
  type SpanKind,
  spanKinds,
} from '#base/otlp/span.ts';
import { createSpanId } from '#base/otlp/trace-ids.ts';
import type { ApiInfo } from '../pipeline/api-info.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { readMaskedQuery } from '../pipeline/mask-query.ts';
import { formatUpstreamFailure } from '../pipeline/upstream-failure.ts';
import type { ActiveTrace } from './active-trace.ts';

export interface SpanOptions {
  /** Adds the query of requests, with credentials masked; other values may be personal. */
  readonly recordsQuery: boolean;
  /** Query parameters from which an API reads credentials. */
  readonly listCredentialParameters: (api: ApiInfo) => readonly string[];
  /** Redacts secrets of definitions: an upstream path may hold one. */
  readonly redact: (text: string) => string;
}

/** End of an exchange. */
export interface RequestEnd {
  /** Time of `performance.now()`. */
  readonly endedAt: number;
  readonly status: number;
  /** Refusal code; empty for a complete response. */
  readonly refusal: string;
}

/** Bound of a text from a client in an attribute. */
const maxTextCharacters = 1024;
const truncate = (text: string) => (text.length > maxTextCharacters ? text.slice(0, maxTextCharacters) : text);

/** Methods of RFC 9110 and PATCH; HTTP semantic conventions have `_OTHER` for the rest. */
const knownMethods: ReadonlySet<string> = new Set(
  'GET HEAD POST PUT DELETE CONNECT OPTIONS TRACE PATCH QUERY'.split(' '),
);

/** Writes the spans of one exchange: the server span, its steps, and a client span for each attempt. */
export function writeRequestSpans(
  encoder: SpanEncoder,
  options: SpanOptions,
  call: Exchange,
  trace: ActiveTrace,
  end: RequestEnd,
): void {
  const { parent, steps } = trace;
  const server = findServerAttributes(call);
  encoder.add({
    traceId: trace.traceId,
    spanId: trace.spanId,
    parentSpanId: parent === undefined ? '' : parent.spanId,
    isParentRemote: parent !== undefined,
    traceState: parent === undefined ? '' : parent.traceState,
    isSampled: trace.isSampled,
    name: server.name,
    kind: spanKinds.server,
    startMs: call.receivedAtMs,
    endMs: toEpochMs(call, end.endedAt),
    attributes: listServerAttributes(call, end, options),
    sharedAttributes: server,
    isError: isServerError(end),
    link: undefined,
  });
  if (steps)
    for (const { name, startedAt, endedAt } of steps)
      encoder.add(createChild(call, trace, { spanId: createSpanId(), name: `step ${name}`, startedAt, endedAt }));
  if (trace.attemptCount > 0) writeAttempts(encoder, options, call, trace, end);
}

const toEpochMs = ({ receivedAtMs, startedAt }: Exchange, at: number): number => receivedAtMs + (at - startedAt);

interface ChildSpan {
  readonly spanId: string;
  readonly name: string;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly kind?: SpanKind;
  readonly attributes?: OtlpAttributes;
  readonly sharedAttributes?: AttributeGroup;
  readonly isError?: boolean;
}

/** A span below the server span. */
const createChild = (call: Exchange, trace: ActiveTrace, child: ChildSpan): OtlpSpan => ({
  traceId: trace.traceId,
  spanId: child.spanId,
  parentSpanId: trace.spanId,
  isParentRemote: false,
  traceState: trace.parent === undefined ? '' : trace.parent.traceState,
  isSampled: trace.isSampled,
  name: child.name,
  kind: child.kind ?? spanKinds.internal,
  startMs: toEpochMs(call, child.startedAt),
  endMs: toEpochMs(call, child.endedAt),
  attributes: child.attributes ?? noAttributes,
  sharedAttributes: child.sharedAttributes,
  isError: child.isError ?? false,
  link: undefined,
});

const noAttributes: OtlpAttributes = [];

function writeAttempts(
  encoder: SpanEncoder,
  { redact }: SpanOptions,
  call: Exchange,
  trace: ActiveTrace,
  { endedAt, refusal }: RequestEnd,
): void {
  const { upstreamFailure } = call;
  const kind = spanKinds.client;
  const sharedAttributes = findTargetAttributes(trace, redact);
  const url = truncate(redact(trace.origin + stripQueryOf(trace.upstreamPath)));
  const failed = trace.failedAttempts;
  const name = knownMethods.has(trace.upstreamMethod) ? trace.upstreamMethod : 'HTTP';
  if (failed)
    for (const [at, { spanId, startedAt, endedAt: failedAt, reason }] of failed.entries()) {
      const attributes = ['url.full', url, 'error.type', reason, ...describeResend(at)];
      const times = { startedAt, endedAt: failedAt };
      encoder.add(
        createChild(call, trace, { spanId, name, kind, ...times, attributes, sharedAttributes, isError: true }),
      );
    }
  const { upstreamStatus: status } = trace;
  const failure = upstreamFailure?.reason ?? (status === 0 || isFailure(refusal) ? refusal || 'unknown' : '');
  const error = status >= 400 ? String(status) : failure;
  const attributes: (string | number)[] =
    status === 0 ? ['url.full', url] : ['url.full', url, 'http.response.status_code', status];
  if (failed) attributes.push('http.request.resend_count', failed.length);
  if (error !== '') attributes.push('error.type', error);
  if (upstreamFailure) attributes.push('gw.upstream_error', truncate(redact(formatUpstreamFailure(upstreamFailure))));
  encoder.add(
    createChild(call, trace, {
      spanId: trace.attemptSpanId,
      name,
      startedAt: trace.attemptStartedAt,
      endedAt,
      kind,
      attributes,
      sharedAttributes,
      isError: error !== '',
    }),
  );
}

/** The upstream response is incomplete. */
const isFailure = (refusal: string): boolean => refusal.startsWith('upstream_');

/** A response that breaks off is an error, whatever status its head had. */
const isServerError = ({ status, refusal }: Pick<RequestEnd, 'status' | 'refusal'>): boolean =>
  status >= 500 || isFailure(refusal);

const describeResend = (at: number): (string | number)[] => (at === 0 ? [] : ['http.request.resend_count', at]);

/** Attributes of an upstream by method and origin: a definition has few of them. */
const maxTargets = 1000;
const targetAttributes = new BoundedMap<string, AttributeGroup>(maxTargets);

function findTargetAttributes(
  { upstreamMethod, origin }: ActiveTrace,
  redact: (text: string) => string,
): AttributeGroup {
  const key = `${upstreamMethod} ${origin}`;
  const known = targetAttributes.get(key);
  if (known) return known;
  const { hostname, port, protocol } = new URL(origin);
  const number = Number(port) || (protocol === 'https:' ? 443 : 80);
  const list = [...describeMethod(upstreamMethod), 'server.address', redact(hostname), 'server.port', number];
  const group = { list };
  targetAttributes.set(key, group);
  return group;
}

/** Name and attributes that the server spans of an API share, by method. */
interface ServerAttributes extends AttributeGroup {
  readonly name: string;
}

interface ServerAttributesByMethod {
  readonly http: Map<string, ServerAttributes>;
  readonly https: Map<string, ServerAttributes>;
}

const createByMethod = (): ServerAttributesByMethod => ({ http: new Map(), https: new Map() });

/** A change of its definition makes another object of an API. */
const apiAttributes = new WeakMap<ApiInfo, ServerAttributesByMethod>();
const noApiAttributes = createByMethod();

function findServerAttributes({ api, receivedMethod, peer }: Exchange): ServerAttributes {
  let byMethod = api === undefined ? noApiAttributes : apiAttributes.get(api);
  if (byMethod === undefined) {
    byMethod = createByMethod();
    apiAttributes.set(api!, byMethod);
  }
  const scheme = peer.isTls ? 'https' : 'http';
  const known = byMethod[scheme].get(receivedMethod);
  if (known !== undefined) return known;
  const created = createServerAttributes(api, receivedMethod, scheme);
  // Clients choose other methods.
  if (knownMethods.has(receivedMethod)) byMethod[scheme].set(receivedMethod, created);
  return created;
}

/** The name is `{method} {route}`; the route is the listen path, of which there are few. */
function createServerAttributes(api: ApiInfo | undefined, receivedMethod: string, scheme: string): ServerAttributes {
  const method = knownMethods.has(receivedMethod) ? receivedMethod : 'HTTP';
  const list = [...describeMethod(receivedMethod), 'url.scheme', scheme];
  if (api === undefined) return { name: method, list };
  list.push('http.route', api.listenPath, 'gw.api.id', api.id, 'gw.api.name', api.name, 'gw.org.id', api.orgId);
  return { name: `${method} ${api.listenPath}`, list };
}

const describeMethod = (method: string): string[] =>
  knownMethods.has(method)
    ? ['http.request.method', method]
    : ['http.request.method', '_OTHER', 'http.request.method_original', truncate(method)];

function stripQueryOf(target: string): string {
  const at = target.indexOf('?');
  return at < 0 ? target : target.slice(0, at);
}

function listServerAttributes(call: Exchange, { status, refusal }: RequestEnd, options: SpanOptions): OtlpAttributes {
  // One literal: a list that grows is copied.
  const list: (string | number)[] = [
    'url.path',
    truncate(stripQueryOf(call.target)),
    'server.address',
    truncate(call.host),
    'client.address',
    call.clientAddress,
    'http.response.status_code',
    status,
  ];
  const agent = call.headers.get('user-agent');
  if (agent !== undefined) list.push('user_agent.original', truncate(agent));
  if (options.recordsQuery) {
    const query = readMaskedQuery(call, call.api && options.listCredentialParameters(call.api));
    if (query !== '') list.push('url.query', truncate(options.redact(query)));
  }
  if (call.versionName !== '') list.push('gw.api.version', truncate(call.versionName));
  if (refusal !== '') list.push('gw.refusal', refusal);
  if (isServerError({ status, refusal })) list.push('error.type', refusal || String(status));
  return list;
}
