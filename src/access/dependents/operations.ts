import { z } from 'zod';
import type { Ownership } from '#apis/owners/store.ts';
import { problem as apisProblem } from '#apis/problems.ts';
import type { ProblemFactory } from '#base/problems.ts';
import { problem as hooksProblem } from '#events/hooks/problems.ts';
import type { DependedKind } from '#operations/dependents.ts';
import { operation, type Permission } from '#operations/operation.ts';
import { problem as peopleProblem } from '#people/problems.ts';
import { problem as certificatesProblem } from '../certificates/problems.ts';
import { isVisible } from '../hidden-rights.ts';
import { problem as policiesProblem } from '../policies/problems.ts';
import { type DependentServices, dependentFinders } from './find-dependents.ts';
import { showDependents } from './refuse-dependents.ts';

interface ReadServices extends DependentServices {
  ownership: Ownership;
}

const returns = z.object({
  dependents: z.array(z.object({ kind: z.string(), id: z.string(), name: z.string() })),
  total: z.int().describe('Includes those that are not listed: more than 100, or without permission to read them'),
});

function declareDependents<const Name extends string, const Path extends string>(declared: {
  readonly kind: DependedKind;
  readonly name: Name;
  readonly path: Path;
  readonly param: string;
  readonly noun: string;
  readonly article: string;
  readonly permission: Permission;
  readonly notFound: ProblemFactory;
}) {
  const { kind, name, path, param, noun, article, permission, notFound } = declared;
  return operation({
    surface: 'dashboard',
    name,
    method: 'GET',
    path,
    noun,
    about: `Lists the objects that depend on ${article}.`,
    permission,
    params: z.object({ [param]: z.string() }),
    returns,
    problems: [notFound],
    async handle({ actor, params }, services: ReadServices) {
      const ref = String((params as Record<string, unknown>)[param]);
      if (kind === 'policies') await requireVisiblePolicy(services, actor, ref);
      const found = await dependentFinders[kind](services, actor.orgId, ref);
      if (!found) throw notFound();
      const { named, total } = await showDependents(services, actor, found);
      return { dependents: [...named], total };
    },
  });
}

/** A policy whose APIs are all hidden from the caller is not found. */
async function requireVisiblePolicy(
  { policies, ownership }: ReadServices,
  actor: Parameters<Ownership['findHidden']>[0],
  ref: string,
): Promise<void> {
  const policy = await policies.get(actor.orgId, ref);
  if (policy && !isVisible(policy, await ownership.findHidden(actor))) throw policiesProblem.not_found();
}

export const dependentOperations = [
  declareDependents({
    kind: 'apis',
    name: 'listApiDependents',
    path: '/api/apis/{apiId}/dependents',
    param: 'apiId',
    noun: 'apis',
    article: 'an API: APIs that loop to it or list it as a version, policies, keys and OAuth clients',
    permission: 'apis:read',
    notFound: apisProblem.api_not_found,
  }),
  declareDependents({
    kind: 'policies',
    name: 'listPolicyDependents',
    path: '/api/portal/policies/{policyId}/dependents',
    param: 'policyId',
    noun: 'policies',
    article: 'a policy: keys, OAuth clients and APIs',
    permission: 'policies:read',
    notFound: policiesProblem.not_found,
  }),
  declareDependents({
    kind: 'certs',
    name: 'listCertificateDependents',
    path: '/api/certs/{certId}/dependents',
    param: 'certId',
    noun: 'certificates',
    article: 'a certificate: APIs and keys',
    permission: 'certs:read',
    notFound: certificatesProblem.not_found,
  }),
  declareDependents({
    kind: 'hooks',
    name: 'listHookDependents',
    path: '/api/hooks/{hookId}/dependents',
    param: 'hookId',
    noun: 'webhooks',
    article: 'a webhook: APIs',
    permission: 'hooks:read',
    notFound: hooksProblem.not_found,
  }),
  declareDependents({
    kind: 'usergroups',
    name: 'listUserGroupDependents',
    path: '/api/usergroups/{groupId}/dependents',
    param: 'groupId',
    noun: 'user groups',
    article: 'a user group: users, identity profiles and the APIs it owns',
    permission: 'user_groups:read',
    notFound: peopleProblem.group_not_found,
  }),
] as const;
