import type { Clock } from '#base/clock.ts';
import { isZeroValue } from '#base/json-tree.ts';
import type { Settings } from '#base/settings.ts';
import { createInvalidProblem, type ValidationError } from '#operations/validation-error.ts';
import type { ApiSummary, FindApis } from '../api-lookup.ts';
import { policyIdsOf, type Rejection } from '../policies/apply-policies.ts';
import { decidedByFirst } from '../policies/merge-policies.ts';
import { rightsOf } from '../policies/schema.ts';
import type { PolicyStore, StoredPolicy } from '../policies/store.ts';
import type { KeyContext, KeyFault } from './creation.ts';
import type { Key } from './schema.ts';
import type { KeyKind } from './store.ts';

/** Loads the context of the key rules, and maps their rejections to faults. */

/** Bounds of references in one key: each is an index row. */
const maxAccessRights = 1000;
const maxPolicies = 100;
const maxApiIdLength = 256;
const apiLookupBatchSize = 1000;

export interface ResolvedPolicies {
  /** Policies by the id in the key. */
  readonly byId: ReadonlyMap<string, StoredPolicy>;
  readonly publicIds: readonly string[];
}

/** Path of the nth policy reference of a key. */
const policyPath = (key: Key, index: number) =>
  key.apply_policies?.length ? `apply_policies[${index}]` : 'apply_policy_id';

function refuseTooMuch(key: Key, policyIds: readonly string[]): void {
  const apiIds = Object.keys(key.access_rights ?? {});
  const faults: ValidationError[] = [];
  if (policyIds.length > maxPolicies)
    faults.push({ path: 'apply_policies', message: `may name at most ${maxPolicies} policies` });
  if (apiIds.length > maxAccessRights)
    faults.push({ path: 'access_rights', message: `may name at most ${maxAccessRights} APIs` });
  if (apiIds.some(apiId => apiId.length > maxApiIdLength))
    faults.push({ path: 'access_rights', message: `an API id may have at most ${maxApiIdLength} characters` });
  if (faults.length > 0) throw createInvalidProblem(faults);
}

/** Resolves the policies of a key. All must exist: a misspelt id would silently grant nothing. */
export async function resolvePolicies(
  { policies }: { policies: PolicyStore },
  orgId: string,
  key: Key,
): Promise<ResolvedPolicies> {
  const ids = policyIdsOf(key);
  refuseTooMuch(key, ids);
  const byId = await policies.findByIds(orgId, ids);
  const faults = ids.flatMap((id, index) =>
    byId.has(id) ? [] : [{ path: policyPath(key, index), message: `there is no policy ${id}` }],
  );
  if (faults.length > 0) throw createInvalidProblem(faults);
  return { byId, publicIds: [...byId.values()].map(policy => policy.id) };
}

/** Inactive policies accept no new keys; keys that have them keep them. */
export function refuseInactivePolicies(key: Key, { byId }: ResolvedPolicies, previous: Key = {}): void {
  const before = new Set(policyIdsOf(previous));
  const faults = policyIdsOf(key).flatMap((id, index) => {
    const { state } = byId.get(id)!;
    if (state === 'active' || before.has(id)) return [];
    return [
      { path: policyPath(key, index), message: `the policy ${id} is in state ${state}, which allows no new keys` },
    ];
  });
  if (faults.length > 0) throw createInvalidProblem(faults);
}

interface ContextInput {
  readonly orgId: string;
  readonly key: Key;
  readonly kind: KeyKind;
  readonly resolved: ResolvedPolicies;
}

interface ContextServices {
  findApis: FindApis;
  clock: Clock;
  settings: Settings;
}

/** Basic-auth users and organisation limits may have no rights; token keys only where the setting allows it. */
export async function buildKeyContext(
  { findApis, clock, settings }: ContextServices,
  { orgId, key, kind, resolved }: ContextInput,
): Promise<KeyContext> {
  const rights = [key.access_rights ?? {}, ...[...resolved.byId.values()].map(rightsOf)];
  const apis = await findApisInBatches(findApis, orgId, [...new Set(rights.flatMap(Object.keys))]);
  refuseMcpRights(key, apis);
  return {
    orgId,
    policies: resolved.byId,
    nowMs: clock.now(),
    allowMasterKeys: kind !== 'token' || settings['keys.allow_master_keys'],
    knowsApi: apiId => apis.has(apiId),
    keepsQuota: apiId => apis.get(apiId)?.keepsQuota === true,
  };
}

/** Rights to JSON-RPC methods and primitives have no effect on an API that is no MCP proxy. */
function refuseMcpRights({ access_rights }: Key, apis: ReadonlyMap<string, ApiSummary>): void {
  const faults = Object.entries(access_rights ?? {}).flatMap(([apiId, right]) =>
    apis.get(apiId)?.isMcp === false
      ? decidedByFirst
          .filter(name => !isZeroValue(right[name]))
          .map(name => ({ path: `access_rights.${apiId}.${name}`, message: 'is for MCP proxies only' }))
      : [],
  );
  if (faults.length > 0) throw createInvalidProblem(faults);
}

async function findApisInBatches(findApis: FindApis, orgId: string, apiIds: readonly string[]) {
  const apis = new Map<string, ApiSummary>();
  for (let at = 0; at < apiIds.length; at += apiLookupBatchSize) {
    for (const [apiId, api] of await findApis(orgId, apiIds.slice(at, at + apiLookupBatchSize))) apis.set(apiId, api);
  }
  return apis;
}

const faultPaths: Partial<Record<KeyFault, string>> = {
  no_access_rights: 'access_rights',
  policies_malformed: 'meta_data.policies',
  certificate_removed: 'certificate',
};

/** Throws a rejection of the rules as a fault of the member to change. */
export function throwInvalidKey({ reason, message }: Rejection<KeyFault>): never {
  const hint = reason === 'no_access_rights' ? `${message}, or name a policy in apply_policies` : message;
  throw createInvalidProblem([{ path: faultPaths[reason] ?? 'apply_policies', message: hint }]);
}
