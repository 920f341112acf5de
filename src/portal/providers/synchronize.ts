import type { Policy } from '#access/policies/schema.ts';
import { policyIdOf, rightsOf, stateOf } from '#access/policies/schema.ts';
import { createSortableId } from '#base/ids.ts';
import { followApiChange } from '../certificates/settle.ts';
import type { ApiFacts } from '../control-plane.ts';
import { fromPlanPolicy, isPlanPolicy } from '../plans/policy.ts';
import { defaultPlan, type StoredPlan } from '../plans/schema.ts';
import type { PortalServices } from '../portal-stores.ts';
import { present, problem } from '../problems.ts';
import { buildApiDetails, fromProductPolicy, isProductPolicy } from '../products/policy.ts';
import { removeDroppedFiles } from '../products/removal.ts';
import { defaultProduct, type StoredProduct } from '../products/schema.ts';
import { callProvider, isProviderFailure } from './provider-client.ts';
import { addSyncRun, type StoredProvider, type SyncCounts, type SyncOutcome } from './schema.ts';
import { reportProviderDown, reportSynchronized } from './status-report.ts';

export type SyncServices = Pick<
  PortalServices,
  'portal' | 'controlPlane' | 'identityProvider' | 'records' | 'clock' | 'settings'
>;

export interface FetchedOffer {
  readonly products: readonly Policy[];
  readonly plans: readonly Policy[];
  /** Policies of the wanted tags that set access and limits, or neither: they become nothing. */
  readonly others: readonly Policy[];
  readonly apis: ReadonlyMap<string, ApiFacts>;
}

/**
 * Synchronises with a provider: access policies become products, limits policies plans. Products and plans whose
 * policy no longer exists are hidden, not removed, and shown again when it returns.
 */
export async function synchronize(provider: StoredProvider, services: SyncServices): Promise<SyncOutcome> {
  const { portal, records, clock } = services;
  let fetched: FetchedOffer;
  try {
    fetched = await callProvider(provider, services, plane => fetchOffer(provider, plane));
  } catch (cause) {
    if (!isProviderFailure(cause)) throw cause;
    await reportProviderDown(provider, String(cause.detail.reason), services);
    throw problem.sync_failed({ detail: { name: provider.Name, reason: cause.detail.reason }, cause });
  }
  return records.write(async () => {
    let before = provider;
    const updated = await portal.providers.change(provider.ID, it => {
      before = it;
      const { LastError: _former, ...rest } = it;
      return { ...rest, Status: 'Up', LastSyncedAt: clock.now() };
    });
    present(updated, 'Provider', 'unknown');
    const Products = await importProducts(provider.ID, fetched, services);
    const Plans = await importPlans(provider.ID, fetched, services);
    const counts = { Products: fetched.products.length, Plans: fetched.plans.length };
    await portal.providers.change(provider.ID, it => addSyncRun(it, { At: clock.now(), Error: '', Products, Plans }));
    await reportSynchronized(before, counts, services);
    return { Products, Plans };
  });
}

/** Reads the policies of the wanted tags, and the APIs of those that grant access. */
export async function fetchOffer(
  { MetaData }: StoredProvider,
  plane: { policies(): Promise<Policy[]>; apis(ids: readonly string[]): Promise<ReadonlyMap<string, ApiFacts>> },
): Promise<FetchedOffer> {
  const tags = new Set(MetaData.PoliciesTags);
  const hasWantedTag = (policy: Policy) => tags.size === 0 || policy.tags?.some(tag => tags.has(tag));
  const policies = (await plane.policies()).filter(policy => policyIdOf(policy) && hasWantedTag(policy));
  const products = policies.filter(isProductPolicy);
  const apiIds = new Set(products.flatMap(policy => Object.keys(rightsOf(policy))));
  const plans = policies.filter(isPlanPolicy);
  const others = policies.filter(policy => !isProductPolicy(policy) && !isPlanPolicy(policy));
  return { products, plans, others, apis: await plane.apis([...apiIds]) };
}

const isOffered = (policy: Policy) => stateOf(policy) === 'active';

/** Matches stored objects with policies by public policy id. */
export function matchByPolicy<Doc extends { ReferenceID: string }>(docs: readonly Doc[], policies: readonly Policy[]) {
  const byId = new Map(policies.map(policy => [policyIdOf(policy), policy]));
  const knownIds = new Set(docs.map(doc => doc.ReferenceID));
  return {
    existing: docs.filter(doc => doc.ReferenceID !== '').map(doc => ({ doc, policy: byId.get(doc.ReferenceID) })),
    fresh: policies.filter(policy => !knownIds.has(policyIdOf(policy))),
  };
}

/** Members of a product that a synchronisation takes from its policy. */
export const readProduct = (policy: Policy, apis: FetchedOffer['apis'], before: StoredProduct | undefined) => ({
  ...fromProductPolicy(policy),
  APIDetails: buildApiDetails(Object.keys(rightsOf(policy)), apis, before?.APIDetails),
  Hidden: !isOffered(policy),
});

/** Members of a plan that a synchronisation takes from its policy. */
export const readPlan = (policy: Policy) => ({ ...fromPlanPolicy(policy), Hidden: !isOffered(policy) });

async function importProducts(
  ProviderID: number,
  { products: policies, apis }: FetchedOffer,
  services: SyncServices,
): Promise<SyncCounts> {
  const { portal, clock } = services;
  const { existing, fresh } = matchByPolicy(await portal.products.ofProvider(ProviderID), policies);
  const counts: SyncCounts = { Added: fresh.length, Changed: 0, Hidden: 0 };
  for (const { doc, policy } of existing) {
    let locked = doc;
    const changed = await portal.products.change(doc.ID, it => {
      locked = it;
      const next = policy ? { ...it, ...readProduct(policy, apis, it) } : { ...it, Hidden: true };
      return updateIfChanged(it, next, clock.now());
    });
    if (!changed) continue;
    countChange(counts, locked, changed);
    await removeDroppedFiles(locked, changed, portal);
    await followApiChange(locked, changed, services);
  }
  for (const policy of fresh) {
    const now = clock.now();
    const Path = await portal.products.findFreePath(policy.name ?? '', now);
    await portal.products.insert({
      ...defaultProduct,
      ...readProduct(policy, apis, undefined),
      CID: createSortableId(now),
      Path,
      ProviderID,
      CreatedAt: now,
      UpdatedAt: now,
    });
  }
  return counts;
}

async function importPlans(
  ProviderID: number,
  { plans: policies }: FetchedOffer,
  services: SyncServices,
): Promise<SyncCounts> {
  const { portal, clock } = services;
  const { existing, fresh } = matchByPolicy(await portal.plans.ofProvider(ProviderID), policies);
  const counts: SyncCounts = { Added: fresh.length, Changed: 0, Hidden: 0 };
  for (const { doc, policy } of existing)
    await portal.plans.change(doc.ID, (it): StoredPlan => {
      const next = policy ? { ...it, ...readPlan(policy) } : { ...it, Hidden: true };
      const changed = updateIfChanged(it, next, clock.now());
      countChange(counts, it, changed);
      return changed;
    });
  for (const policy of fresh) {
    const now = clock.now();
    const dates = { CreatedAt: now, UpdatedAt: now };
    await portal.plans.insert({
      ...defaultPlan,
      ...readPlan(policy),
      CID: createSortableId(now),
      ProviderID,
      ...dates,
    });
  }
  return counts;
}

export function countChange<Doc extends { readonly Hidden: boolean }>(
  counts: SyncCounts,
  before: Doc,
  after: Doc,
): void {
  if (before === after) return;
  if (after.Hidden && !before.Hidden) counts.Hidden++;
  else counts.Changed++;
}

/** Sets UpdatedAt only where something changed. */
const updateIfChanged = <Doc extends { UpdatedAt: number }>(before: Doc, after: Doc, now: number): Doc =>
  JSON.stringify(before) === JSON.stringify(after) ? before : { ...after, UpdatedAt: now };
