import { checkCustomPermissions } from '../permissions/names.ts';
import type { RuleEngine } from '../rules/rule-engine.ts';
import type { StoredOrganisation } from './schema.ts';

type OrganisationSettings = Pick<StoredOrganisation, 'additional_permissions' | 'open_policy'>;

/** Rejects permissions and rules that the organisation's own administrators could not write; kept ones pass. */
export async function checkOrganisationSettings(
  rules: RuleEngine,
  orgId: string,
  { additional_permissions, open_policy }: OrganisationSettings,
  before?: OrganisationSettings,
): Promise<void> {
  checkCustomPermissions(additional_permissions ?? {}, before?.additional_permissions ?? {});
  const text = open_policy?.rules;
  if (text && text !== before?.open_policy?.rules) await rules.check(orgId, text);
}
