import { isZeroValue } from '#base/json-tree.ts';
import type { AccessRight, AllowedUrl, ApiLimit, EndpointLimits, FieldAccess, GraphqlType } from '../keys/schema.ts';
import { smoothingOf } from '../keys/session.ts';

/** Merge rules of two policies on one key: the less restrictive limit, the union of lists. */

export type RatePart = Pick<ApiLimit, 'rate' | 'per' | 'smoothing'>;
export type ThrottlePart = Required<Pick<ApiLimit, 'throttle_interval' | 'throttle_retry_limit'>>;
export type QuotaPart = Required<Pick<ApiLimit, 'quota_max' | 'quota_renewal_rate'>>;
export type DepthPart = Required<Pick<ApiLimit, 'max_query_depth'>>;

/** Sort key of a rate, less restrictive first; the first difference decides. 0 is unset, below 0 unlimited. */
function rankRate({ rate = 0, per = 0, smoothing }: RatePart): number[] {
  const kind = rate < 0 ? 2 : rate > 0 && per > 0 ? 1 : 0;
  const { threshold = Infinity, step = 0, delaySeconds = 0, trigger = 0 } = smoothingOf(smoothing) ?? {};
  return [kind, kind === 1 ? rate / per : 0, rate, per, threshold, step, -delaySeconds, trigger];
}

export function freerRate(a: RatePart | undefined, b: RatePart): RatePart {
  if (!a) return b;
  const ofB = rankRate(b);
  const difference = rankRate(a)
    .map((value, place) => (value === ofB[place] ? 0 : value - ofB[place]!))
    .find(each => each !== 0);
  return (difference ?? 0) >= 0 ? a : b;
}

/** The larger limit; below 0 is unlimited. */
export function largerLimit(a: number, b: number): number {
  if (a < 0 !== b < 0) return Math.min(a, b);
  return Math.max(a, b);
}

export function freerQuota(a: QuotaPart | undefined, b: QuotaPart): QuotaPart {
  return a
    ? {
        quota_max: largerLimit(a.quota_max, b.quota_max),
        quota_renewal_rate: Math.max(a.quota_renewal_rate, b.quota_renewal_rate),
      }
    : b;
}

export function freerThrottle(a: ThrottlePart | undefined, b: ThrottlePart): ThrottlePart {
  return a
    ? {
        throttle_interval: Math.max(a.throttle_interval, b.throttle_interval),
        throttle_retry_limit: Math.max(a.throttle_retry_limit, b.throttle_retry_limit),
      }
    : b;
}

export function freerDepth(a: DepthPart | undefined, b: DepthPart): DepthPart {
  return a ? { max_query_depth: largerLimit(a.max_query_depth, b.max_query_depth) } : b;
}

type List<Item> = readonly Item[] | null | undefined;

export const union = (a: List<string>, b: List<string>): string[] => [...new Set([...(a ?? []), ...(b ?? [])])];

/** Both lists, entries of the same name merged into one. */
function unionBy<Item>(
  a: List<Item>,
  b: List<Item>,
  nameOf: (item: Item) => string,
  merge: (a: Item, b: Item) => Item,
) {
  const byName = new Map<string, Item>();
  for (const item of [...(a ?? []), ...(b ?? [])]) {
    const existing = byName.get(nameOf(item));
    byName.set(nameOf(item), existing === undefined ? item : merge(existing, item));
  }
  return [...byName.values()];
}

/** A missing URL list allows every URL, so the union allows every URL. */
function unionOfUrls(a: List<AllowedUrl>, b: List<AllowedUrl>): AllowedUrl[] {
  if (!a?.length || !b?.length) return [];
  return unionBy(
    a,
    b,
    ({ url }) => JSON.stringify(url ?? null),
    (one, other) => ({ ...one, methods: union(one.methods, other.methods) }),
  );
}

const unionOfTypes = (a: List<GraphqlType>, b: List<GraphqlType>): GraphqlType[] =>
  unionBy(
    a,
    b,
    ({ name }) => name ?? '',
    (one, other) => ({ ...one, fields: union(one.fields, other.fields) }),
  );

const unionOfFields = (a: List<FieldAccess>, b: List<FieldAccess>): FieldAccess[] =>
  unionBy(
    a,
    b,
    ({ type_name, field_name }) => JSON.stringify([type_name ?? '', field_name ?? '']),
    (one, other) => ({
      ...one,
      limits: { max_query_depth: largerLimit(one.limits?.max_query_depth ?? 0, other.limits?.max_query_depth ?? 0) },
    }),
  );

export const unionOfEndpoints = (a: List<EndpointLimits>, b: List<EndpointLimits>): EndpointLimits[] =>
  unionBy(
    a,
    b,
    ({ path }) => path ?? '',
    (one, other) => ({
      ...one,
      methods: unionBy(
        one.methods,
        other.methods,
        ({ name }) => name ?? '',
        (method, same) => ({ ...method, limit: freerRate(method.limit ?? {}, same.limit ?? {}) }),
      ),
    }),
  );

/** Members of a right that the first policy with them decides. */
export const decidedByFirst = [
  'json_rpc_methods',
  'json_rpc_methods_access_rights',
  'mcp_primitives',
  'mcp_access_rights',
] as const;

/** Union of the access two policies grant to one API; limits are merged separately. */
export function mergeAccess(a: AccessRight | undefined, b: AccessRight): AccessRight {
  if (!a) return b;
  return {
    ...b,
    ...a,
    versions: union(a.versions, b.versions),
    allowed_urls: unionOfUrls(a.allowed_urls, b.allowed_urls),
    restricted_types: unionOfTypes(a.restricted_types, b.restricted_types),
    allowed_types: unionOfTypes(a.allowed_types, b.allowed_types),
    field_access_rights: unionOfFields(a.field_access_rights, b.field_access_rights),
    disable_introspection: a.disable_introspection === true || b.disable_introspection === true,
    ...Object.fromEntries(
      decidedByFirst.filter(name => isZeroValue(a[name]) && !isZeroValue(b[name])).map(name => [name, b[name]]),
    ),
  };
}
