import type { Policy } from '#access/policies/schema.ts';
import { policyIdOf, rightsOf, stateOf } from '#access/policies/schema.ts';
import { createSortableId } from '#base/ids.ts';
import type { ApiFacts } from '../control-plane.ts';
import { fromPlanPolicy, isPlanPolicy } from '../plans/policy.ts';
import { newPlan, type StoredPlan } from '../plans/schema.ts';
import type { PortalTools } from '../portal-stores.ts';
import { present, problem } from '../problems.ts';
import { detailsOf, fromPolicy, isProductPolicy } from '../products/policy.ts';
import { newProduct, type StoredProduct } from '../products/schema.ts';
import { isProviderFailure, reach } from './provider-client.ts';
import type { StoredProvider } from './schema.ts';

export type SyncTools = Pick<PortalTools, 'portal' | 'controlPlane' | 'records' | 'clock'>;

interface Fetched {
  readonly products: readonly Policy[];
  readonly plans: readonly Policy[];
  readonly apis: ReadonlyMap<string, ApiFacts>;
}

/**
 * Learns what a provider offers: access policies become products, limit policies plans. Products and plans whose
 * policy is gone are hidden, not removed, and come back with it.
 */
export async function synchronize(provider: StoredProvider, tools: SyncTools): Promise<void> {
  const { portal, records, clock } = tools;
  let fetched: Fetched;
  try {
    fetched = await reach(provider, tools, plane => fetchAll(provider, plane));
  } catch (cause) {
    if (!isProviderFailure(cause)) throw cause;
    await portal.providers.change(provider.ID, it => ({ ...it, Status: 'Down' }));
    throw problem.sync_failed({ detail: { name: provider.Name, reason: cause.detail.reason }, cause });
  }
  await records.write(async () => {
    const known = await portal.providers.change(provider.ID, it => ({
      ...it,
      Status: 'Up',
      LastSyncedAt: clock.now(),
    }));
    present(known, 'Provider', 'unknown');
    await takeProducts(provider.ID, fetched, tools);
    await takePlans(provider.ID, fetched, tools);
  });
}

async function fetchAll(
  { MetaData }: StoredProvider,
  plane: { policies(): Promise<Policy[]>; apis(ids: readonly string[]): Promise<ReadonlyMap<string, ApiFacts>> },
): Promise<Fetched> {
  const wanted = new Set(MetaData.PoliciesTags);
  const tagged = (policy: Policy) => wanted.size === 0 || policy.tags?.some(tag => wanted.has(tag));
  const policies = (await plane.policies()).filter(policy => policyIdOf(policy) && tagged(policy));
  const products = policies.filter(isProductPolicy);
  const apiIds = new Set(products.flatMap(policy => Object.keys(rightsOf(policy))));
  return { products, plans: policies.filter(isPlanPolicy), apis: await plane.apis([...apiIds]) };
}

const isOffered = (policy: Policy) => stateOf(policy) === 'active';

/** Pairs what is known with what was found, by the id keys name the policy by. */
function matched<Doc extends { ReferenceID: string }>(known: readonly Doc[], policies: readonly Policy[]) {
  const byId = new Map(policies.map(policy => [policyIdOf(policy), policy]));
  const had = new Set(known.map(doc => doc.ReferenceID));
  return {
    kept: known.filter(doc => doc.ReferenceID !== '').map(doc => ({ doc, policy: byId.get(doc.ReferenceID) })),
    fresh: policies.filter(policy => !had.has(policyIdOf(policy))),
  };
}

async function takeProducts(ProviderID: number, { products: policies, apis }: Fetched, tools: SyncTools) {
  const { portal, clock } = tools;
  const { kept, fresh } = matched(await portal.products.ofProvider(ProviderID), policies);
  const learnt = (policy: Policy, before: StoredProduct | undefined) => ({
    ...fromPolicy(policy),
    APIDetails: detailsOf(Object.keys(rightsOf(policy)), apis, before?.APIDetails),
    Hidden: !isOffered(policy),
  });
  for (const { doc, policy } of kept)
    await portal.products.change(doc.ID, it =>
      touched(it, policy ? { ...it, ...learnt(policy, it) } : { ...it, Hidden: true }, clock.now()),
    );
  for (const policy of fresh) {
    const now = clock.now();
    const Path = await portal.products.freePath(policy.name ?? '', now);
    await portal.products.insert({
      ...newProduct,
      ...learnt(policy, undefined),
      CID: createSortableId(now),
      Path,
      ProviderID,
      CreatedAt: now,
      UpdatedAt: now,
    });
  }
}

async function takePlans(ProviderID: number, { plans: policies }: Fetched, tools: SyncTools) {
  const { portal, clock } = tools;
  const { kept, fresh } = matched(await portal.plans.ofProvider(ProviderID), policies);
  const learnt = (policy: Policy) => ({ ...fromPlanPolicy(policy), Hidden: !isOffered(policy) });
  for (const { doc, policy } of kept)
    await portal.plans.change(
      doc.ID,
      (it): StoredPlan => touched(it, policy ? { ...it, ...learnt(policy) } : { ...it, Hidden: true }, clock.now()),
    );
  for (const policy of fresh) {
    const now = clock.now();
    const dates = { CreatedAt: now, UpdatedAt: now };
    await portal.plans.insert({ ...newPlan, ...learnt(policy), CID: createSortableId(now), ProviderID, ...dates });
  }
}

/** An object that stayed the same keeps its date. */
const touched = <Doc extends { UpdatedAt: number }>(before: Doc, after: Doc, now: number): Doc =>
  JSON.stringify(before) === JSON.stringify(after) ? before : { ...after, UpdatedAt: now };
