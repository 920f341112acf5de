import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import { statusResponse, toStatus } from '#operations/shapes.ts';
import type { OrganisationStore } from '../organisations/store.ts';
import { problem } from '../problems.ts';
import type { RuleEngine } from './rule-engine.ts';

interface RuleServices {
  organisations: OrganisationStore;
  rules: RuleEngine;
}

/** An administrator can always read and replace the rules: rules that deny everything can be mended. */
const declared = {
  surface: 'dashboard',
  noun: 'organisation',
  path: '/api/org/opa',
  permission: 'admin',
  ignoresRules: true,
} as const;

export const getOrganisationRules = operation({
  ...declared,
  name: 'getOrganisationRules',
  method: 'GET',
  about: 'Returns the rules of the caller’s organisation.',
  returns: z.object({ open_policy: z.object({ enabled: z.boolean(), rules: z.string() }) }),
  problems: [problem.organisation_not_found],
  async handle({ actor }, { organisations }: RuleServices) {
    const organisation = await organisations.get(actor.orgId);
    if (!organisation) throw problem.organisation_not_found();
    const { enabled = false, rules = '' } = organisation.open_policy ?? {};
    return { open_policy: { enabled, rules } };
  },
});

export const updateOrganisationRules = operation({
  ...declared,
  name: 'updateOrganisationRules',
  method: 'PUT',
  about:
    'Replaces the rules of the caller’s organisation, which every later request of its users must pass. Omitted members do not change.',
  body: z.object({
    open_policy: z.object({
      enabled: z.boolean().optional(),
      rules: z.string().optional().describe('A Rego module that defines deny or allow; empty for none'),
    }),
  }),
  returns: statusResponse,
  problems: [
    problem.organisation_not_found,
    problem.rules_invalid,
    problem.rules_without_decision,
    problem.rules_unavailable,
  ],
  async handle({ actor: { orgId }, body: { open_policy }, audit }, { organisations, rules }: RuleServices) {
    audit(orgId);
    const before = await organisations.get(orgId);
    if (!before) throw problem.organisation_not_found();
    if (open_policy.rules) await rules.check(orgId, open_policy.rules);
    let replaced = '';
    await organisations.change(orgId, it => {
      const { enabled = false, rules: text = '' } = it.open_policy ?? {};
      if (open_policy.rules !== undefined && open_policy.rules !== text) replaced = text;
      return {
        ...it,
        open_policy: { enabled: open_policy.enabled ?? enabled, rules: open_policy.rules ?? text },
      };
    });
    if (replaced) await rules.unload(orgId, replaced);
    return toStatus('OPA rules has been updated on org level');
  },
});

export const ruleOperations = [getOrganisationRules, updateOrganisationRules];
