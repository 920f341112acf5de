import { z } from 'zod';
import { legacyMembers } from '#base/members.ts';
import { nullableList, nullableObject, wireFlag, wireInt, wireNumber, wireText } from './schema-fields.ts';

/** Schemas shared by keys and policies: limits and access rights. */

const positiveInt = z.int().min(1, 'must be at least 1');

/** Bounds hold for the members sent, also with smoothing disabled. */
export const Smoothing = z.looseObject({
  delay: positiveInt.optional().describe('Minimum time in seconds between two smoothing events.'),
  enabled: wireFlag.optional().describe('Enables smoothing.'),
  step: positiveInt.optional().describe('Amount by which one smoothing event raises or lowers the allowance.'),
  threshold: positiveInt.optional().describe('Initial and minimum allowance; should be below the rate.'),
  trigger: z
    .number()
    .min(0, 'must be at least 0')
    .multipleOf(0.01, 'must be a multiple of 0.01')
    .optional()
    .describe('Fraction of the step at which an event is due as the request rate nears the allowance.'),
});
export type Smoothing = z.infer<typeof Smoothing>;

/** Response value of unset smoothing; valid in a request too. */
export const noSmoothing = { delay: 1, enabled: false, step: 1, threshold: 1, trigger: 0 };

/** Limits of one API inside a right. All zero means "not set": the limits of the key itself apply. */
export const ApiLimit = legacyMembers(
  z
    .looseObject({
      rate: wireNumber,
      per: wireNumber,
      smoothing: Smoothing.nullable(),
      throttle_interval: wireNumber,
      throttle_retry_limit: wireInt,
      max_query_depth: wireInt,
      quota_max: wireInt,
      quota_renews: wireInt,
      quota_remaining: wireInt,
      quota_renewal_rate: wireInt,
    })
    .partial(),
  ['set_by_policy'],
);
export type ApiLimit = z.infer<typeof ApiLimit>;

export const AllowedUrl = z.looseObject({ url: wireText, methods: nullableList(wireText) }).partial();
export type AllowedUrl = z.infer<typeof AllowedUrl>;

export const GraphqlType = z.looseObject({ name: wireText, fields: nullableList(wireText) }).partial();
export type GraphqlType = z.infer<typeof GraphqlType>;

export const FieldAccess = z
  .looseObject({ type_name: wireText, field_name: wireText, limits: nullableObject({ max_query_depth: wireInt }) })
  .partial();
export type FieldAccess = z.infer<typeof FieldAccess>;

const RateLimitOf = nullableObject({ rate: wireNumber, per: wireNumber, smoothing: Smoothing.nullable() });

const EndpointMethodLimit = z.looseObject({ name: wireText, limit: RateLimitOf }).partial();
export const EndpointLimits = z.looseObject({ path: wireText, methods: nullableList(EndpointMethodLimit) }).partial();
export type EndpointLimits = z.infer<typeof EndpointLimits>;

const AccessRules = nullableObject({ allowed: nullableList(wireText), blocked: nullableList(wireText) });
const McpPrimitive = z
  .looseObject({ type: z.enum(['tool', 'resource', 'prompt', '']), name: wireText, limit: RateLimitOf })
  .partial();
const JsonRpcMethod = z.looseObject({ name: wireText, limit: RateLimitOf }).partial();

/** Access right of one API; the map key is the API id. */
export const AccessRight = z
  .looseObject({
    api_id: wireText,
    api_name: wireText,
    versions: nullableList(wireText),
    allowed_urls: nullableList(AllowedUrl),
    limit: ApiLimit.nullable(),
    allowance_scope: wireText,
    endpoints: nullableList(EndpointLimits),
    restricted_types: nullableList(GraphqlType),
    allowed_types: nullableList(GraphqlType),
    field_access_rights: nullableList(FieldAccess),
    disable_introspection: wireFlag,
    json_rpc_methods: nullableList(JsonRpcMethod),
    json_rpc_methods_access_rights: AccessRules,
    mcp_primitives: nullableList(McpPrimitive),
    mcp_access_rights: nullableObject({ tools: AccessRules, resources: AccessRules, prompts: AccessRules }),
  })
  .partial();
export type AccessRight = z.infer<typeof AccessRight>;

/** A right of a key; exports of older keys repeat its limits beside `limit`, where they have no effect. */
export const KeyAccessRight = legacyMembers(AccessRight, [
  'quota_max',
  'quota_renews',
  'quota_remaining',
  'quota_reset',
  'quota_used',
  'per',
  'expires',
]);

export const AccessRights = z.record(z.string(), AccessRight);
export type AccessRights = z.infer<typeof AccessRights>;

const limitNumbers = [
  'rate',
  'per',
  'throttle_interval',
  'throttle_retry_limit',
  'max_query_depth',
  'quota_max',
  'quota_renewal_rate',
] as const;

/** True when a right has limits of its own. */
export function limitIsSet(limit: ApiLimit | null | undefined): limit is ApiLimit {
  return limit != null && (limitNumbers.some(name => (limit[name] ?? 0) !== 0) || limit.smoothing?.enabled === true);
}

interface LimitMembers {
  readonly rate?: number | undefined;
  readonly smoothing?: Smoothing | null | undefined;
}

/** Accepted settings that have no effect; `at` is the path of the limit object. */
export function smoothingWarnings({ rate = 0, smoothing }: LimitMembers, at = ''): string[] {
  if (!smoothing?.enabled) return [];
  const warnings: string[] = [];
  for (const name of ['delay', 'step', 'threshold'] as const) {
    if (smoothing[name] === undefined)
      warnings.push(`${at}smoothing.${name}: is missing; smoothing stays off without it`);
  }
  if (rate > 0 && smoothing.threshold !== undefined && smoothing.threshold >= rate) {
    warnings.push(`${at}smoothing.threshold: should be below the rate (${rate})`);
  }
  return warnings;
}

export function rightsWarnings(rights: AccessRights | null | undefined): string[] {
  return Object.entries(rights ?? {}).flatMap(([apiId, right]) => [
    ...smoothingWarnings(right.limit ?? {}, `access_rights.${apiId}.limit.`),
    ...(right.endpoints ?? []).flatMap(({ methods }, endpoint) =>
      (methods ?? []).flatMap(({ limit }, method) =>
        smoothingWarnings(limit ?? {}, `access_rights.${apiId}.endpoints[${endpoint}].methods[${method}].limit.`),
      ),
    ),
  ]);
}
