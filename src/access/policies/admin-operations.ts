import { z } from 'zod';
import { readOnlyMembers } from '#base/members.ts';
import { Problem } from '#base/problems.ts';
import { operation } from '#operations/operation.ts';
import { done } from '#operations/shapes.ts';
import type { OrganisationStore } from '#people/organisations/store.ts';
import { problem as accessProblem } from '../problems.ts';
import { checkedPolicy, newPolicy } from './new-policy.ts';
import type { PolicyTools } from './operations.ts';
import { idOf, type Policy, PolicyOfAnyId } from './schema.ts';

export interface PolicyImportTools extends PolicyTools {
  organisations: OrganisationStore;
  defaultOrgId: () => Promise<string>;
}

const importAtMost = 10_000;
const identified = PolicyOfAnyId.refine(policy => idOf(policy) !== '', { path: ['id'], message: 'is required' });

export const importPolicies = operation({
  surface: 'admin',
  noun: 'policies',
  permission: 'secret',
  name: 'importPolicies',
  method: 'POST',
  path: '/admin/policies/import',
  about: 'Makes policies with the ids they had elsewhere. Meta says of each id whether it was made.',
  body: readOnlyMembers(z.object({ Data: z.array(identified).max(importAtMost) }), ['Pages']),
  returns: z.object({ Status: z.string(), Message: z.string(), Meta: z.record(z.string(), z.boolean()) }),
  problems: [accessProblem.organisation_unknown],
  async handle({ body, audit }, tools: PolicyImportTools) {
    const checked = body.Data.map((policy, index) => checkedPolicy(policy, tools.settings, `Data[${index}]`));
    const orgIds = await knownOrganisations(tools, body.Data);
    audit(checked.map(idOf).join(',').slice(0, 1000));
    const made = new Map<string, boolean>();
    for (const policy of checked) {
      made.set(idOf(policy), await importOne(tools, policy, orgIds.get(policy.org_id ?? '') ?? ''));
    }
    return { ...done('Policies imported'), Meta: Object.fromEntries(made) };
  },
});

/** The organisation of each policy as it names it; the first one of the installation where it names none. */
async function knownOrganisations({ organisations, defaultOrgId }: PolicyImportTools, policies: readonly Policy[]) {
  const known = new Map<string, string>();
  for (const sent of new Set(policies.map(policy => policy.org_id ?? ''))) {
    const id = sent || (await defaultOrgId());
    if (!(await organisations.get(id))) throw accessProblem.organisation_unknown({ detail: { id } });
    known.set(sent, id);
  }
  return known;
}

/** One that clashes with a policy already there is left out, and the others go on. */
async function importOne(
  { policies, clock }: PolicyImportTools,
  policy: ReturnType<typeof checkedPolicy>,
  orgId: string,
): Promise<boolean> {
  const made = newPolicy(policy, orgId, clock.now());
  const born = policy.date_created ?? '';
  try {
    await policies.insert(Number.isNaN(Date.parse(born)) ? made : { ...made, date_created: born });
    return true;
  } catch (error) {
    if (error instanceof Problem && error.status === 409) return false;
    throw error;
  }
}

export const adminPolicyOperations = [importPolicies];
