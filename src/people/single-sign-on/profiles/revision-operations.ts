import { declareRevisionOperations, type RestoreCall, type RevisionServices } from '#operations/revision-operations.ts';
import { validate } from '#operations/validation-error.ts';
import { problem as peopleProblem } from '../../problems.ts';
import { readDashboardUrl } from '../../sessions/dashboard-url.ts';
import { problem } from '../problems.ts';
import { type IdentityProfileServices, profileGrantProblems } from './operations.ts';
import { buildProfile, checkProfileGrant, rejectForeignProfile } from './rules.ts';
import { type IdentityProfile, IdentityProfileWrite, toIdentityProfileView } from './schema.ts';
import { maskSecrets } from './secrets.ts';

/** Members that a write sends; the others are set by the server. */
const toWritten = ({
  ID: _id,
  OrgID: _org,
  SignsInAccounts: _signs,
  CreatedAt: _created,
  UpdatedAt: _updated,
  UpdatedBy: _author,
  ...written
}: IdentityProfile) => written;

/**
 * Restores an identity profile by the rules of an update, which ends the sessions it opened. Each revision holds its
 * secrets with their addresses, so that no secret is sent to another address. A state that signs users in to their
 * accounts is restored by those alone who may write it.
 */
async function restoreProfile(
  { actor, state, objectId }: RestoreCall<IdentityProfile>,
  services: IdentityProfileServices,
) {
  const { identityProfiles, records, clock } = services;
  rejectForeignProfile(actor, state);
  const written = validate(IdentityProfileWrite, toWritten(state));
  await records.write(async () => {
    const before = await identityProfiles.get(actor.orgId, objectId);
    if (before) rejectForeignProfile(actor, before);
    const next = buildProfile(written, { actor, nowMs: clock.now() }, before ?? state);
    await checkProfileGrant(services, actor, next);
    if (before) await identityProfiles.replace(next);
    else await identityProfiles.insert(next);
  });
}

/** Without the author of the last write: the author of each revision is shown to those who may see authors. */
function toShown(state: IdentityProfile, baseUrl: string) {
  const { UpdatedBy: _author, ...view } = toIdentityProfileView(state, baseUrl);
  return view;
}

export const profileRevisionOperations = declareRevisionOperations<
  IdentityProfile,
  IdentityProfileServices & RevisionServices,
  'profiles',
  'profileId'
>({
  singular: 'IdentityProfile',
  plural: 'profiles',
  param: 'profileId',
  noun: 'identity profiles',
  article: 'an identity profile',
  permissionName: 'idm',
  notFound: problem.profile_not_found,
  problems: [problem.profile_of_administrator, ...profileGrantProblems, peopleProblem.limit_reached],
  history: ({ identityProfiles }) => identityProfiles.history,
  toView: state => ({ ...toShown(state, ''), ProviderConfig: state.ProviderConfig, UpdatedAt: undefined }),
  toViewFor: async (_actor, { settings }) => {
    const baseUrl = readDashboardUrl(settings);
    return state => toShown(state, baseUrl);
  },
  toName: state => state.Name,
  isExisting: async (orgId, objectId, { identityProfiles }) =>
    (await identityProfiles.get(orgId, objectId)) !== undefined,
  toPlainWrite: ({ state, isExisting }) => ({
    operation: isExisting ? 'updateIdentityProfile' : 'createIdentityProfile',
    method: isExisting ? 'PUT' : 'POST',
    path: isExisting ? `/api/sso/profiles/${state.ID}` : '/api/sso/profiles',
    body: { ...toWritten(state), ProviderConfig: maskSecrets(state.ProviderConfig) },
  }),
  restore: restoreProfile,
});
