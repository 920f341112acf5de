import { z } from 'zod';
import type { Clock } from '#base/clock.ts';
import type { Settings } from '#base/settings.ts';
import { operation } from '#operations/operation.ts';
import { problem as portalProblem, present } from '../problems.ts';
import { okResponse, okStatus, portalPageQuery } from '../shapes.ts';
import { portalNonceOperations } from './nonce-operations.ts';
import { problem } from './problems.ts';
import { applyProfileChange, createProfile, toProfileRow } from './rules.ts';
import { Profile, ProfileChange, ProfileRow, ProfileWrite, toProfileView } from './schema.ts';
import type { SsoProfileStore } from './store.ts';
import { ssoProfileTestOperations } from './test-operations.ts';

export interface SsoProfileServices {
  ssoProfiles: SsoProfileStore;
  clock: Clock;
  settings: Settings;
}

const params = z.object({ profile_id: z.string() });
const declared = { surface: 'portal', noun: 'sso profiles', permission: 'secret' } as const;
const what = 'SSO profile';

export const listSsoProfiles = operation({
  ...declared,
  name: 'listSsoProfiles',
  method: 'GET',
  path: '/portal-api/sso_profiles',
  about: 'Lists the single sign-on profiles, newest first, with the URLs of login and callback.',
  query: portalPageQuery,
  returns: z.array(ProfileRow),
  async handle({ query }, { ssoProfiles, settings }: SsoProfileServices) {
    return (await ssoProfiles.page(query)).map(profile => toProfileRow(profile, settings));
  },
});

export const createSsoProfile = operation({
  ...declared,
  name: 'createSsoProfile',
  method: 'POST',
  path: '/portal-api/sso_profiles',
  about: 'Creates a single sign-on profile. An omitted ID is generated from the Name.',
  body: ProfileWrite,
  returns: Profile,
  status: 201,
  problems: [problem.id_taken],
  async handle({ actor, body, audit }, { ssoProfiles, clock }: SsoProfileServices) {
    const profile = createProfile(body, { name: actor.name, nowMs: clock.now() });
    audit(profile.ID);
    await ssoProfiles.insert(profile);
    return toProfileView(profile);
  },
});

export const getSsoProfile = operation({
  ...declared,
  name: 'getSsoProfile',
  method: 'GET',
  path: '/portal-api/sso_profiles/{profile_id}',
  about: 'Returns a single sign-on profile; its secrets are masked.',
  params,
  returns: Profile,
  problems: [portalProblem.not_found],
  async handle({ params: { profile_id } }, { ssoProfiles }: SsoProfileServices) {
    return toProfileView(present(await ssoProfiles.get(profile_id), what));
  },
});

export const updateSsoProfile = operation({
  ...declared,
  name: 'updateSsoProfile',
  method: 'PUT',
  path: '/portal-api/sso_profiles/{profile_id}',
  about:
    'Updates a single sign-on profile, and ends the sessions it opened. Omitted members and masked secrets do not change.',
  params,
  body: ProfileChange,
  returns: Profile,
  problems: [portalProblem.not_found],
  async handle({ actor, params: { profile_id }, body, audit }, { ssoProfiles, clock }: SsoProfileServices) {
    audit(profile_id);
    const author = { name: actor.name, nowMs: clock.now() };
    const changed = await ssoProfiles.change(profile_id, it => applyProfileChange(it, body, author));
    return toProfileView(present(changed, what));
  },
});

export const deleteSsoProfile = operation({
  ...declared,
  name: 'deleteSsoProfile',
  method: 'DELETE',
  path: '/portal-api/sso_profiles/{profile_id}',
  about: 'Deletes a single sign-on profile, and ends the sessions it opened; its users are not deleted.',
  params,
  returns: okResponse,
  problems: [portalProblem.not_found],
  async handle({ params: { profile_id }, audit }, { ssoProfiles }: SsoProfileServices) {
    audit(profile_id);
    if (!(await ssoProfiles.remove(profile_id))) throw portalProblem.not_found({ detail: { what } });
    return okStatus;
  },
});

export const ssoProfileOperations = [
  listSsoProfiles,
  createSsoProfile,
  getSsoProfile,
  updateSsoProfile,
  deleteSsoProfile,
  ...ssoProfileTestOperations,
  ...portalNonceOperations,
];
