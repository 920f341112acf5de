import { formatIsoTime } from '#base/clock.ts';
import { objectOrEmpty } from '#base/json-tree.ts';
import type { SpanLink } from '#base/otlp/span.ts';

/** Gateway event with its details under our own names. */
export interface GatewayEvent {
  readonly event: string;
  readonly atMs: number;
  /** Empty for an event of the installation. */
  readonly orgId: string;
  readonly apiId: string;
  readonly detail: Readonly<Record<string, unknown>>;
  /** Sampled span of the request that caused it. */
  readonly cause?: SpanLink | undefined;
}

/** Data of body templates. */
export interface TemplateData {
  readonly Type: string;
  readonly Meta: Readonly<Record<string, unknown>>;
  readonly TimeStamp: string;
}

/** Rendering of one kind of event: its template data besides message and request, and its default body. */
interface EventKind {
  meta(gatewayEvent: GatewayEvent): Record<string, unknown>;
  body(gatewayEvent: GatewayEvent): Record<string, unknown>;
  /** Suffix of the log line. */
  line(gatewayEvent: GatewayEvent): string;
}

const toText = (value: unknown): string => (value === undefined || value === null ? '' : String(value));
const detailText = ({ detail }: GatewayEvent, name: string): string => toText(detail[name]);
const apiIdOf = (it: GatewayEvent) => it.apiId || detailText(it, 'api_id');
const toNameAndMessage = (it: GatewayEvent) => ({ event: it.event, message: detailText(it, 'message') });

const call: EventKind = {
  meta: it => ({ Path: detailText(it, 'path'), Origin: detailText(it, 'origin'), Key: detailText(it, 'key') }),
  body: it => ({
    ...toNameAndMessage(it),
    path: detailText(it, 'path'),
    origin: detailText(it, 'origin'),
    key: detailText(it, 'key'),
  }),
  line: it => `:${detailText(it, 'key')}:${detailText(it, 'origin')}:${detailText(it, 'path')}`,
};

const version: EventKind = { ...call, meta: it => ({ ...call.meta(it), Reason: detailText(it, 'reason') }) };

/** `CircuitEvent` is 0 for a breaker that tripped and 1 for one that was reset. */
const toCircuitState = (it: GatewayEvent) => Number(it.detail.circuit_event ?? (it.event === 'BreakerReset' ? 1 : 0));
const breaker: EventKind = {
  meta: it => ({ Path: detailText(it, 'path'), APIID: apiIdOf(it), CircuitEvent: toCircuitState(it) }),
  body: it => ({ ...toNameAndMessage(it), api_id: apiIdOf(it), path: detailText(it, 'path') }),
  line: it => `:${apiIdOf(it)}:${detailText(it, 'path')}: [STATUS] ${toCircuitState(it)}`,
};
const anyBreaker: EventKind = { ...breaker, body: it => ({ ...breaker.body(it), Status: String(toCircuitState(it)) }) };

/** `HostInfo` is in the detail, under `host_info`. */
const host: EventKind = {
  meta: it => ({ HostInfo: objectOrEmpty(it.detail.host_info) }),
  body(it) {
    const info = objectOrEmpty(it.detail.host_info);
    const { target_url, host_name, api_id } = objectOrEmpty(info.MetaData);
    return {
      ...toNameAndMessage(it),
      url: toText(info.CheckURL ?? target_url),
      response_code: toText(info.ResponseCode),
      tcp_error: toText(info.IsTCPError),
      host: toText(host_name),
      api_id: apiIdOf(it) || toText(api_id),
    };
  },
  line: it => `:${toText(objectOrEmpty(it.detail.host_info).CheckURL)}`,
};

const trigger: EventKind = {
  meta: it => ({
    OrgID: detailText(it, 'org_id'),
    Key: detailText(it, 'key'),
    TriggerLimit: it.detail.trigger_limit,
    UsagePercentage: it.detail.usage_percentage,
  }),
  body: it => ({
    ...toNameAndMessage(it),
    org: detailText(it, 'org_id'),
    key: detailText(it, 'key'),
    trigger_limit: detailText(it, 'trigger_limit'),
  }),
  line: it => `:${detailText(it, 'key')}`,
};

const token: EventKind = {
  ...call,
  meta: it => ({ Org: detailText(it, 'org_id') || it.orgId, Key: detailText(it, 'key') }),
};

/** Certificate details already have their wire names. */
const certificate: EventKind = {
  meta: ({ detail: { message: _message, ...detail } }) => ({ ...detail }),
  body: it => ({ ...toNameAndMessage(it), ...certificate.meta(it), timestamp: formatIsoTime(it.atMs) }),
  line: it => `:${detailText(it, 'cert_id')}`,
};

/** Every event with its kind. */
const eventKinds = {
  AuthFailure: call,
  KeyExpired: call,
  VersionFailure: version,
  RatelimitExceeded: call,
  QuotaExceeded: call,
  OrgRateLimitExceeded: call,
  OrgQuotaExceeded: call,
  RateLimitSmoothingUp: call,
  RateLimitSmoothingDown: call,
  TriggerExceeded: trigger,
  BreakerTriggered: anyBreaker,
  BreakerTripped: breaker,
  BreakerReset: breaker,
  HostDown: host,
  HostUp: host,
  TokenCreated: token,
  TokenUpdated: token,
  TokenDeleted: token,
  CertificateExpiringSoon: certificate,
  CertificateExpired: certificate,
  UpstreamOAuthError: call,
  OAuth2ScopeCheckFailed: call,
  OAuth2ExchangeSucceeded: call,
  OAuth2ExchangeFailed: call,
} as const satisfies Readonly<Record<string, EventKind>>;

export type EventName = keyof typeof eventKinds;
export const eventNames = Object.keys(eventKinds) as EventName[];

/** A plugin's custom event renders like a request event. */
const eventKindOf = ({ event }: GatewayEvent): EventKind =>
  Object.hasOwn(eventKinds, event) ? eventKinds[event as EventName] : call;

export const toTemplateData = (gatewayEvent: GatewayEvent): TemplateData => ({
  Type: gatewayEvent.event,
  Meta: {
    Message: detailText(gatewayEvent, 'message'),
    OriginatingRequest: detailText(gatewayEvent, 'request'),
    ...eventKindOf(gatewayEvent).meta(gatewayEvent),
  },
  TimeStamp: formatIsoTime(gatewayEvent.atMs),
});

export const formatDefaultBody = (gatewayEvent: GatewayEvent): string =>
  JSON.stringify(eventKindOf(gatewayEvent).body(gatewayEvent));

export const formatLogLine = (gatewayEvent: GatewayEvent, prefix: string): string =>
  `${prefix}:${gatewayEvent.event}${eventKindOf(gatewayEvent).line(gatewayEvent)}`;
