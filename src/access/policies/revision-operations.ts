import { toUnixSeconds } from '#base/clock.ts';
import { declareRevisionOperations, type RestoreCall, type RevisionServices } from '#operations/revision-operations.ts';
import { problem as peopleProblem } from '#people/problems.ts';
import { isVisible, refuseHiddenRights, withoutHidden } from '../hidden-rights.ts';
import { checkPolicy, newPolicy } from './new-policy.ts';
import type { PolicyServices } from './operations.ts';
import { problem } from './problems.ts';
import { fullPolicy } from './schema.ts';
import type { StoredPolicy } from './store.ts';

/** Restores a policy by the rules of an update; a removed one gets its ids again. */
async function restorePolicy(
  { actor, state, objectId, isExisting }: RestoreCall<StoredPolicy>,
  services: PolicyServices,
) {
  const { policies, clock, settings } = services;
  const next = checkPolicy(state, settings);
  if (!isExisting) {
    await refuseHiddenRights(services, actor, next);
    await policies.insert(newPolicy(next, actor.orgId, clock.now()));
    return;
  }
  const current = await policies.get(actor.orgId, objectId);
  if (!current) throw problem.not_found();
  await refuseHiddenRights(services, actor, next, current);
  const last_updated = String(toUnixSeconds(clock.now()));
  const restored = await policies.change(actor.orgId, objectId, ({ _id, id, org_id, date_created }) => ({
    ...next,
    _id,
    id,
    org_id,
    date_created,
    last_updated,
  }));
  if (!restored) throw problem.not_found();
}

export const policyRevisionOperations = declareRevisionOperations<
  StoredPolicy,
  PolicyServices & RevisionServices,
  'policies',
  'policyId'
>({
  singular: 'Policy',
  plural: 'policies',
  param: 'policyId',
  noun: 'policies',
  article: 'a policy',
  permissionName: 'policies',
  changesTraffic: true,
  notFound: problem.not_found,
  problems: [problem.name_exists, problem.id_exists, problem.exists, peopleProblem.limit_reached],
  history: ({ policies }) => policies.history,
  toView: state => ({ ...fullPolicy(state), last_updated: undefined }),
  async toViewFor(actor, { ownership }) {
    const hidden = await ownership.findHidden(actor);
    return state => (isVisible(state, hidden) ? fullPolicy(withoutHidden(state, hidden)) : undefined);
  },
  toName: state => state.name ?? '',
  isExisting: async (orgId, objectId, { policies }) => (await policies.get(orgId, objectId))?._id === objectId,
  toPlainWrite: ({ state, isExisting }) => ({
    operation: isExisting ? 'updatePolicy' : 'createPolicy',
    method: isExisting ? 'PUT' : 'POST',
    path: isExisting ? `/api/portal/policies/${state.id}` : '/api/portal/policies',
    body: fullPolicy(state),
  }),
  restore: restorePolicy,
});
