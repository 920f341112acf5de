import type { Clock } from '#base/clock.ts';
import type { Settings } from '#base/settings.ts';
import { type Fault, invalid } from '#operations/validation-error.ts';
import type { FindApis, KnownApi } from '../api-lookup.ts';
import { policyIdsOf, type Refused } from '../policies/apply-policies.ts';
import { rightsOf } from '../policies/schema.ts';
import type { PolicyStore, StoredPolicy } from '../policies/store.ts';
import type { KeyContext, KeyFault } from './creation.ts';
import type { Key } from './schema.ts';
import type { KeyKind } from './store.ts';

/** What the rules about keys need to know before they decide, and how a refusal reads. */

/** Bounds on what one key may name: each is a row of an index. */
const rightsAtMost = 1000;
const policiesAtMost = 100;
const apiIdAtMost = 256;
const apisAtOnce = 1000;

export interface NamedPolicies {
  /** Each under the id the key names it by. */
  readonly found: ReadonlyMap<string, StoredPolicy>;
  readonly publicIds: readonly string[];
}

/** Where a key names its nth policy. */
const placeOf = (key: Key, index: number) =>
  key.apply_policies?.length ? `apply_policies[${index}]` : 'apply_policy_id';

function refuseTooMuch(key: Key, policyIds: readonly string[]): void {
  const apiIds = Object.keys(key.access_rights ?? {});
  const faults: Fault[] = [];
  if (policyIds.length > policiesAtMost)
    faults.push({ path: 'apply_policies', message: `may name at most ${policiesAtMost} policies` });
  if (apiIds.length > rightsAtMost)
    faults.push({ path: 'access_rights', message: `may name at most ${rightsAtMost} APIs` });
  if (apiIds.some(apiId => apiId.length > apiIdAtMost))
    faults.push({ path: 'access_rights', message: `an API id may have at most ${apiIdAtMost} characters` });
  if (faults.length > 0) throw invalid(faults);
}

/** The policies a key names, all of which must exist: one that is misspelt would grant nothing, silently. */
export async function namedPolicies(
  { policies }: { policies: PolicyStore },
  orgId: string,
  key: Key,
): Promise<NamedPolicies> {
  const ids = policyIdsOf(key);
  refuseTooMuch(key, ids);
  const found = await policies.named(orgId, ids);
  const faults = ids.flatMap((id, index) =>
    found.has(id) ? [] : [{ path: placeOf(key, index), message: `there is no policy ${id}` }],
  );
  if (faults.length > 0) throw invalid(faults);
  return { found, publicIds: [...found.values()].map(policy => policy.id) };
}

/** Policies that are not active take no new keys; a key they govern already may keep them. */
export function refuseClosed(key: Key, { found }: NamedPolicies, previous: Key = {}): void {
  const before = new Set(policyIdsOf(previous));
  const faults = policyIdsOf(key).flatMap((id, index) => {
    const { state } = found.get(id)!;
    if (state === 'active' || before.has(id)) return [];
    return [{ path: placeOf(key, index), message: `policy ${id} is in state ${state} and takes no new keys` }];
  });
  if (faults.length > 0) throw invalid(faults);
}

interface Asked {
  readonly orgId: string;
  readonly key: Key;
  readonly kind: KeyKind;
  readonly named: NamedPolicies;
}

interface ContextTools {
  findApis: FindApis;
  clock: Clock;
  settings: Settings;
}

/** A user with a password may be made before it is given rights, and an organisation's limits are not about rights. */
export async function contextOf(
  { findApis, clock, settings }: ContextTools,
  { orgId, key, kind, named }: Asked,
): Promise<KeyContext> {
  const rights = [key.access_rights ?? {}, ...[...named.found.values()].map(rightsOf)];
  const apis = await knownApis(findApis, orgId, [...new Set(rights.flatMap(Object.keys))]);
  return {
    orgId,
    policies: named.found,
    nowMs: clock.now(),
    allowMasterKeys: kind !== 'token' || settings['keys.allow_master_keys'],
    knowsApi: apiId => apis.has(apiId),
    keepsQuota: apiId => apis.get(apiId)?.keepsQuota === true,
  };
}

async function knownApis(findApis: FindApis, orgId: string, apiIds: readonly string[]) {
  const known = new Map<string, KnownApi>();
  for (let at = 0; at < apiIds.length; at += apisAtOnce) {
    for (const [apiId, api] of await findApis(orgId, apiIds.slice(at, at + apisAtOnce))) known.set(apiId, api);
  }
  return known;
}

const places: Partial<Record<KeyFault, string>> = {
  no_access_rights: 'access_rights',
  policies_malformed: 'meta_data.policies',
  certificate_removed: 'certificate',
};

/** A refusal of the rules, with the member that has to change. */
export function refused({ reason, message }: Refused<KeyFault>): never {
  const hint = reason === 'no_access_rights' ? `${message}, or name a policy in apply_policies` : message;
  throw invalid([{ path: places[reason] ?? 'apply_policies', message: hint }]);
}
