import type { AuthMethod, Model } from '#definition/model.ts';
import { ApiCompileError, type Step } from '../pipeline/step.ts';
import type { KeyCache } from './key-cache.ts';
import type { AuthServices } from './services.ts';

/** What each way in gives to those it lets in. Tokens and clients may name other policies; those are not the definition's. */
const policiesByMode: { readonly [Mode in AuthMethod]?: (config: Model[Mode]) => readonly string[] } = {
  jwt: ({ source, keySets, defaultPolicies, scopeToPolicy }) =>
    source.trim() === '' && keySets.length === 0 ? [] : [...defaultPolicies, ...Object.values(scopeToPolicy)],
  oidc({ providers, scopeToPolicy }) {
    const byScope = Object.values(scopeToPolicy);
    return byScope.length > 0 ? byScope : providers.flatMap(({ clientToPolicy }) => Object.values(clientToPolicy));
  },
};

/** The policies a definition cannot be served without. */
export function listReferencedPolicies(model: Model): string[] {
  const ways =
    model.alternatives.length > 0
      ? model.alternatives.flatMap(it => it.methods)
      : model.modes.map(mode => ({ mode, config: model[mode] }));
  const named = ways.flatMap(({ mode, config }) => policiesByMode[mode]?.(config as never) ?? []);
  return [...new Set(named)].filter(Boolean);
}

/** By what stays the same of a definition however it is rewritten before it is compiled. */
const missing = new WeakMap<Model['identity'], string>();
const defaultMaxIdsPerQuery = 500;

/** Looks up the policies that definitions name, a bounded number of ids per query, and notes the missing ones. */
export async function prefetchPolicies(
  models: readonly Model[],
  sessions: Pick<KeyCache, 'policies'>,
  maxIdsPerQuery = defaultMaxIdsPerQuery,
): Promise<void> {
  const wanted = Map.groupBy(
    models.flatMap(model => listReferencedPolicies(model).map(id => ({ id, identity: model.identity }))),
    ({ identity }) => identity.orgId,
  );
  for (const [orgId, asked] of wanted) {
    const ids = [...new Set(asked.map(({ id }) => id))];
    const found = new Set<string>();
    for (let at = 0; at < ids.length; at += maxIdsPerQuery)
      for (const id of (await sessions.policies(orgId, ids.slice(at, at + maxIdsPerQuery))).keys()) found.add(id);
    for (const { id, identity } of asked) if (!found.has(id) && !missing.has(identity)) missing.set(identity, id);
  }
}

/** Whoever is let in would have no rights, or other ones than the definition says. */
export const requiredPoliciesStep: Step<AuthServices> = {
  name: 'named-policies',
  build({ model }) {
    const id = missing.get(model.identity);
    if (id !== undefined) throw new ApiCompileError(`the policy ${id} is missing`);
    return undefined;
  },
};
