import { toJsonPointer } from '#base/json-pointer.ts';
import { isObject, isZeroValue } from '#base/json-tree.ts';
import { type AccessRight, type AccessRights, type ApiLimit, type Key, limitIsSet } from '../keys/schema.ts';
import { decidedByFirst } from './merge-policies.ts';
import { governs, isPerApi, type Policy, policyIdOf, rightsOf, stateOf } from './schema.ts';

/** Origin of effective values: the key itself, or one of its policies by its id. */
export interface ValueSource {
  readonly kind: 'key' | 'policy';
  readonly id: string;
}

/** An effective value of a key. */
export interface ExplainedValue {
  /** JSON pointer in the effective key. */
  readonly pointer: string;
  readonly value: unknown;
  /** Empty where a policy governs the value and sets it for single APIs only. */
  readonly sources: readonly ValueSource[];
  /** Values that others gave and that do not apply. */
  readonly overridden: readonly (ValueSource & { readonly value: unknown })[];
}

export interface KeyExplanation {
  readonly values: readonly ExplainedValue[];
  /** False where the bound left values out. */
  readonly is_complete: boolean;
}

/** Bound of an explanation: a key has up to 1,000 rights and 100 policies. */
const maxExplainedValues = 5000;
const maxOverridden = 100;

/** A value that the key or a policy gives for one member. */
interface Offer {
  readonly source: ValueSource;
  readonly value: unknown;
}

/** Limits that the key or a policy gives for a part, at one place. */
interface LimitOffer {
  readonly source: ValueSource;
  readonly limit: ApiLimit;
}

const keySource: ValueSource = { kind: 'key', id: '' };

/** A policy with its rights, which are read once: a key may have many of both. */
interface AppliedPolicy {
  readonly source: ValueSource;
  readonly policy: Policy;
  readonly rights: AccessRights;
}

const toAppliedPolicy = (policy: Policy): AppliedPolicy => ({
  source: { kind: 'policy', id: policyIdOf(policy) },
  policy,
  rights: rightsOf(policy),
});

type LimitPart = 'rate_limit' | 'quota' | 'complexity';

/** Members of each part. A rate is chosen as a whole, the others member by member; see `merge-policies.ts`. */
const groups: readonly { readonly part: LimitPart; readonly members: readonly (keyof ApiLimit)[] }[] = [
  { part: 'rate_limit', members: ['rate', 'per', 'smoothing'] },
  { part: 'rate_limit', members: ['throttle_interval'] },
  { part: 'rate_limit', members: ['throttle_retry_limit'] },
  { part: 'quota', members: ['quota_max'] },
  { part: 'quota', members: ['quota_renewal_rate'] },
  { part: 'complexity', members: ['max_query_depth'] },
];

/**
 * Explains an effective key: for each limit, right and other member that policies can set, its sources and the values that
 * it overrides. Members that are not listed are those of the key. `key` is the key before its policies were applied.
 */
export function explainKey(key: Key, effective: Key, policies: readonly Policy[]): KeyExplanation {
  const values: ExplainedValue[] = [];
  let isComplete = true;
  for (const value of listValues(key, effective, policies.map(toAppliedPolicy))) {
    if (values.length === maxExplainedValues) {
      isComplete = false;
      break;
    }
    values.push({ ...value, overridden: value.overridden.slice(0, maxOverridden) });
  }
  return { values, is_complete: isComplete };
}

function* listValues(key: Key, effective: Key, policies: readonly AppliedPolicy[]): Generator<ExplainedValue> {
  const single = findSingleGrant(policies);
  const rootOffers = (part: LimitPart) =>
    single === undefined ? listKeyOffers(key, policies, part) : withKey(key, listApiOffers(policies, single, part));
  yield* explainLimits([], effective, rootOffers);
  yield* explainOtherMembers(key, effective, policies);
  for (const [apiId, right] of Object.entries(effective.access_rights ?? {})) {
    yield* policies.length === 0 ? explainOwnRight(apiId, right) : explainRight(apiId, right, policies, rootOffers);
  }
}

type OffersOf = (part: LimitPart) => {
  readonly applied: readonly LimitOffer[];
  readonly dropped: readonly LimitOffer[];
};

/** Offers for the limits of the key itself. A policy without rights replaces those before it. */
function listKeyOffers(key: Key, policies: readonly AppliedPolicy[], part: LimitPart) {
  const own: LimitOffer = { source: keySource, limit: key };
  const governing = policies.filter(({ policy }) => governs(policy, part));
  if (governing.length === 0) return { applied: [own], dropped: [] };
  const shared = governing.filter(({ policy }) => !isPerApi(policy));
  const reset = shared.findLastIndex(({ rights }) => Object.keys(rights).length === 0);
  const toOffer = ({ source, policy }: AppliedPolicy): LimitOffer => ({ source, limit: policy });
  const start = Math.max(reset, 0);
  return { applied: shared.slice(start).map(toOffer), dropped: [own, ...shared.slice(0, start).map(toOffer)] };
}

/** Offers for the limits of one API: those of the right where a policy has limits per API, else of the policy. */
function listApiOffers(policies: readonly AppliedPolicy[], apiId: string, part: LimitPart): LimitOffer[] {
  return policies.flatMap(applied => {
    const { source, policy } = applied;
    const right = readRight(applied, apiId);
    if (!right || !governs(policy, part)) return [];
    const limit = isPerApi(policy) && limitIsSet(right.limit) ? right.limit : policy;
    return [{ source, limit }];
  });
}

const withKey = (key: Key, applied: readonly LimitOffer[]) => ({
  applied,
  dropped: [{ source: keySource, limit: key }],
});

const readRight = ({ rights }: AppliedPolicy, apiId: string): AccessRight | undefined =>
  Object.hasOwn(rights, apiId) ? rights[apiId] : undefined;

/** The only API with limits of every part, whose limits are those of the key too. */
function findSingleGrant(policies: readonly AppliedPolicy[]): string | undefined {
  const apiIds = [...new Set(policies.flatMap(({ rights }) => Object.keys(rights)))];
  const isOffered = (apiId: string, part: LimitPart | 'acl') =>
    policies.some(applied => readRight(applied, apiId) && governs(applied.policy, part));
  const parts = ['rate_limit', 'quota', 'complexity'] as const;
  const [single, ...others] = apiIds.filter(apiId => parts.some(part => isOffered(apiId, part)));
  if (single === undefined || others.length > 0 || !isOffered(single, 'acl')) return undefined;
  return parts.every(part => isOffered(single, part)) ? single : undefined;
}

function* explainLimits(path: readonly string[], limit: ApiLimit, offersOf: OffersOf): Generator<ExplainedValue> {
  for (const { part, members } of groups) {
    const { applied, dropped } = offersOf(part);
    const isChosen = (offer: LimitOffer) =>
      members.every(name => isSame(readLimit(offer.limit, name), readLimit(limit, name)));
    const chosen = applied.filter(isChosen);
    const others = [...applied.filter(offer => !isChosen(offer)), ...dropped];
    for (const name of members) {
      const overridden = others.map(({ source, limit: own }) => ({ source, value: readLimit(own, name) }));
      yield toExplained([...path, name], readLimit(limit, name), chosen, overridden);
    }
  }
}

const readLimit = (limit: ApiLimit, name: keyof ApiLimit): unknown =>
  name === 'smoothing' ? (limit.smoothing ?? null) : (limit[name] ?? 0);

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** Unset values override nothing. */
function toExplained(
  path: readonly string[],
  value: unknown,
  chosen: readonly { readonly source: ValueSource }[],
  others: readonly Offer[] = [],
): ExplainedValue {
  const overridden = others
    .filter(offer => !isZeroValue(offer.value) && !isSame(offer.value, value))
    .map(offer => ({ ...offer.source, value: offer.value }));
  return { pointer: toJsonPointer(path), value, sources: chosen.map(({ source }) => source), overridden };
}

/** Members of a right that policies add up. */
const addedMembers = ['versions', 'restricted_types', 'allowed_types', 'field_access_rights', 'disable_introspection'];

function* explainRight(
  apiId: string,
  right: AccessRight,
  policies: readonly AppliedPolicy[],
  rootOffers: OffersOf,
): Generator<ExplainedValue> {
  const path = ['access_rights', apiId];
  const listPolicies = (part: LimitPart | 'acl') =>
    policies.filter(applied => governs(applied.policy, part) && readRight(applied, apiId));
  const granting = listPolicies('acl');
  const offersOf = (name: string, from = granting): Offer[] =>
    from.map(applied => ({
      source: applied.source,
      value: (readRight(applied, apiId) as Record<string, unknown>)[name],
    }));
  const isSet = ({ value }: Offer) => !isZeroValue(value);
  yield toExplained(path, true, offersOf('api_id'));
  const members = right as Readonly<Record<string, unknown>>;
  for (const name of addedMembers)
    if (!isZeroValue(members[name])) yield toExplained([...path, name], members[name], offersOf(name).filter(isSet));
  for (const name of decidedByFirst) {
    const [first, ...others] = offersOf(name).filter(isSet);
    if (first) yield toExplained([...path, name], members[name], [first], others);
  }
  yield* explainUrls([...path, 'allowed_urls'], right, offersOf('allowed_urls'));
  if (!isZeroValue(right.endpoints))
    yield toExplained(
      [...path, 'endpoints'],
      right.endpoints,
      offersOf('endpoints', listPolicies('rate_limit')).filter(isSet),
    );
  yield* explainLimits([...path, 'limit'], right.limit ?? {}, part => {
    const applied = listApiOffers(policies, apiId, part);
    return applied.length > 0 ? { applied, dropped: [] } : rootOffers(part);
  });
}

/** A policy without URL list allows every URL: lists of others have no effect then. */
function* explainUrls(
  path: readonly string[],
  right: AccessRight,
  offers: readonly Offer[],
): Generator<ExplainedValue> {
  const isListed = ({ value }: Offer) => !isZeroValue(value);
  if (!offers.some(isListed)) return;
  const isRestricted = offers.every(isListed);
  const chosen = isRestricted ? offers : offers.filter(offer => !isListed(offer));
  yield toExplained(path, right.allowed_urls ?? [], chosen, isRestricted ? [] : offers.filter(isListed));
}

/** A right of a key without policies. */
function* explainOwnRight(apiId: string, right: AccessRight): Generator<ExplainedValue> {
  const own = { source: keySource };
  yield toExplained(['access_rights', apiId], true, [own]);
  if (!limitIsSet(right.limit)) return;
  const offer = { ...own, limit: right.limit };
  yield* explainLimits(['access_rights', apiId, 'limit'], right.limit, () => ({ applied: [offer], dropped: [] }));
}

function* explainOtherMembers(key: Key, effective: Key, policies: readonly AppliedPolicy[]): Generator<ExplainedValue> {
  const shared = policies.filter(({ policy }) => !isPerApi(policy));
  const offers = (from: readonly AppliedPolicy[], read: (policy: Policy) => unknown): Offer[] =>
    from.map(({ source, policy }) => ({ source, value: read(policy) }));
  const own = (value: unknown): Offer => ({ source: keySource, value });
  const isSet = ({ value }: Offer) => !isZeroValue(value);

  if (!isZeroValue(effective.tags))
    yield toExplained(['tags'], effective.tags, [own(key.tags), ...offers(policies, it => it.tags)].filter(isSet));
  yield* explainMetaData(effective, [own(key.meta_data), ...offers(policies, it => it.meta_data)]);
  if (policies.length > 0) {
    const states = offers(policies, it => stateOf(it) === 'deny');
    const chosen = states.filter(({ value }) => value === (effective.is_inactive === true));
    yield toExplained(['is_inactive'], effective.is_inactive === true, chosen, [own(key.is_inactive)]);
  }
  for (const name of ['hmac_enabled', 'enable_http_signature_validation'] as const)
    if (effective[name] === true)
      yield toExplained([name], true, [own(key[name]), ...offers(shared, it => it[name])].filter(isSet));
  const lifetimes = offers(policies, it => Math.max(it.key_expires_in ?? 0, 0)).filter(isSet);
  yield toExplained(['expires'], effective.expires ?? 0, [lifetimes.at(-1) ?? own(key.expires)]);
  yield* explainLast(effective, 'post_expiry_action', [
    own(key.post_expiry_action),
    ...offers(policies, it => it.post_expiry_action),
  ]);
}

/** A member that the last one with it decides. */
function* explainLast(effective: Key, name: 'post_expiry_action', offers: readonly Offer[]): Generator<ExplainedValue> {
  const given = offers.filter(({ value }) => !isZeroValue(value));
  const last = given.at(-1);
  if (last) yield toExplained([name], effective[name], [last], given.slice(0, -1));
}

/** Meta data: the last policy with a member decides it. */
function* explainMetaData(effective: Key, offers: readonly Offer[]): Generator<ExplainedValue> {
  if (!isObject(effective.meta_data)) return;
  for (const [name, value] of Object.entries(effective.meta_data)) {
    const given = offers.flatMap(({ source, value: all }) =>
      isObject(all) && Object.hasOwn(all, name) ? [{ source, value: all[name] }] : [],
    );
    const last = given.at(-1);
    if (last) yield toExplained(['meta_data', name], value, [last], given.slice(0, -1));
  }
}
