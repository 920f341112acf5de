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
  encoder.add({
    traceId: trace.traceId,
    spanId: trace.spanId,
    parentSpanId: parent === undefined ? '' : parent.spanId,
    isParentRemote: parent !== undefined,
    traceState: parent === undefined ? '' : parent.traceState,
    isSampled: trace.isSampled,
    name: formatServerName(call),
    kind: spanKinds.server,
    startMs: call.receivedAtMs,
    endMs: toEpochMs(call, end.endedAt),
    attributes: listServerAttributes(call, end, options),
    sharedAttributes: call.api && findApiAttributes(call.api),
    isError: end.status >= 500,
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
  const attributes: (string | number)[] = ['url.full', url];
  if (failed) attributes.push('http.request.resend_count', failed.length);
  if (status !== 0) attributes.push('http.response.status_code', status);
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

/** Attributes of an API; a change of its definition makes another object of it. */
const apiAttributes = new WeakMap<ApiInfo, AttributeGroup>();

function findApiAttributes(api: ApiInfo): AttributeGroup {
  const known = apiAttributes.get(api);
  if (known) return known;
  const list = ['http.route', api.listenPath, 'gw.api.id', api.id, 'gw.api.name', api.name, 'gw.org.id', api.orgId];
  const group = { list };
  apiAttributes.set(api, group);
  return group;
}

const describeMethod = (method: string): string[] =>
  knownMethods.has(method)
    ? ['http.request.method', method]
    : ['http.request.method', '_OTHER', 'http.request.method_original', truncate(method)];

function stripQueryOf(target: string): string {
  const at = target.indexOf('?');
  return at < 0 ? target : target.slice(0, at);
}

/** `{method} {route}`; the route is the listen path, of which there are few. */
function formatServerName({ receivedMethod, api }: Exchange): string {
  const method = knownMethods.has(receivedMethod) ? receivedMethod : 'HTTP';
  return api === undefined ? method : `${method} ${api.listenPath}`;
}

function listServerAttributes(call: Exchange, { status, refusal }: RequestEnd, options: SpanOptions): OtlpAttributes {
  const { target } = call;
  const list: (string | number)[] = knownMethods.has(call.receivedMethod)
    ? ['http.request.method', call.receivedMethod]
    : [...describeMethod(call.receivedMethod)];
  list.push('url.path', truncate(stripQueryOf(target)), 'url.scheme', call.peer.isTls ? 'https' : 'http');
  list.push('server.address', truncate(call.host), 'client.address', call.clientAddress);
  list.push('http.response.status_code', status);
  const agent = call.headers.get('user-agent');
  if (agent !== undefined) list.push('user_agent.original', truncate(agent));
  if (options.recordsQuery) {
    const query = readMaskedQuery(call, call.api && options.listCredentialParameters(call.api));
    if (query !== '') list.push('url.query', truncate(options.redact(query)));
  }
  if (call.versionName !== '') list.push('gw.api.version', truncate(call.versionName));
  if (refusal !== '') list.push('gw.refusal', refusal);
  if (status >= 500) list.push('error.type', refusal || String(status));
  return list;
}
