import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import { statusResponse, toStatus } from '#operations/shapes.ts';
import type { Records } from '#storage/records.ts';
import { problem } from '../problems.ts';
import type { GrantStore } from './grant-store.ts';
import { Grants, GrantsWrite } from './grants.ts';
import type { OrganisationStore } from './store.ts';

export interface GrantServices {
  organisations: OrganisationStore;
  grants: GrantStore;
  records: Records;
}

const params = z.object({ orgId: z.string() });
const declared = { surface: 'admin', noun: 'organisations', permission: 'secret', params } as const;

export const getGrants = operation({
  ...declared,
  name: 'getGrants',
  method: 'GET',
  path: '/admin/organisations/{orgId}/grants',
  about: 'Returns the grants of an organisation, with the defaults of tenants for unset members.',
  returns: Grants,
  problems: [problem.organisation_not_found],
  async handle({ params: { orgId } }, { organisations, grants }: GrantServices) {
    if (!(await organisations.get(orgId))) throw problem.organisation_not_found();
    return grants.find(orgId);
  },
});

export const updateGrants = operation({
  ...declared,
  name: 'updateGrants',
  method: 'PUT',
  changesTraffic: true,
  path: '/admin/organisations/{orgId}/grants',
  about:
    'Replaces the grants of an organisation; omitted members get the defaults of tenants. APIs already served do not change; new writes are checked.',
  body: GrantsWrite,
  returns: statusResponse,
  problems: [problem.organisation_not_found, problem.organisation_unrestricted],
  async handle({ params: { orgId }, body, audit }, { organisations, grants, records }: GrantServices) {
    audit(orgId, orgId);
    await records.write(async () => {
      if (!(await organisations.get(orgId))) throw problem.organisation_not_found();
      if (await grants.isOperator(orgId)) throw problem.organisation_unrestricted();
      await grants.write(orgId, body);
    });
    return toStatus('Grants updated');
  },
});

export const grantOperations = [getGrants, updateGrants];
