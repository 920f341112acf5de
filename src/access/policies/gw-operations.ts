import { z } from 'zod';
import { type OwnerServices, resolveOwner } from '#apis/api/owner.ts';
import { toUnixSeconds } from '#base/clock.ts';
import { dependentsProblem, forceQuery } from '#operations/dependents.ts';
import { operation } from '#operations/operation.ts';
import { modifiedResponse, toModified, toWarningsMember } from '#operations/shapes.ts';
import { problem as peopleProblem } from '#people/problems.ts';
import { findPolicyInAnyOrganisation } from './find-policy.ts';
import { checkPolicy, newPolicy } from './new-policy.ts';
import type { DeletePolicyServices, PolicyServices } from './operations.ts';
import { problem } from './problems.ts';
import { fullPolicy, Policy, PolicyOfAnyId, policyIdOf, policyWarnings } from './schema.ts';
import type { StoredPolicy } from './store.ts';

/** Policies of the gateway API: authenticated by the gateway secret, across organisations. */
export interface GatewayPolicyServices extends PolicyServices, OwnerServices {}

type PolicyBody = z.output<typeof PolicyOfAnyId>;
const declared = { surface: 'gateway', noun: 'policies', permission: 'secret' } as const;
const params = z.object({ policyID: z.string().describe('Public or database id') });
const query = z.object({
  org_id: z.string().optional().describe('Organisation of the policy, if several have one with this id'),
});

async function requirePolicy(
  services: GatewayPolicyServices,
  id: string,
  orgId: string | undefined,
): Promise<StoredPolicy> {
  const policy = await findPolicyInAnyOrganisation(services, id, orgId);
  if (!policy) throw problem.not_found();
  return policy;
}

/** Validates a policy; without a name it keeps its previous name, or takes its id. */
function checkNamedPolicy(
  body: PolicyBody,
  { id, name }: Pick<StoredPolicy, 'id' | 'name'>,
  { settings }: GatewayPolicyServices,
) {
  if (!settings['policies.allow_unsafe_ids'] && !Policy.shape.id.safeParse(id).success) throw problem.id_unusable();
  return checkPolicy({ ...body, name: body.name?.trim() ? body.name : name }, settings);
}

export const listGatewayPolicies = operation({
  ...declared,
  name: 'listGatewayPolicies',
  method: 'GET',
  path: '/gw/policies',
  about: 'Lists the policies of all organisations, newest first.',
  returns: z.array(PolicyOfAnyId),
  handle: async (_call, { policies }: GatewayPolicyServices) => (await policies.all()).map(fullPolicy),
});

export const getGatewayPolicy = operation({
  ...declared,
  name: 'getGatewayPolicy',
  versioned: 'policies',
  method: 'GET',
  path: '/gw/policies/{policyID}',
  about: 'Returns a policy.',
  params,
  query,
  returns: PolicyOfAnyId,
  problems: [problem.not_found, problem.several],
  handle: async ({ params: { policyID }, query: { org_id } }, services: GatewayPolicyServices) =>
    fullPolicy(await requirePolicy(services, policyID, org_id)),
});

export const createGatewayPolicy = operation({
  ...declared,
  name: 'createGatewayPolicy',
  isRepeatable: true,
  method: 'POST',
  changesTraffic: true,
  path: '/gw/policies',
  about: 'Creates a policy with the id in the body, in the organisation of org_id or in the first one.',
  body: PolicyOfAnyId,
  returns: modifiedResponse,
  problems: [
    problem.id_missing,
    problem.id_unusable,
    problem.id_exists,
    problem.name_exists,
    problem.exists,
    peopleProblem.organisation_unknown,
    peopleProblem.limit_reached,
  ],
  async handle({ body, audit }, services: GatewayPolicyServices) {
    const id = policyIdOf(body);
    if (id === '') throw problem.id_missing();
    audit(id);
    const next = checkNamedPolicy(body, { id, name: id }, services);
    const orgId = await resolveOwner(services, body.org_id ?? '');
    audit(id, orgId);
    await services.policies.insert(newPolicy(next, orgId, services.clock.now()));
    return { ...toModified(id, 'added'), ...toWarningsMember({ warnings: policyWarnings(next) }) };
  },
});

export const updateGatewayPolicy = operation({
  ...declared,
  name: 'updateGatewayPolicy',
  versioned: 'policies',
  method: 'PUT',
  changesTraffic: true,
  path: '/gw/policies/{policyID}',
  about: 'Replaces a policy. Its ids and its organisation do not change.',
  params,
  query,
  body: PolicyOfAnyId,
  returns: modifiedResponse,
  problems: [problem.not_found, problem.id_mismatch, problem.several, problem.name_exists, problem.exists],
  async handle({ params: { policyID }, query: { org_id }, body, audit }, services: GatewayPolicyServices) {
    audit(policyID);
    const existing = await requirePolicy(services, policyID, org_id || body.org_id);
    audit(existing.id, existing.org_id);
    const ownIds = [existing.id, existing._id];
    if ([body.id, body._id].some(sent => sent && !ownIds.includes(sent))) throw problem.id_mismatch();
    const next = checkNamedPolicy(body, existing, services);
    const last_updated = String(toUnixSeconds(services.clock.now()));
    const changed = await services.policies.change(
      existing.org_id,
      existing._id,
      ({ _id, id, org_id: owner, date_created }) => ({
        ...next,
        _id,
        id,
        org_id: owner,
        date_created,
        last_updated,
      }),
    );
    if (!changed) throw problem.not_found();
    return { ...toModified(changed.id, 'modified'), ...toWarningsMember({ warnings: policyWarnings(next) }) };
  },
});

export const deleteGatewayPolicy = operation({
  ...declared,
  name: 'deleteGatewayPolicy',
  versioned: 'policies',
  method: 'DELETE',
  changesTraffic: true,
  path: '/gw/policies/{policyID}',
  about: 'Deletes a policy. A key without another policy is refused from then on.',
  params,
  query: query.extend(forceQuery.shape),
  returns: modifiedResponse,
  problems: [problem.not_found, problem.several, dependentsProblem],
  async handle(
    { actor, params: { policyID }, query: { org_id, force }, audit },
    services: GatewayPolicyServices & DeletePolicyServices,
  ) {
    audit(policyID);
    const existing = await requirePolicy(services, policyID, org_id);
    audit(existing.id, existing.org_id);
    const { org_id: orgId, _id: ref } = existing;
    await services.records.write(async () => {
      await services.refuseDependents('policies', { actor, orgId, ref }, force);
      if (!(await services.policies.remove(orgId, ref))) throw problem.not_found();
    });
    return toModified(existing.id, 'deleted');
  },
});

export const gatewayPolicyOperations = [
  listGatewayPolicies,
  getGatewayPolicy,
  createGatewayPolicy,
  updateGatewayPolicy,
  deleteGatewayPolicy,
];
