import { isObject } from '#base/json-tree.ts';
import { Lru } from '#base/lru.ts';
import { methodPathPrefix, primitivePathPrefixes } from '#definition/mcp-names.ts';
import { metadataNames } from './metadata-names.ts';
import { type AccessRight, type AllowedUrl, type ApiLimit, type Key, limitIsSet, type Smoothing } from './schema.ts';

/** Compiled key: policies applied, limits resolved per API. */

export interface ActiveSmoothing {
  readonly threshold: number;
  readonly step: number;
  readonly delaySeconds: number;
  readonly trigger: number;
}

export interface RateLimit {
  readonly rate: number;
  readonly perSeconds: number;
  readonly smoothing: ActiveSmoothing | undefined;
}

/** Undefined means unlimited. */
export interface KeyLimits {
  readonly rate: RateLimit | undefined;
  readonly throttle: { readonly retries: number; readonly intervalSeconds: number } | undefined;
  /** A quota without a renewal period stays used up. */
  readonly quota: { readonly max: number; readonly renewalSeconds: number | undefined } | undefined;
  readonly queryDepth: number | undefined;
}

export interface EndpointRate {
  readonly path: string;
  readonly method: string;
  readonly rate: RateLimit;
}

export interface FieldDepth {
  readonly typeName: string;
  readonly fieldName: string;
  readonly queryDepth: number | undefined;
}

/** Compiled access right of one API. */
export interface Right {
  readonly versions: readonly string[];
  /** Empty allows every path. */
  readonly allowedUrls: readonly { readonly url: string; readonly methods: readonly string[] }[];
  /** Effective limits: those of the right if set, else those of the key. */
  readonly limits: KeyLimits;
  /** Counter scope; APIs with an empty scope share the counters of the key. */
  readonly scope: string;
  readonly endpoints: readonly EndpointRate[];
  /** Empty allows every type; if set, restrictedTypes is empty. */
  readonly allowedTypes: readonly { readonly name: string; readonly fields: readonly string[] }[];
  readonly restrictedTypes: readonly { readonly name: string; readonly fields: readonly string[] }[];
  readonly fieldDepths: readonly FieldDepth[];
  readonly introspection: boolean;
  /** The right in wire form, for members only some steps read. */
  readonly written: AccessRight;
}

export interface Session {
  readonly orgId: string;
  readonly alias: string;
  readonly inactive: boolean;
  /** Unix seconds; undefined is never. */
  readonly expires: number | undefined;
  readonly limits: KeyLimits;
  readonly rights: ReadonlyMap<string, Right>;
  /** Right to every API of a key without access rights; undefined otherwise. */
  readonly everyApi: Right | undefined;
  readonly policyIds: readonly string[];
  readonly tags: readonly string[];
  readonly metaData: Readonly<Record<string, unknown>>;
  /** Template whose value replaces the key as counter owner. */
  readonly counterPattern: string | undefined;
  readonly lastUpdated: string;
  readonly detailedRecording: boolean;
  readonly password: { readonly hash: string; readonly hashType: string } | undefined;
  readonly hmacSecret: string | undefined;
  readonly signatureCertificate: string | undefined;
  readonly jwtSecret: string | undefined;
  readonly certificate: string | undefined;
  readonly boundCertificates: readonly string[];
  readonly oauthClientId: string | undefined;
  /** Unix seconds until which a custom auth plugin is not called again. */
  readonly pluginDeadline: number;
  readonly quotaAlertPercents: readonly number[];
  readonly lifetimeSeconds: number | undefined;
  readonly afterExpiry: { readonly action: 'retain' | 'delete'; readonly graceSeconds: number } | undefined;
}

export function smoothingOf(smoothing: Smoothing | null | undefined): ActiveSmoothing | undefined {
  if (!smoothing?.enabled || !smoothing.threshold || !smoothing.step || !smoothing.delay) return undefined;
  return {
    threshold: smoothing.threshold,
    step: smoothing.step,
    delaySeconds: smoothing.delay,
    trigger: smoothing.trigger ?? 0,
  };
}

type RateMembers = Pick<ApiLimit, 'rate' | 'per' | 'smoothing'>;

function rateOf({ rate = 0, per = 0, smoothing }: RateMembers): RateLimit | undefined {
  return rate > 0 && per > 0 ? { rate, perSeconds: per, smoothing: smoothingOf(smoothing) } : undefined;
}

const positive = (value: number | undefined) => (value !== undefined && value > 0 ? value : undefined);
const nonEmpty = (value: string | undefined) => value || undefined;

function limitsOf(limit: ApiLimit | Key): KeyLimits {
  const retries = positive(limit.throttle_retry_limit);
  const max = positive(limit.quota_max);
  return {
    rate: rateOf(limit),
    throttle: retries ? { retries, intervalSeconds: Math.max(limit.throttle_interval ?? 0, 0) } : undefined,
    quota: max ? { max, renewalSeconds: positive(limit.quota_renewal_rate) } : undefined,
    queryDepth: positive(limit.max_query_depth),
  };
}

/** Limits of the right win; without smoothing of its own its rate inherits that of the key. */
function limitsOfRight(limit: ApiLimit | null | undefined, ofKey: KeyLimits): KeyLimits {
  if (!limitIsSet(limit)) return ofKey;
  const own = limitsOf(limit);
  if (!own.rate || own.rate.smoothing) return own;
  return { ...own, rate: { ...own.rate, smoothing: ofKey.rate?.smoothing } };
}

/** Fail closed: an entry without URL or methods matches nothing. Dropping the last one would allow every path. */
const urlOf = ({ url, methods }: AllowedUrl) => ({
  url: url ?? '',
  methods: url === undefined ? [] : (methods ?? []),
});

/** Limits of endpoints; those of JSON-RPC methods and primitives of MCP proxies stand at their virtual paths. */
const endpointRates = (right: AccessRight): EndpointRate[] => [...httpRates(right), ...virtualRates(right)];

function virtualRates({ json_rpc_methods, mcp_primitives }: AccessRight): EndpointRate[] {
  const methods = (json_rpc_methods ?? []).map(({ name, limit }) => ({ prefix: methodPathPrefix, name, limit }));
  const primitives = (mcp_primitives ?? []).flatMap(({ type, name, limit }) =>
    type ? [{ prefix: primitivePathPrefixes[type], name, limit }] : [],
  );
  return [...methods, ...primitives].flatMap(({ prefix, name, limit }) => {
    const rate = name ? rateOf(limit ?? {}) : undefined;
    return rate ? [{ path: prefix + name?.normalize('NFC'), method: 'POST', rate }] : [];
  });
}

function httpRates(right: AccessRight): EndpointRate[] {
  return (right.endpoints ?? []).flatMap(({ path = '', methods }) =>
    (methods ?? []).flatMap(({ name = '', limit }) => {
      const rate = rateOf(limit ?? {});
      return rate ? [{ path, method: name, rate }] : [];
    }),
  );
}

function rightOf(right: AccessRight, ofKey: KeyLimits): Right {
  const allowed = (right.allowed_types ?? []).map(({ name = '', fields }) => ({ name, fields: fields ?? [] }));
  const restricted = (right.restricted_types ?? []).map(({ name = '', fields }) => ({ name, fields: fields ?? [] }));
  return {
    versions: right.versions ?? [],
    allowedUrls: (right.allowed_urls ?? []).map(urlOf),
    limits: limitsOfRight(right.limit, ofKey),
    scope: right.allowance_scope ?? '',
    endpoints: endpointRates(right),
    allowedTypes: allowed,
    restrictedTypes: allowed.length > 0 ? [] : restricted,
    fieldDepths: (right.field_access_rights ?? []).map(({ type_name = '', field_name = '', limits }) => ({
      typeName: type_name,
      fieldName: field_name,
      queryDepth: positive(limits?.max_query_depth),
    })),
    introspection: right.disable_introspection !== true,
    written: right,
  };
}

const isSigning = (key: Key) => key.hmac_enabled === true || key.enable_http_signature_validation === true;
const none: readonly never[] = [];

type SharedRights = Pick<Session, 'limits' | 'rights' | 'everyApi'>;

/** Interned rights: keys of one policy share one compiled object. Bounded in number and in text length. */
const maxSharedRights = 1000;
const maxSharedRightsLength = 10_000;
const sharedRights = new Lru<string, SharedRights>(maxSharedRights);

function compileRights(key: Key): SharedRights {
  const limits = limitsOf(key);
  const text = JSON.stringify([limits, key.access_rights]);
  const shared = sharedRights.get(text);
  if (shared) return shared;
  const rights = new Map(Object.entries(key.access_rights ?? {}).map(([id, right]) => [id, rightOf(right, limits)]));
  const allowed = { limits, rights, everyApi: rights.size === 0 ? rightOf({}, limits) : undefined };
  if (text.length <= maxSharedRightsLength) sharedRights.set(text, allowed);
  return allowed;
}

/** Compiles a key whose policies have been applied. */
export function compileKeySession(key: Key, policyIds: readonly string[] = []): Session {
  const { limits, rights, everyApi } = compileRights(key);
  const metaData = isObject(key.meta_data) ? key.meta_data : {};
  const pattern = metaData[metadataNames.counterPattern];
  const { password, hash_type } = key.basic_auth_data ?? {};
  // One literal, hot members first: sessions are many, and their members should share cache lines.
  return {
    inactive: key.is_inactive === true,
    expires: positive(key.expires),
    rights,
    everyApi,
    password: password ? { hash: password, hashType: hash_type ?? '' } : undefined,
    certificate: nonEmpty(key.certificate),
    boundCertificates: key.mtls_static_certificate_bindings ?? none,
    counterPattern: typeof pattern === 'string' ? nonEmpty(pattern) : undefined,
    lifetimeSeconds: positive(key.session_lifetime),
    afterExpiry: key.post_expiry_action
      ? { action: key.post_expiry_action, graceSeconds: key.post_expiry_grace_period ?? 0 }
      : undefined,
    orgId: key.org_id ?? '',
    alias: key.alias ?? '',
    oauthClientId: nonEmpty(key.oauth_client_id),
    detailedRecording: key.enable_detailed_recording === true || key.enable_detail_recording === true,
    limits,
    policyIds,
    tags: key.tags ?? none,
    metaData,
    lastUpdated: key.last_updated ?? '',
    hmacSecret: isSigning(key) ? nonEmpty(key.hmac_string) : undefined,
    signatureCertificate: key.enable_http_signature_validation ? nonEmpty(key.rsa_certificate_id) : undefined,
    jwtSecret: nonEmpty(key.jwt_data?.secret),
    pluginDeadline: key.id_extractor_deadline ?? 0,
    quotaAlertPercents: key.monitor?.trigger_limits ?? none,
  };
}

/** Right on an API; undefined where the session may not call it. */
export function findRight(session: Session, apiId: string): Right | undefined {
  return session.everyApi ?? session.rights.get(apiId);
}

export function isExpired(session: Session, nowMs: number): boolean {
  return session.expires !== undefined && nowMs > session.expires * 1000;
}
