import { z } from 'zod';
import type { Clock } from '#base/clock.ts';
import { createPublicId } from '#base/ids.ts';
import type { Settings } from '#base/settings.ts';
import { operation } from '#operations/operation.ts';
import { pageQuery, statusResponse, toPageRequest, toStatus } from '#operations/shapes.ts';
import type { Records } from '#storage/records.ts';
import { problem as peopleProblem } from '../../problems.ts';
import { readDashboardUrl } from '../../sessions/dashboard-url.ts';
import { problem } from '../problems.ts';
import type { GroupGrantServices } from './group-grant-check.ts';
import { buildProfile, checkProfileGrant, rejectForeignProfile } from './rules.ts';
import { IdentityProfileView, IdentityProfileWrite, toIdentityProfileView } from './schema.ts';
import type { IdentityProfileStore } from './store.ts';

export interface IdentityProfileServices extends GroupGrantServices {
  identityProfiles: IdentityProfileStore;
  records: Records;
  clock: Clock;
  settings: Settings;
}

const params = z.object({ profileId: z.string() });
const declared = { surface: 'dashboard', noun: 'identity profiles' } as const;
export const profileGrantProblems = [
  problem.group_unknown,
  peopleProblem.only_admin_grants,
  peopleProblem.grant_not_held,
  peopleProblem.group_owns_hidden_apis,
];

export const listIdentityProfiles = operation({
  ...declared,
  name: 'listIdentityProfiles',
  method: 'GET',
  path: '/api/sso/profiles',
  about: 'Lists the identity profiles of the caller’s organisation, newest first; secrets are masked.',
  permission: 'idm:read',
  query: pageQuery.extend({
    q: z.string().trim().max(200).optional().describe('Part of the name, case-insensitive'),
    state: z.enum(['active', 'inactive']).optional(),
  }),
  returns: z.object({ profiles: z.array(IdentityProfileView), pages: z.int() }),
  async handle({ actor, query: { p, q, state } }, { identityProfiles, settings }: IdentityProfileServices) {
    const request = toPageRequest(p, settings['management.page_size']);
    const filter = { text: q, isActive: state && state === 'active' };
    const { items, pages } = await identityProfiles.page(actor.orgId, request, filter);
    return { profiles: items.map(it => toIdentityProfileView(it, readDashboardUrl(settings))), pages };
  },
});

export const createIdentityProfile = operation({
  ...declared,
  name: 'createIdentityProfile',
  isRepeatable: true,
  method: 'POST',
  path: '/api/sso/profiles',
  about:
    'Creates an identity profile; its id is the Meta of the response. It maps to user groups whose permissions the caller holds, and signs users in to their accounts only if the caller is an administrator to whom nothing is denied.',
  permission: 'idm:write',
  body: IdentityProfileWrite,
  returns: statusResponse,
  problems: [...profileGrantProblems, peopleProblem.limit_reached],
  async handle({ actor, body, audit }, services: IdentityProfileServices) {
    const ID = createPublicId();
    audit(ID);
    const profile = buildProfile(body, { actor, nowMs: services.clock.now() }, { ID });
    await services.records.write(async () => {
      await checkProfileGrant(services, actor, profile);
      await services.identityProfiles.insert(profile);
    });
    return toStatus('Identity profile created', ID);
  },
});

export const getIdentityProfile = operation({
  ...declared,
  name: 'getIdentityProfile',
  versioned: 'identity_profiles',
  method: 'GET',
  path: '/api/sso/profiles/{profileId}',
  about: 'Returns an identity profile; its secrets are masked.',
  permission: 'idm:read',
  params,
  returns: IdentityProfileView,
  problems: [problem.profile_not_found],
  async handle({ actor, params: { profileId } }, { identityProfiles, settings }: IdentityProfileServices) {
    const profile = await identityProfiles.get(actor.orgId, profileId);
    if (!profile) throw problem.profile_not_found();
    return toIdentityProfileView(profile, readDashboardUrl(settings));
  },
});

export const updateIdentityProfile = operation({
  ...declared,
  name: 'updateIdentityProfile',
  versioned: 'identity_profiles',
  method: 'PUT',
  path: '/api/sso/profiles/{profileId}',
  about: 'Replaces an identity profile, and ends the sessions it opened. Masked secrets do not change.',
  permission: 'idm:write',
  params,
  body: IdentityProfileWrite,
  returns: statusResponse,
  problems: [problem.profile_not_found, problem.profile_of_administrator, ...profileGrantProblems],
  async handle({ actor, params: { profileId }, body, audit }, services: IdentityProfileServices) {
    audit(profileId);
    const { identityProfiles, records, clock } = services;
    await records.write(async () => {
      const before = await identityProfiles.get(actor.orgId, profileId);
      if (!before) throw problem.profile_not_found();
      rejectForeignProfile(actor, before);
      const next = buildProfile(body, { actor, nowMs: clock.now() }, before);
      await checkProfileGrant(services, actor, next);
      await identityProfiles.replace(next);
    });
    return toStatus('Identity profile updated');
  },
});

export const deleteIdentityProfile = operation({
  ...declared,
  name: 'deleteIdentityProfile',
  versioned: 'identity_profiles',
  method: 'DELETE',
  path: '/api/sso/profiles/{profileId}',
  about: 'Deletes an identity profile, and ends the sessions it opened.',
  permission: 'idm:write',
  params,
  returns: statusResponse,
  problems: [problem.profile_not_found, problem.profile_of_administrator],
  async handle({ actor, params: { profileId }, audit }, { identityProfiles, records }: IdentityProfileServices) {
    audit(profileId);
    await records.write(async () => {
      const before = await identityProfiles.get(actor.orgId, profileId);
      if (!before) throw problem.profile_not_found();
      rejectForeignProfile(actor, before);
      await identityProfiles.remove(actor.orgId, profileId);
    });
    return toStatus('Identity profile deleted');
  },
});

export const identityProfileOperations = [
  listIdentityProfiles,
  createIdentityProfile,
  getIdentityProfile,
  updateIdentityProfile,
  deleteIdentityProfile,
];
