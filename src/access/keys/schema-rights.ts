import { z } from 'zod';
import { legacyMembers } from '#base/members.ts';
import { amount, flag, listOf, objectOf, text, whole } from './schema-fields.ts';

/** What keys and policies grant: limits, and rights per API. */

const atLeastOne = z.int().min(1, 'must be at least 1');

/** Bounds hold for the members given, whether smoothing is on or not. */
export const Smoothing = z.looseObject({
  delay: atLeastOne.optional().describe('Seconds to hold off between two smoothing events.'),
  enabled: flag.optional().describe('Turns smoothing on.'),
  step: atLeastOne.optional().describe('How much one smoothing event raises or lowers the allowance.'),
  threshold: atLeastOne
    .optional()
    .describe('Rate at which the allowance starts and below which it never falls; should be below the rate.'),
  trigger: z
    .number()
    .min(0, 'must be at least 0')
    .multipleOf(0.01, 'must be a multiple of 0.01')
    .optional()
    .describe('Fraction of the step at which an event is due as the request rate nears the allowance.'),
});
export type Smoothing = z.infer<typeof Smoothing>;

/** What a reader sees where no smoothing was set; it can be sent back, since it keeps the bounds. */
export const noSmoothing = { delay: 1, enabled: false, step: 1, threshold: 1, trigger: 0 };

/** Limits of one API inside a right. All zero means "not set": the limits of the key itself apply. */
export const ApiLimit = legacyMembers(
  z
    .looseObject({
      rate: amount,
      per: amount,
      smoothing: Smoothing.nullable(),
      throttle_interval: amount,
      throttle_retry_limit: whole,
      max_query_depth: whole,
      quota_max: whole,
      quota_renews: whole,
      quota_remaining: whole,
      quota_renewal_rate: whole,
    })
    .partial(),
  ['set_by_policy'],
);
export type ApiLimit = z.infer<typeof ApiLimit>;

export const AllowedUrl = z.looseObject({ url: text, methods: listOf(text) }).partial();
export type AllowedUrl = z.infer<typeof AllowedUrl>;

export const GraphqlType = z.looseObject({ name: text, fields: listOf(text) }).partial();
export type GraphqlType = z.infer<typeof GraphqlType>;

export const FieldAccess = z
  .looseObject({ type_name: text, field_name: text, limits: objectOf({ max_query_depth: whole }) })
  .partial();
export type FieldAccess = z.infer<typeof FieldAccess>;

const RateLimitOf = objectOf({ rate: amount, per: amount, smoothing: Smoothing.nullable() });

export const EndpointMethod = z.looseObject({ name: text, limit: RateLimitOf }).partial();
export const Endpoint = z.looseObject({ path: text, methods: listOf(EndpointMethod) }).partial();
export type Endpoint = z.infer<typeof Endpoint>;

const AccessRules = objectOf({ allowed: listOf(text), blocked: listOf(text) });
const JsonRpcMethod = z.looseObject({ name: text, limit: RateLimitOf }).partial();

/** What a key may do with one API; the API id is the key of the map that holds it. */
export const AccessRight = z
  .looseObject({
    api_id: text,
    api_name: text,
    versions: listOf(text),
    allowed_urls: listOf(AllowedUrl),
    limit: ApiLimit.nullable(),
    allowance_scope: text,
    endpoints: listOf(Endpoint),
    restricted_types: listOf(GraphqlType),
    allowed_types: listOf(GraphqlType),
    field_access_rights: listOf(FieldAccess),
    disable_introspection: flag,
    json_rpc_methods: listOf(JsonRpcMethod),
    json_rpc_methods_access_rights: AccessRules,
    mcp_primitives: listOf(z.looseObject({ type: text, name: text }).partial()),
    mcp_access_rights: objectOf({ tools: AccessRules, resources: AccessRules, prompts: AccessRules }),
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

/** Whether a right has limits of its own. */
export function limitIsSet(limit: ApiLimit | null | undefined): limit is ApiLimit {
  return limit != null && (limitNumbers.some(name => (limit[name] ?? 0) !== 0) || limit.smoothing?.enabled === true);
}

interface Limited {
  readonly rate?: number | undefined;
  readonly smoothing?: Smoothing | null | undefined;
}

/** What is accepted but will not do what its author hopes; `at` is the path of the object that holds the limit. */
export function smoothingWarnings({ rate = 0, smoothing }: Limited, at = ''): string[] {
  if (!smoothing?.enabled) return [];
  const warnings: string[] = [];
  for (const name of ['delay', 'step', 'threshold'] as const) {
    if (smoothing[name] === undefined)
      warnings.push(`${at}smoothing.${name}: is needed, smoothing stays off without it`);
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
