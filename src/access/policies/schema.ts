import { z } from 'zod';
import { zeroTime } from '#base/clock.ts';
import { legacyMembers } from '#base/members.ts';
import {
  AccessRight,
  type AccessRights,
  noSmoothing,
  rightsWarnings,
  Smoothing,
  smoothingWarnings,
} from '../keys/schema.ts';
import {
  type FullObject,
  fillZeros,
  nullableList,
  nullableMap,
  wireFlag,
  wireInt,
  wireMember,
  wireNumber,
  wireObject,
  wireText,
} from '../keys/schema-fields.ts';

const parts = ['acl', 'complexity', 'quota', 'rate_limit'] as const;
const noPartitions = { acl: false, complexity: false, per_api: false, quota: false, rate_limit: false };

export const Partitions = z
  .looseObject({ acl: wireFlag, complexity: wireFlag, per_api: wireFlag, quota: wireFlag, rate_limit: wireFlag })
  .partial()
  .refine(given => !given.per_api || !parts.some(part => given[part]), {
    path: ['per_api'],
    message: 'cannot be combined with acl, complexity, quota or rate_limit',
  });
export type Partitions = z.infer<typeof Partitions>;

export const policyStates = ['deny', 'active', 'draft'] as const;
export type PolicyState = (typeof policyStates)[number];

/** Legacy flags by state. */
const flagsOf: Record<PolicyState, { active: boolean; is_inactive: boolean }> = {
  active: { active: true, is_inactive: false },
  draft: { active: false, is_inactive: false },
  deny: { active: false, is_inactive: true },
};

const idMessage = 'may hold letters, digits, ".", "_", "-" and "~" only';
const publicId = wireText.regex(/^[A-Za-z0-9._~-]*$/, idMessage);
const RightOfArray = AccessRight.extend({ api_id: z.string().min(1, 'must name an API') });

/** Members of every response, in wire order. */
const policyMembers = {
  _id: wireMember(publicId, '', 'Database id.'),
  id: wireMember(publicId, '', 'Public id; the database id where none was chosen.'),
  access_rights: wireMember(nullableMap(AccessRight), {}, 'What keys of this policy may call, by API id.'),
  access_rights_array: wireMember(
    nullableList(RightOfArray),
    [],
    'The same rights as a list; may be sent instead of the map.',
  ),
  active: wireMember(wireFlag, true, 'Whether new keys may use the policy. Follows from state.'),
  auth_type: wireMember(wireText, 'other', 'How the APIs of the policy authenticate their callers.'),
  auth_types: wireMember(nullableList(wireText), [], 'The same, where the APIs agree on several ways.'),
  date_created: wireMember(wireText, zeroTime, 'When the policy was made; set by the server.'),
  graphql_enabled: wireMember(wireFlag, false, 'Whether the policy is about GraphQL APIs.'),
  hmac_enabled: wireMember(wireFlag, false, 'Lets keys of this policy sign their requests.'),
  is_inactive: wireMember(wireFlag, false, 'Refuses all keys of the policy. Follows from state.'),
  key_expires_in: wireMember(wireInt, 0, 'Seconds a key made with this policy lives; 0 is for ever.'),
  last_updated: wireMember(wireText, '0', 'Unix time of the last change, as text; set by the server.'),
  max_query_depth: wireMember(wireInt, 0, 'Deepest GraphQL query allowed; 0 or less is any.'),
  meta_data: wireMember(nullableMap(z.unknown()), {}, 'Data merged into the meta data of keys.'),
  name: wireMember(wireText, '', 'A name for people.'),
  org_id: wireMember(wireText, '', 'Organisation that owns the policy.'),
  partitions: wireMember(
    Partitions.nullable(),
    noPartitions,
    'Which parts of a key the policy governs; none chosen is all.',
  ),
  per: wireMember(wireNumber, 0, 'Seconds of the rate window.'),
  quota_max: wireMember(wireInt, 0, 'Requests per quota period; -1 is any number.'),
  quota_renewal_rate: wireMember(wireInt, 0, 'Seconds of the quota period; -1 never renews.'),
  rate: wireMember(wireNumber, 0, 'Requests allowed in each rate window; below 0 is any number.'),
  smoothing: wireMember(
    Smoothing.nullable(),
    noSmoothing,
    'Moves the rate in steps between a threshold and its maximum.',
  ),
  state: wireMember(
    z.enum(policyStates),
    'active',
    'active: keys work. draft: keys work, none can be made. deny: keys are refused.',
  ),
  tags: wireMember(nullableList(wireText), [], 'Tags added to the analytics of keys.'),
  throttle_interval: wireMember(wireNumber, 0, 'Seconds between two tries of a request held back.'),
  throttle_retry_limit: wireMember(wireInt, 0, 'Tries of a request held back; -1 refuses at once.'),
};

/** Members present only where set. */
const optionalMembers = {
  enable_http_signature_validation: wireMember(wireFlag, false, 'Lets keys of this policy sign with a certificate.'),
  post_expiry_action: wireMember(
    z.enum(['', 'retain', 'delete']),
    '',
    'What becomes of a key’s record once it expired.',
  ),
  post_expiry_grace_period: wireMember(wireInt, 0, 'Seconds an expired record is retained; -1 is for ever.'),
};

/**
 * A policy as callers send it: everything may be left out. Scripts write members of keys into policies, and exports carry
 * names of earlier versions: legacy members.
 */
export const Policy = legacyMembers(wireObject({ ...policyMembers, ...optionalMembers }), [
  'allowance',
  'expires',
  'graphql_access_rights',
  'last_check',
  'quota_remaining',
  'quota_renews',
  'rsa_enabled',
]);
export type Policy = z.infer<typeof Policy>;

/** The same where the settings allow ids of any characters. */
export const PolicyOfAnyId = Policy.extend({ _id: wireText.optional(), id: wireText.optional() });

/** A policy in responses. */
export type FullPolicy = FullObject<typeof policyMembers>;

/** State of a policy, from `state` or from the legacy flags. */
export function stateOf({ state, active, is_inactive }: Policy): PolicyState {
  if (state !== undefined) return state;
  if (is_inactive) return 'deny';
  return active === false ? 'draft' : 'active';
}

/** Public id, by which keys name the policy. */
export const policyIdOf = (policy: Policy): string => policy.id || policy._id || '';

/** Rights of a policy: the map, or the list where no map was sent. */
export function rightsOf(policy: Policy): AccessRights {
  if (policy.access_rights && Object.keys(policy.access_rights).length > 0) return policy.access_rights;
  return Object.fromEntries((policy.access_rights_array ?? []).map(right => [right.api_id, right]));
}

/** Stored form: rights as a map, state and legacy flags consistent. */
export function normalizePolicy(policy: Policy): Policy {
  const { access_rights_array: _list, ...rest } = policy;
  const state = stateOf(policy);
  return { ...rest, id: policyIdOf(policy), access_rights: rightsOf(policy), state, ...flagsOf[state] };
}

/** Every documented member, with its zero value where unset. */
export function fullPolicy(policy: Policy): FullPolicy {
  const stored = normalizePolicy(policy);
  const list = Object.entries(stored.access_rights ?? {}).map(([apiId, right]) => ({ ...right, api_id: apiId }));
  const full = fillZeros(policyMembers, { ...stored, access_rights_array: list });
  full.partitions = { ...noPartitions, ...full.partitions };
  return full;
}

/** True when the policy governs a part; without partitions, or with per_api, it governs all. */
export function governs(policy: Policy, part: (typeof parts)[number]): boolean {
  return policy.partitions?.[part] === true || !isPartitioned(policy);
}

export const isPerApi = (policy: Policy): boolean => policy.partitions?.per_api === true;
export const isPartitioned = (policy: Policy): boolean => parts.some(part => policy.partitions?.[part] === true);

/** Accepted settings that have no effect. */
export function policyWarnings(policy: Policy): string[] {
  return [...smoothingWarnings(policy), ...rightsWarnings(policy.access_rights)];
}
