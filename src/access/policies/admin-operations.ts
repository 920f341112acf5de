import { z } from 'zod';
import { readOnlyMembers } from '#base/members.ts';
import { Problem } from '#base/problems.ts';
import { operation } from '#operations/operation.ts';
import { toStatus } from '#operations/shapes.ts';
import type { OrganisationStore } from '#people/organisations/store.ts';
import { problem as accessProblem } from '../problems.ts';
import { checkPolicy, newPolicy } from './new-policy.ts';
import type { PolicyServices } from './operations.ts';
import { type Policy, PolicyOfAnyId, policyIdOf } from './schema.ts';

export interface PolicyImportServices extends PolicyServices {
  organisations: OrganisationStore;
  defaultOrgId: () => Promise<string>;
}

const maxImportedPolicies = 10_000;
const identified = PolicyOfAnyId.refine(policy => policyIdOf(policy) !== '', { path: ['id'], message: 'is required' });

export const importPolicies = operation({
  surface: 'admin',
  noun: 'policies',
  permission: 'secret',
  name: 'importPolicies',
  method: 'POST',
  changesTraffic: true,
  path: '/admin/policies/import',
  about: 'Imports policies with their ids. Meta contains the result of each id.',
  example: { Data: [{ id: 'gold', name: 'Gold', rate: 100, per: 60 }] },
  body: readOnlyMembers(z.object({ Data: z.array(identified).max(maxImportedPolicies) }), ['Pages']),
  returns: z.object({ Status: z.string(), Message: z.string(), Meta: z.record(z.string(), z.boolean()) }),
  problems: [accessProblem.organisation_unknown],
  async handle({ body, audit }, services: PolicyImportServices) {
    const checked = body.Data.map((policy, index) => checkPolicy(policy, services.settings, `Data[${index}]`));
    const orgIds = await resolveOrganisations(services, body.Data);
    audit(checked.map(policyIdOf).join(',').slice(0, 1000));
    const imported = new Map<string, boolean>();
    for (const policy of checked) {
      imported.set(policyIdOf(policy), await importOne(services, policy, orgIds.get(policy.org_id ?? '') ?? ''));
    }
    return { ...toStatus('Policies imported'), Meta: Object.fromEntries(imported) };
  },
});

/** Organisation ids by the `org_id` of the policies; an empty one means the default organisation. */
async function resolveOrganisations(
  { organisations, defaultOrgId }: PolicyImportServices,
  policies: readonly Policy[],
) {
  const orgIds = new Map<string, string>();
  for (const sent of new Set(policies.map(policy => policy.org_id ?? ''))) {
    const id = sent || (await defaultOrgId());
    if (!(await organisations.get(id))) throw accessProblem.organisation_unknown({ detail: { id } });
    orgIds.set(sent, id);
  }
  return orgIds;
}

/** Imports one policy; false, without failing the import, when its id or name is taken. */
async function importOne(
  { policies, clock }: PolicyImportServices,
  policy: ReturnType<typeof checkPolicy>,
  orgId: string,
): Promise<boolean> {
  const created = newPolicy(policy, orgId, clock.now());
  const dateCreated = policy.date_created ?? '';
  try {
    await policies.insert(Number.isNaN(Date.parse(dateCreated)) ? created : { ...created, date_created: dateCreated });
    return true;
  } catch (error) {
    if (error instanceof Problem && error.status === 409) return false;
    throw error;
  }
}

export const adminPolicyOperations = [importPolicies];
