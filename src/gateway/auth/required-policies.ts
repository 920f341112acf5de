import type { AuthMethod, Model } from '#definition/model.ts';
import { ApiCompileError, type Step } from '../pipeline/step.ts';
import type { KeyCache } from './key-cache.ts';

/** Policies that a definition assigns, by auth method. Those that tokens and clients name are not listed. */
const policiesByMode: { readonly [Mode in AuthMethod]?: (config: Model[Mode]) => readonly string[] } = {
  jwt: ({ source, keySets, defaultPolicies, scopeToPolicy }) =>
    source.trim() === '' && keySets.length === 0 ? [] : [...defaultPolicies, ...Object.values(scopeToPolicy)],
  oidc({ providers, scopeToPolicy }) {
    const byScope = Object.values(scopeToPolicy);
    return byScope.length > 0 ? byScope : providers.flatMap(({ clientToPolicy }) => Object.values(clientToPolicy));
  },
};

/** Policies whose absence makes the API unavailable. */
export function listReferencedPolicies(model: Model): string[] {
  const ways =
    model.securityRequirements.length > 0
      ? model.securityRequirements.flatMap(it => it.methods)
      : model.authMethods.map(mode => ({ mode, config: model[mode] }));
  const policyIds = ways.flatMap(({ mode, config }) => policiesByMode[mode]?.(config as never) ?? []);
  return [...new Set(policyIds)].filter(Boolean);
}

/** By identity object: it stays the same when the definition is rewritten before it is compiled. */
const missing = new WeakMap<Model['identity'], string>();
const defaultMaxIdsPerQuery = 500;

/** Loads the policies that definitions reference, a bounded number of ids per query, and records missing ones. */
export async function prefetchPolicies(
  models: readonly Model[],
  sessions: Pick<KeyCache, 'policies'>,
  maxIdsPerQuery = defaultMaxIdsPerQuery,
): Promise<void> {
  const referencesByOrg = Map.groupBy(
    models.flatMap(model => listReferencedPolicies(model).map(id => ({ id, identity: model.identity }))),
    ({ identity }) => identity.orgId,
  );
  for (const [orgId, references] of referencesByOrg) {
    const ids = [...new Set(references.map(({ id }) => id))];
    const existing = new Set<string>();
    for (let at = 0; at < ids.length; at += maxIdsPerQuery)
      for (const id of (await sessions.policies(orgId, ids.slice(at, at + maxIdsPerQuery))).keys()) existing.add(id);
    for (const { id, identity } of references)
      if (!existing.has(id) && !missing.has(identity)) missing.set(identity, id);
  }
}

/** Required policies: without them sessions would have other rights than the definition assigns. */
export const requiredPoliciesStep: Step = {
  name: 'named-policies',
  build({ model }) {
    const id = missing.get(model.identity);
    if (id !== undefined) throw new ApiCompileError(`the policy ${id} is missing`);
    return undefined;
  },
};
