import { formatIsoTime } from '#base/clock.ts';
import { objectOrEmpty } from '#base/json-tree.ts';

/** Something that happened, with what is known of it under our own names. */
export interface Happened {
  readonly event: string;
  readonly atMs: number;
  /** Empty for what belongs to nobody but the installation. */
  readonly orgId: string;
  readonly apiId: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** What templates see. */
export interface EventObject {
  readonly Type: string;
  readonly Meta: Readonly<Record<string, unknown>>;
  readonly TimeStamp: string;
}

/** One kind of event: what its Meta holds besides message and request, and what is sent where no template says. */
interface Kind {
  meta(happened: Happened): Record<string, unknown>;
  body(happened: Happened): Record<string, unknown>;
  /** What a log line says behind the name of the event. */
  line(happened: Happened): string;
}

const words = (value: unknown): string => (value === undefined || value === null ? '' : String(value));
const of = ({ detail }: Happened, name: string): string => words(detail[name]);
const apiOf = (it: Happened) => it.apiId || of(it, 'api_id');
const named = (it: Happened) => ({ event: it.event, message: of(it, 'message') });

const call: Kind = {
  meta: it => ({ Path: of(it, 'path'), Origin: of(it, 'origin'), Key: of(it, 'key') }),
  body: it => ({ ...named(it), path: of(it, 'path'), origin: of(it, 'origin'), key: of(it, 'key') }),
  line: it => `:${of(it, 'key')}:${of(it, 'origin')}:${of(it, 'path')}`,
};

const version: Kind = { ...call, meta: it => ({ ...call.meta(it), Reason: of(it, 'reason') }) };

/** `CircuitEvent` is 0 for a breaker that tripped and 1 for one that was reset. */
const circuit = (it: Happened) => Number(it.detail.circuit_event ?? (it.event === 'BreakerReset' ? 1 : 0));
const breaker: Kind = {
  meta: it => ({ Path: of(it, 'path'), APIID: apiOf(it), CircuitEvent: circuit(it) }),
  body: it => ({ ...named(it), api_id: apiOf(it), path: of(it, 'path') }),
  line: it => `:${apiOf(it)}:${of(it, 'path')}: [STATUS] ${circuit(it)}`,
};
const anyBreaker: Kind = { ...breaker, body: it => ({ ...breaker.body(it), Status: String(circuit(it)) }) };

/** The detail is the `HostInfo` itself, under `host_info`. */
const host: Kind = {
  meta: it => ({ HostInfo: objectOrEmpty(it.detail.host_info) }),
  body(it) {
    const info = objectOrEmpty(it.detail.host_info);
    const { target_url, host_name, api_id } = objectOrEmpty(info.MetaData);
    return {
      ...named(it),
      url: words(info.CheckURL ?? target_url),
      response_code: words(info.ResponseCode),
      tcp_error: words(info.IsTCPError),
      host: words(host_name),
      api_id: apiOf(it) || words(api_id),
    };
  },
  line: it => `:${words(objectOrEmpty(it.detail.host_info).CheckURL)}`,
};

const trigger: Kind = {
  meta: it => ({
    OrgID: of(it, 'org_id'),
    Key: of(it, 'key'),
    TriggerLimit: it.detail.trigger_limit,
    UsagePercentage: it.detail.usage_percentage,
  }),
  body: it => ({
    ...named(it),
    org: of(it, 'org_id'),
    key: of(it, 'key'),
    trigger_limit: of(it, 'trigger_limit'),
  }),
  line: it => `:${of(it, 'key')}`,
};

const token: Kind = { ...call, meta: it => ({ Org: of(it, 'org_id') || it.orgId, Key: of(it, 'key') }) };

/** The details of certificates have the names that are sent. */
const certificate: Kind = {
  meta: ({ detail: { message: _message, ...detail } }) => ({ ...detail }),
  body: it => ({ ...named(it), ...certificate.meta(it), timestamp: formatIsoTime(it.atMs) }),
  line: it => `:${of(it, 'cert_id')}`,
};

/** Every event there is. */
export const eventKinds = {
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
} as const satisfies Readonly<Record<string, Kind>>;

export type EventName = keyof typeof eventKinds;
export const eventNames = Object.keys(eventKinds) as EventName[];

/** An event of a plugin's own making is told like one about a call. */
const kindOf = ({ event }: Happened): Kind =>
  Object.hasOwn(eventKinds, event) ? eventKinds[event as EventName] : call;

export const eventObject = (happened: Happened): EventObject => ({
  Type: happened.event,
  Meta: {
    Message: of(happened, 'message'),
    OriginatingRequest: of(happened, 'request'),
    ...kindOf(happened).meta(happened),
  },
  TimeStamp: formatIsoTime(happened.atMs),
});

export const defaultBody = (happened: Happened): string => JSON.stringify(kindOf(happened).body(happened));

export const logLine = (happened: Happened, prefix: string): string =>
  `${prefix}:${happened.event}${kindOf(happened).line(happened)}`;
