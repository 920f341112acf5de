import { z } from 'zod';
import { policyIdOf } from '#access/policies/schema.ts';
import { createSortableId } from '#base/ids.ts';
import { operation } from '#operations/operation.ts';
import { createInvalidProblem } from '#operations/validation-error.ts';
import { isClaimed } from '../access-requests/decision.ts';
import { partnersOf } from '../join-table-store.ts';
import type { PortalServices } from '../portal-stores.ts';
import { present, problem } from '../problems.ts';
import { callProvider } from '../providers/provider-client.ts';
import { okResponse, okStatus, portalId, portalSearchQuery } from '../shapes.ts';
import { createPlanPolicy, updatePlanPolicy } from './policy.ts';
import {
  applyPlanChange,
  defaultPlan,
  PlanChange,
  PlanListRow,
  PlanWrite,
  PortalPlan,
  type StoredPlan,
  toPlanRow,
  toPlanView,
} from './schema.ts';

const declared = { surface: 'portal', noun: 'plans', permission: 'secret' } as const;
const params = z.object({ plan_id: portalId });
type Services = Pick<PortalServices, 'portal' | 'controlPlane' | 'records' | 'clock'>;
const failures = [problem.provider_refused, problem.provider_unavailable] as const;

async function loadPlanView(plan: StoredPlan, { portal: { catalogues } }: Pick<PortalServices, 'portal'>) {
  return toPlanView(plan, partnersOf(await catalogues.plans.leftOf([plan.ID]), plan.ID));
}

/** Resolves the catalogues of a body before any write; undefined when not sent. */
async function resolveCatalogues({ Catalogues }: PlanChange, { portal }: Pick<PortalServices, 'portal'>) {
  if (Catalogues === undefined) return undefined;
  return (await portal.catalogues.resolveReferences(Catalogues ?? [], 'Catalogues', 'catalogue')).map(({ ID }) => ID);
}

export const listPlans = operation({
  ...declared,
  name: 'listPlans',
  method: 'GET',
  path: '/portal-api/plans',
  about: 'Lists the plans, newest first.',
  query: portalSearchQuery,
  returns: z.array(PlanListRow),
  async handle({ query }, { portal }: Pick<PortalServices, 'portal'>) {
    const found = await portal.plans.searchPage(query);
    const catalogues = await portal.catalogues.plans.leftOf(found.map(({ ID }) => ID));
    return found.map(it => ({ ...toPlanRow(it), Catalogues: partnersOf(catalogues, it.ID) }));
  },
});

export const createPlan = operation({
  ...declared,
  name: 'createPlan',
  method: 'POST',
  changesTraffic: true,
  path: '/portal-api/plans',
  about: 'Creates a plan and its limits policy at the provider. An omitted limit means no limit.',
  body: PlanWrite,
  returns: PortalPlan,
  problems: [...failures, problem.cid_taken],
  async handle({ body, audit }, services: Services) {
    const { portal, records, clock } = services;
    const provider = await portal.providers.get(body.ProviderID);
    if (!provider)
      throw createInvalidProblem([{ path: 'ProviderID', message: `there is no provider ${body.ProviderID}` }]);
    if (body.CID && (await portal.plans.get({ cid: body.CID }))) throw problem.cid_taken();
    const catalogues = await resolveCatalogues(body, services);
    const now = clock.now();
    const names = { CID: body.CID ?? createSortableId(now), Name: body.Name, ProviderID: provider.ID, ReferenceID: '' };
    const plan = applyPlanChange({ ...defaultPlan, ...names, CreatedAt: now, UpdatedAt: now }, body);
    const policy = createPlanPolicy(plan, provider.MetaData.PoliciesTags);
    const ReferenceID = policyIdOf(await callProvider(provider, services, plane => plane.createPolicy(policy)));
    try {
      const created = await records.write(async () => {
        await portal.providers.lock(provider.ID);
        const inserted = await portal.plans.insertOrReplaceSynchronized({ ...plan, ID: 0, ReferenceID });
        if (catalogues) await portal.catalogues.plans.setLeftOf(inserted.ID, catalogues);
        return inserted;
      });
      audit(String(created.ID));
      return loadPlanView(created, services);
    } catch (error) {
      await callProvider(provider, services, plane => plane.deletePolicy(ReferenceID));
      throw error;
    }
  },
});

export const getPlan = operation({
  ...declared,
  name: 'getPlan',
  method: 'GET',
  path: '/portal-api/plans/{plan_id}',
  about: 'Returns a plan.',
  params,
  returns: PortalPlan,
  problems: [problem.not_found],
  async handle({ params: { plan_id } }, services: Pick<PortalServices, 'portal'>) {
    return loadPlanView(present(await services.portal.plans.get(plan_id), 'Plan'), services);
  },
});

export const updatePlan = operation({
  ...declared,
  name: 'updatePlan',
  method: 'PUT',
  changesTraffic: true,
  path: '/portal-api/plans/{plan_id}',
  about: 'Updates a plan and its limits policy together. Omitted members do not change.',
  params,
  body: PlanChange,
  returns: PortalPlan,
  problems: [problem.not_found, ...failures],
  async handle({ params: { plan_id }, body, audit }, services: Services) {
    const { portal, records, clock } = services;
    const before = present(await portal.plans.get(plan_id), 'Plan');
    audit(String(before.ID));
    if (body.ProviderID && body.ProviderID !== before.ProviderID)
      throw createInvalidProblem([
        { path: 'ProviderID', message: 'cannot be changed: the plan belongs to its provider' },
      ]);
    const catalogues = await resolveCatalogues(body, services);
    const provider = present(await portal.providers.get(before.ProviderID), 'Provider', 'unknown');
    const change = updatePlanPolicy(applyPlanChange(before, body), before);
    await callProvider(provider, services, plane => plane.updatePolicy(before.ReferenceID, change));
    const changed = await records.write(async () => {
      if (catalogues) await portal.catalogues.plans.setLeftOf(before.ID, catalogues);
      return portal.plans.change(before.ID, it => ({ ...applyPlanChange(it, body), UpdatedAt: clock.now() }));
    });
    return loadPlanView(present(changed, 'Plan'), services);
  },
});

export const deletePlan = operation({
  ...declared,
  name: 'deletePlan',
  method: 'DELETE',
  changesTraffic: true,
  path: '/portal-api/plans/{plan_id}',
  about: 'Deletes a plan and its limits policy, once no credential depends on it.',
  params,
  returns: okResponse,
  problems: [problem.not_found, problem.plan_in_use, ...failures],
  async handle({ params: { plan_id }, audit }, services: Services) {
    const { portal, records } = services;
    const { ID, ReferenceID, ProviderID, Hidden } = present(await portal.plans.get(plan_id), 'Plan');
    audit(String(ID));
    await hidePlan(ID, services);
    try {
      const provider = await portal.providers.get(ProviderID);
      if (provider) await callProvider(provider, services, plane => plane.deletePolicy(ReferenceID));
    } catch (error) {
      await portal.plans.change(ID, it => ({ ...it, Hidden }));
      throw error;
    }
    await records.write(async () => {
      await portal.catalogues.plans.setLeftOf(ID, []);
      await portal.plans.remove(ID);
    });
    return okStatus;
  },
});

/** Hides the plan, so that no credential is issued under it; refused while one exists. */
const hidePlan = (id: number, { portal, records, clock }: Services): Promise<void> =>
  records.write(async () => {
    await portal.plans.change(id, it => ({ ...it, Hidden: true }));
    const requests = await portal.accessRequests.listLive({ plan_id: id });
    const credentials = await portal.credentials.ofRequests(requests.map(({ ID }) => ID));
    const claimed = requests.filter(it => isClaimed(it, clock.now()));
    const count = credentials.length + claimed.length + (await portal.customCredentials.countOfPlan(id));
    if (count > 0) throw problem.plan_in_use({ detail: { count } });
  });

export const planOperations = [listPlans, createPlan, getPlan, updatePlan, deletePlan];
