import { z } from 'zod';
import type { Ownership } from '#apis/owners/store.ts';
import { type Clock, toUnixSeconds } from '#base/clock.ts';
import type { Settings } from '#base/settings.ts';
import type { Actor } from '#operations/actor.ts';
import { dependentsProblem, forceQuery, type RefuseDependents } from '#operations/dependents.ts';
import { operation } from '#operations/operation.ts';
import { pageNumber, statusResponse, toPageRequest, toStatus, toWarningsMember } from '#operations/shapes.ts';
import { problem as peopleProblem } from '#people/problems.ts';
import type { Records } from '#storage/records.ts';
import { isVisible, refuseHiddenRights, withoutHidden } from '../hidden-rights.ts';
import { checkPolicy, newPolicy } from './new-policy.ts';
import { problem } from './problems.ts';
import { fullPolicy, PolicyOfAnyId, policyStates, policyWarnings } from './schema.ts';
import { type PolicySearch, type PolicyStore, policySorts } from './store.ts';

export interface PolicyServices {
  policies: PolicyStore;
  clock: Clock;
  settings: Settings;
  ownership: Ownership;
}

export interface DeletePolicyServices extends PolicyServices {
  records: Records;
  refuseDependents: RefuseDependents;
}

const params = z.object({ policyId: z.string().describe('Public or database id') });
const policyList = z.object({ Data: z.array(PolicyOfAnyId).nullable(), Pages: z.int() });
const declared = { surface: 'dashboard', noun: 'policies' } as const;
const active = z.string().optional().describe('Any value restricts the list to active policies');

async function searchVisible(
  { policies, settings, ownership }: PolicyServices,
  actor: Actor,
  p: number,
  filters: PolicySearch,
) {
  const hidden = await ownership.findHidden(actor);
  const page = toPageRequest(p, settings['management.page_size']);
  const visibleFilters = { ...filters, hiddenApis: hidden.apiIds };
  const { items, pages, total } = await policies.search(actor.orgId, visibleFilters, page);
  return { items: items.map(it => fullPolicy(withoutHidden(it, hidden))), pages, total };
}

export const listPolicies = operation({
  ...declared,
  name: 'listPolicies',
  method: 'GET',
  path: '/api/portal/policies',
  about: 'Lists the policies of the caller’s organisation, newest first.',
  permission: 'policies:read',
  query: z.object({ p: pageNumber, active }),
  returns: policyList,
  async handle({ actor, query }, services: PolicyServices) {
    const states = query.active === undefined ? {} : { states: ['active'] as const };
    const { items, pages } = await searchVisible(services, actor, query.p, states);
    return { Data: items, Pages: pages };
  },
});

/** Comma-separated ids; an empty list does not filter. */
const idList = z
  .string()
  .max(10_000)
  .transform(text => {
    const ids = text.split(',').map(id => id.trim());
    const named = ids.filter(Boolean);
    return named.length > 0 ? named : undefined;
  })
  .optional();

const searchQuery = z.object({
  q: z.string().max(500).optional().describe('Part of the id or name of a policy'),
  policy_ids: idList.describe('Policy ids, separated by commas'),
  active,
  state: z.enum(policyStates).optional().describe('Policies in this state'),
  sort: z.enum(policySorts).optional().describe('Member to sort by, ascending; newest first if omitted'),
  api_id: idList.describe('API ids, separated by commas: policies that grant any of them'),
  auth_type: z.string().max(100).optional().describe('Policies whose auth_type equals it'),
  p: pageNumber,
});

export const searchPolicies = operation({
  ...declared,
  name: 'searchPolicies',
  method: 'GET',
  path: '/api/portal/policies/search',
  about: 'Finds policies that match all filters. Data is null if there are none.',
  permission: 'policies:read',
  query: searchQuery,
  returns: policyList,
  async handle({ actor, query }, services: PolicyServices) {
    const states = policyStates.filter(
      it => (query.active === undefined || it === 'active') && (query.state ?? it) === it,
    );
    const { items, pages, total } = await searchVisible(services, actor, query.p, {
      q: query.q,
      policyIds: query.policy_ids,
      ...(states.length < policyStates.length ? { states } : {}),
      apiIds: query.api_id,
      authType: query.auth_type || undefined,
      sort: query.sort,
    });
    return { Data: total === 0 ? null : items, Pages: pages };
  },
});

export const getPolicy = operation({
  ...declared,
  name: 'getPolicy',
  versioned: 'policies',
  method: 'GET',
  path: '/api/portal/policies/{policyId}',
  about: 'Returns a policy.',
  permission: 'policies:read',
  params,
  returns: PolicyOfAnyId,
  problems: [problem.not_found],
  async handle({ actor, params: { policyId } }, { policies, ownership }: PolicyServices) {
    const policy = await policies.get(actor.orgId, policyId);
    const hidden = await ownership.findHidden(actor);
    if (!policy || !isVisible(policy, hidden)) throw problem.not_found();
    return fullPolicy(withoutHidden(policy, hidden));
  },
});

async function requireVisiblePolicy({ policies, ownership }: PolicyServices, actor: Actor, policyId: string) {
  const policy = await policies.get(actor.orgId, policyId);
  if (!policy || !isVisible(policy, await ownership.findHidden(actor))) throw problem.not_found();
  return policy;
}

export const createPolicy = operation({
  ...declared,
  name: 'createPolicy',
  isRepeatable: true,
  method: 'POST',
  changesTraffic: true,
  path: '/api/portal/policies',
  about: 'Creates a policy; the message of the response is its id.',
  permission: 'policies:write',
  body: PolicyOfAnyId,
  returns: statusResponse,
  problems: [problem.name_exists, problem.id_exists, problem.exists, peopleProblem.limit_reached],
  async handle({ actor, body, audit }, { policies, clock, settings, ownership }: PolicyServices) {
    const policy = newPolicy(checkPolicy(body, settings), actor.orgId, clock.now());
    await refuseHiddenRights({ ownership }, actor, policy);
    audit(policy.id);
    await policies.insert(policy);
    return { ...toStatus(policy.id), ...toWarningsMember({ warnings: policyWarnings(policy) }) };
  },
});

export const updatePolicy = operation({
  ...declared,
  name: 'updatePolicy',
  versioned: 'policies',
  method: 'PUT',
  changesTraffic: true,
  path: '/api/portal/policies/{policyId}',
  about: 'Replaces a policy. Its ids, which keys refer to, do not change.',
  permission: 'policies:write',
  params,
  body: PolicyOfAnyId,
  returns: statusResponse,
  problems: [problem.not_found, problem.name_exists, problem.exists, problem.id_changed],
  async handle({ actor, params: { policyId }, body, audit }, services: PolicyServices) {
    const { policies, clock, settings } = services;
    audit(policyId);
    const next = checkPolicy(body, settings);
    await refuseHiddenRights(services, actor, next, await requireVisiblePolicy(services, actor, policyId));
    const changed = await policies.change(actor.orgId, policyId, ({ _id, id, org_id, date_created }) => {
      for (const [member, kept] of Object.entries({ _id, id })) {
        const sent = next[member];
        if (sent && sent !== _id && sent !== id) throw problem.id_changed({ detail: { member, current: kept } });
      }
      return { ...next, _id, id, org_id, date_created, last_updated: String(toUnixSeconds(clock.now())) };
    });
    if (!changed) throw problem.not_found();
    return { ...toStatus('Data updated'), ...toWarningsMember({ warnings: policyWarnings(next) }) };
  },
});

export const deletePolicy = operation({
  ...declared,
  name: 'deletePolicy',
  versioned: 'policies',
  method: 'DELETE',
  changesTraffic: true,
  path: '/api/portal/policies/{policyId}',
  about: 'Deletes a policy. A key without another policy is refused from then on.',
  permission: 'policies:write',
  params,
  query: forceQuery,
  returns: statusResponse,
  problems: [problem.not_found, dependentsProblem],
  async handle({ actor, params: { policyId }, query, audit }, services: DeletePolicyServices) {
    const { policies, records } = services;
    audit(policyId);
    await refuseHiddenRights(services, actor, await requireVisiblePolicy(services, actor, policyId));
    await records.write(async () => {
      await services.refuseDependents('policies', { actor, orgId: actor.orgId, ref: policyId }, query.force);
      if (!(await policies.remove(actor.orgId, policyId))) throw problem.not_found();
    });
    return toStatus('Data deleted');
  },
});

export const policyOperations = [listPolicies, searchPolicies, getPolicy, createPolicy, updatePolicy, deletePolicy];
