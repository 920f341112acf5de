import { withoutHidden } from '#access/hidden-rights.ts';
import { checkPolicy } from '#access/policies/new-policy.ts';
import { createPolicy, deletePolicy, updatePolicy } from '#access/policies/operations.ts';
import { type Policy, PolicyOfAnyId } from '#access/policies/schema.ts';
import type { StoredPolicy } from '#access/policies/store.ts';
import { createInvalidProblem } from '#operations/validation-error.ts';
import { type CheckInput, callOperation, checkSpec, type Kind, type RunContext, withoutMask } from '../kind.ts';
import { listAll } from '../list-all.ts';
import type { Spec } from '../schema.ts';

/** Members that the server sets or derives, besides the id. */
const derivedMembers: ReadonlySet<string> = new Set([
  'id',
  'org_id',
  'date_created',
  'last_updated',
  'active',
  'is_inactive',
  'auth_type',
  'auth_types',
  'access_rights_array',
]);

const toSpec = (policy: Policy): Spec =>
  Object.fromEntries(Object.entries(policy).filter(([name]) => !derivedMembers.has(name)));

function checkOne(context: RunContext, { id, given, before }: CheckInput) {
  const sent = checkSpec(context, PolicyOfAnyId, { id, given });
  if (sent.id && sent.id !== id) throw createInvalidProblem([{ path: 'id', message: `is ${sent.id}, not ${id}` }]);
  const stored = before?.source as StoredPolicy | undefined;
  const _id = sent._id || stored?._id;
  const checked = checkPolicy({ ...sent, id, ...(_id && { _id }) }, context.services.settings);
  if (stored && checked._id !== stored._id)
    throw createInvalidProblem([{ path: '_id', message: `is ${stored._id} and does not change` }]);
  return { id, given, spec: toSpec(checked) };
}

const toBody = (id: string, spec: Spec) => ({ ...spec, id });

/** Policies, by public id. */
export const policyKind: Kind = {
  name: 'policy',
  permission: 'policies',
  list: context => listAll(listAfter, context),
  listAfter,
  check: checkOne,
  async release({ services }, updates) {
    const renamed = updates.filter(({ object, before }) => object.spec.name !== before.spec.name);
    await services.policies.releaseNames(renamed.map(({ before }) => (before.source as StoredPolicy)._id));
  },
  mask: withoutMask,
  create: (context, { id, spec }) => callOperation(context, createPolicy, { body: toBody(id, spec) }),
  update: (context, { id, spec }) =>
    callOperation(context, updatePolicy, { params: { policyId: id }, body: toBody(id, spec) }),
  remove: (context, { id }) => callOperation(context, deletePolicy, { params: { policyId: id } }),
};

/** Rights to APIs that the actor must not see are left out, as in the single operations. */
async function listAfter({ services, actor }: RunContext, after: string, size: number) {
  const hidden = await services.ownership.findHidden(actor);
  const policies = await services.policies.listAfter(actor.orgId, { after, size, hiddenApis: hidden.apiIds });
  return policies.map(policy => ({ id: policy.id, spec: toSpec(withoutHidden(policy, hidden)), source: policy }));
}
