import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import { statusResponse, toStatus } from '#operations/shapes.ts';
import type { OrganisationStore } from '../organisations/store.ts';
import { problem } from '../problems.ts';
import { checkCustomPermissions } from './names.ts';

interface Services {
  organisations: OrganisationStore;
}

const declared = {
  surface: 'dashboard',
  noun: 'organisation',
  path: '/api/org/permissions',
  permission: 'admin',
} as const;
const permissions = z.record(z.string(), z.string().max(200)).describe('Title by name');

export const getCustomPermissions = operation({
  ...declared,
  name: 'getCustomPermissions',
  method: 'GET',
  about: 'Returns the permissions that the caller’s organisation added.',
  returns: z.object({ additional_permissions: permissions }),
  problems: [problem.organisation_not_found],
  async handle({ actor }, { organisations }: Services) {
    const organisation = await organisations.get(actor.orgId);
    if (!organisation) throw problem.organisation_not_found();
    return { additional_permissions: organisation.additional_permissions ?? {} };
  },
});

export const updateCustomPermissions = operation({
  ...declared,
  name: 'updateCustomPermissions',
  method: 'PUT',
  about: 'Replaces the permissions that the caller’s organisation added. They have an effect in its rules only.',
  body: z.object({ additional_permissions: permissions }),
  returns: statusResponse,
  problems: [problem.organisation_not_found, problem.custom_permission_invalid],
  async handle({ actor, body: { additional_permissions }, audit }, { organisations }: Services) {
    audit(actor.orgId);
    checkCustomPermissions(additional_permissions);
    const changed = await organisations.change(actor.orgId, it => ({ ...it, additional_permissions }));
    if (!changed) throw problem.organisation_not_found();
    return toStatus('Additional Permissions updated in org level');
  },
});

export const customPermissionOperations = [getCustomPermissions, updateCustomPermissions];
