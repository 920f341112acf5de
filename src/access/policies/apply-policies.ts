import { z } from 'zod';
import { isObject } from '#base/json-tree.ts';
import { metadataNames } from '../keys/metadata-names.ts';
import { type AccessRight, type AccessRights, type ApiLimit, type Key, limitIsSet } from '../keys/schema.ts';
import { compileKeySession, type Session } from '../keys/session.ts';
import {
  type DepthPart,
  freerDepth,
  freerQuota,
  freerRate,
  freerThrottle,
  mergeAccess,
  type QuotaPart,
  type RatePart,
  type ThrottlePart,
  union,
  unionOfEndpoints,
} from './merge-policies.ts';
import { governs, isPartitioned, isPerApi, Policy, policyIdOf, rightsOf, stateOf } from './schema.ts';

/** Policies by the ids keys name; a Map fits. */
export interface PolicyLookup {
  get(id: string): Policy | undefined;
}

export interface ApplyPoliciesOptions {
  /** Organisation of the API or of the caller; policies of any other are refused. */
  readonly orgId: string;
  /** Lets a key without access rights call every API. */
  readonly allowMasterKeys?: boolean;
}

const faults = {
  policy_not_found: 'policy not found',
  policies_malformed: 'meta_data.policies does not hold policies',
  policy_of_other_organisation: 'attempting to apply policy from different organisation to key',
  per_api_with_partitions: 'cannot apply policy which has per_api and any of partitions set',
  per_api_beside_partitions: 'cannot apply multiple policies when some have per_api set and some are partitioned',
  nothing_granted: 'key has no valid policies to be applied',
  no_access_rights: 'keys must have at least one Access Rights record set',
};
export type PolicyFault = keyof typeof faults;

export interface Rejection<Reason extends string> {
  readonly ok: false;
  readonly reason: Reason;
  readonly message: string;
}

export interface AppliedPolicies {
  readonly ok: true;
  /** Key in wire form with its policies applied. */
  readonly key: Key;
  readonly session: Session;
  /** The policies found, in order. */
  readonly policies: readonly Policy[];
}

export type ApplyPoliciesResult = AppliedPolicies | Rejection<PolicyFault>;

const refuse = (reason: PolicyFault, of = ''): Rejection<PolicyFault> => ({
  ok: false,
  reason,
  message: of ? `${faults[reason]}: ${JSON.stringify(of)}` : faults[reason],
});

/** Ids of the policies a key names; the deprecated single id counts only alone. */
export function policyIdsOf(key: Key): string[] {
  if (key.apply_policies?.length) return key.apply_policies;
  return key.apply_policy_id ? [key.apply_policy_id] : [];
}

/** Policies that the metadata of a key hold, unchecked. */
export function readEmbeddedPolicies({ meta_data }: Pick<Key, 'meta_data'>): unknown[] {
  const embedded = isObject(meta_data) ? meta_data[metadataNames.policies] : undefined;
  return Array.isArray(embedded) ? embedded : [];
}

/** Neither rights nor policies: such a key opens every API where master keys are allowed. */
export const grantsNothing = (key: Key): boolean =>
  Object.keys(key.access_rights ?? {}).length === 0 &&
  policyIdsOf(key).length === 0 &&
  readEmbeddedPolicies(key).length === 0;

/** Merged access and limits of one API. */
interface Grant {
  access?: AccessRight;
  rate?: RatePart;
  endpoints?: AccessRight['endpoints'];
  throttle?: ThrottlePart;
  quota?: QuotaPart;
  depth?: DepthPart;
  /** Counter scope of a right with limits of its own. */
  scope?: string;
  /** The last policy that granted access. */
  grantedBy?: string;
}

type RootLimits = Pick<Grant, 'rate' | 'throttle' | 'quota' | 'depth'>;

const ratePart = ({ rate = 0, per = 0, smoothing = null }: ApiLimit): RatePart => ({ rate, per, smoothing });
const throttlePart = (limit: ApiLimit): ThrottlePart => ({
  throttle_interval: limit.throttle_interval ?? 0,
  throttle_retry_limit: limit.throttle_retry_limit ?? 0,
});
const quotaPart = ({ quota_max = 0, quota_renewal_rate = 0 }: ApiLimit): QuotaPart => ({
  quota_max,
  quota_renewal_rate,
});
const depthPart = ({ max_query_depth = 0 }: ApiLimit): DepthPart => ({ max_query_depth });

function mergeLimits(into: Grant | RootLimits, policy: Policy, limit: ApiLimit): void {
  if (governs(policy, 'rate_limit')) {
    into.rate = freerRate(into.rate, ratePart(limit));
    into.throttle = freerThrottle(into.throttle, throttlePart(limit));
  }
  if (governs(policy, 'quota')) into.quota = freerQuota(into.quota, quotaPart(limit));
  if (governs(policy, 'complexity')) into.depth = freerDepth(into.depth, depthPart(limit));
}

function mergeRight(grant: Grant, policy: Policy, apiId: string, right: AccessRight): void {
  if (governs(policy, 'acl')) {
    grant.access = mergeAccess(grant.access, right);
    grant.grantedBy = policyIdOf(policy);
  }
  if (governs(policy, 'rate_limit')) grant.endpoints = unionOfEndpoints(grant.endpoints, right.endpoints);
  const own = isPerApi(policy) && limitIsSet(right.limit) ? right.limit : undefined;
  mergeLimits(grant, policy, own ?? policy);
  if (isPerApi(policy)) grant.scope = own || grant.scope !== undefined ? apiId : policyIdOf(policy);
}

/** Limits of the key itself, without the parts its policies govern. */
function initialKeyLimits(key: Key, policies: readonly Policy[]): RootLimits {
  const isGoverned = (part: 'rate_limit' | 'quota' | 'complexity') => policies.some(policy => governs(policy, part));
  return {
    ...(isGoverned('rate_limit') ? {} : { rate: ratePart(key), throttle: throttlePart(key) }),
    ...(isGoverned('quota') ? {} : { quota: quotaPart(key) }),
    ...(isGoverned('complexity') ? {} : { depth: depthPart(key) }),
  };
}

/** Merges the policies in order into one grant per API and the limits of the key itself. */
function merge(key: Key, policies: readonly Policy[]): { root: RootLimits; grants: Map<string, Grant> } {
  const root = initialKeyLimits(key, policies);
  const grants = new Map<string, Grant>();
  for (const policy of policies) {
    const rights = Object.entries(rightsOf(policy));
    for (const [apiId, right] of rights) {
      const grant = grants.get(apiId) ?? {};
      mergeRight(grant, policy, apiId, right);
      grants.set(apiId, grant);
    }
    if (isPerApi(policy)) continue;
    if (rights.length > 0) mergeLimits(root, policy, policy);
    else overwriteLimits(root, policy);
  }
  const [single, ...others] = [...grants.values()].filter(({ rate, quota, depth }) => rate ?? quota ?? depth);
  if (single?.access && single.rate && single.quota && single.depth && others.length === 0)
    Object.assign(root, omitUnset(single));
  return { root, grants };
}

const omitUnset = ({ rate, throttle, quota, depth }: RootLimits): RootLimits => ({
  ...(rate && { rate }),
  ...(throttle && { throttle }),
  ...(quota && { quota }),
  ...(depth && { depth }),
});

/** A policy without rights sets the limits of the key itself. */
function overwriteLimits(root: RootLimits, policy: Policy): void {
  const own: RootLimits = {};
  mergeLimits(own, policy, policy);
  Object.assign(root, own);
}

const toApiLimit = ({ rate, throttle, quota, depth }: RootLimits): ApiLimit => ({
  ...(rate ?? ratePart({})),
  ...(throttle ?? throttlePart({})),
  ...(quota ?? quotaPart({})),
  ...(depth ?? depthPart({})),
});

/** Builds access rights from the grants; parts no policy governs come from the key itself. */
function buildRights(key: Key, root: RootLimits, grants: Map<string, Grant>): AccessRights {
  const granted = [...grants].filter(([, { access }]) => access);
  const sources = new Set(granted.map(([, { scope, grantedBy }]) => scope ?? grantedBy));
  return Object.fromEntries(
    granted.map(([apiId, grant]) => {
      const { quota_renews, quota_remaining } = key.access_rights?.[apiId]?.limit ?? {};
      const limit: ApiLimit = {
        ...toApiLimit({ ...root, ...omitUnset(grant) }),
        ...(quota_renews !== undefined && { quota_renews }),
        ...(quota_remaining !== undefined && { quota_remaining }),
      };
      const shared = sources.size > 1 ? grant.grantedBy : '';
      const scope = grant.scope ?? shared ?? '';
      return [apiId, { ...grant.access, limit, allowance_scope: scope, endpoints: grant.endpoints ?? [] }];
    }),
  );
}

const latestTimestamp = (texts: readonly (string | undefined)[]): string =>
  texts.map(text => text ?? '').reduce((one, other) => (Number(other) > Number(one) ? other : one));

/** Merges all members other than rights and limits. */
function mergeOtherMembers(key: Key, policies: readonly Policy[]): Key {
  const withExpiryAction = policies.findLast(policy => policy.post_expiry_action);
  const shared = policies.filter(policy => !isPerApi(policy));
  const metas = policies.map(policy => policy.meta_data).filter(isObject);
  return {
    is_inactive: policies.some(policy => stateOf(policy) === 'deny'),
    tags: policies.reduce((tags, policy) => union(tags, policy.tags), union(key.tags, [])),
    ...(metas.length > 0 && { meta_data: Object.assign({}, isObject(key.meta_data) ? key.meta_data : {}, ...metas) }),
    last_updated: latestTimestamp([key.last_updated, ...policies.map(policy => policy.last_updated)]),
    hmac_enabled: key.hmac_enabled === true || shared.some(policy => policy.hmac_enabled),
    ...(shared.some(policy => policy.enable_http_signature_validation) && { enable_http_signature_validation: true }),
    ...(withExpiryAction && {
      post_expiry_action: withExpiryAction.post_expiry_action,
      post_expiry_grace_period: withExpiryAction.post_expiry_grace_period ?? 0,
    }),
  };
}

/** A key without policies: its own rights apply, and a right with limits has its own counters. */
function applyWithoutPolicies(key: Key, { allowMasterKeys = false }: ApplyPoliciesOptions): ApplyPoliciesResult {
  const rights = Object.entries(key.access_rights ?? {});
  if (rights.length === 0 && !allowMasterKeys) return refuse('no_access_rights');
  const scoped = rights.map(([apiId, right]) => [
    apiId,
    limitIsSet(right.limit) ? { ...right, allowance_scope: apiId } : right,
  ]);
  const effective: Key = { ...key, access_rights: Object.fromEntries(scoped) };
  return { ok: true, key: effective, session: compileKeySession(effective), policies: [] };
}

interface PolicySource {
  readonly ids: readonly string[];
  readonly lookup: PolicyLookup;
}

/** Policies embedded in the key's `meta_data.policies` replace those it names. */
function selectPolicySource(key: Key, policies: PolicyLookup, orgId: string): PolicySource | Rejection<PolicyFault> {
  const embedded = readEmbeddedPolicies(key);
  if (embedded.length === 0) return { ids: policyIdsOf(key), lookup: policies };
  const parsed = z.array(Policy).safeParse(embedded);
  if (!parsed.success || parsed.data.some(policy => !policyIdOf(policy))) return refuse('policies_malformed');
  const lookup = new Map(
    parsed.data.map(policy => [policyIdOf(policy), { ...policy, org_id: policy.org_id || orgId }]),
  );
  return { ids: [...lookup.keys()], lookup };
}

/** Finds the policies and refuses incompatible ones. A missing one among several is skipped. */
function findPolicies({ ids, lookup }: PolicySource, orgId: string): Policy[] | Rejection<PolicyFault> {
  const policies: Policy[] = [];
  for (const id of new Set(ids)) {
    const policy = lookup.get(id);
    if (!policy && ids.length === 1) return refuse('policy_not_found', id);
    if (!policy) continue;
    if ((policy.org_id ?? '') !== orgId) return refuse('policy_of_other_organisation', id);
    if (isPerApi(policy) && isPartitioned(policy)) return refuse('per_api_with_partitions', id);
    policies.push(policy);
  }
  if (policies.some(isPerApi) && policies.some(isPartitioned)) return refuse('per_api_beside_partitions');
  return policies;
}

/** Applies policies to a key: the result is what the gateway enforces. */
export function applyPolicies(key: Key, policies: PolicyLookup, options: ApplyPoliciesOptions): ApplyPoliciesResult {
  const source = selectPolicySource(key, policies, options.orgId);
  if ('ok' in source) return source;
  if (source.ids.length === 0) return applyWithoutPolicies(key, options);
  const governing = findPolicies(source, options.orgId);
  if ('ok' in governing) return governing;
  const { root, grants } = merge(key, governing);
  const rights = buildRights(key, root, grants);
  if (Object.keys(rights).length === 0) return refuse('nothing_granted');
  const effective: Key = { ...key, ...toApiLimit(root), ...mergeOtherMembers(key, governing), access_rights: rights };
  return {
    ok: true,
    key: effective,
    session: compileKeySession(effective, governing.map(policyIdOf)),
    policies: governing,
  };
}
