import { ProviderFailure, problem as signOnProblem } from '#people/single-sign-on/problems.ts';
import { isSignOnProfile, type SignOnProfile, toSignOnProfile } from '../../sso-profiles/identity-profile.ts';
import { loginSegment, toLoginPath } from '../../sso-profiles/rules.ts';
import type { SsoProfile } from '../../sso-profiles/schema.ts';
import type { SiteServices } from '../page.ts';

export const isForAdministrators = ({ ActionType }: Pick<SsoProfile, 'ActionType'>): boolean =>
  ActionType === 'GenerateOrLoginUserProfile';

/** Profile of a login URL. What is missing in its configuration is for the log. */
export async function findSignOnProfile(
  { profile: id = '', provider = '' }: Readonly<Record<string, string>>,
  { ssoProfiles, defaultOrgId }: Pick<SiteServices, 'ssoProfiles' | 'defaultOrgId'>,
): Promise<SignOnProfile> {
  const stored = await ssoProfiles.get(id);
  if (!stored || loginSegment(stored) !== provider) throw signOnProblem.profile_unknown();
  const profile = toSignOnProfile(stored, await defaultOrgId());
  if (isSignOnProfile(profile)) return profile;
  throw new ProviderFailure(profile.map(({ path, message }) => `${path}: ${message}`).join('; '));
}

/** One way to sign on that a sign-in page offers. */
export interface SignOnOption {
  readonly name: string;
  readonly path: string;
  /** Name and password are sent here. */
  readonly isDirectory: boolean;
}

/** Profiles of the cached list: each is checked once. */
const usable = new WeakMap<SsoProfile, boolean>();

function isUsable(profile: SsoProfile, orgId: string): boolean {
  const known = usable.get(profile);
  if (known !== undefined) return known;
  const checked = isSignOnProfile(toSignOnProfile(profile, orgId));
  usable.set(profile, checked);
  return checked;
}

/** Usable profiles of developers; those of administrators too where the visitor is on the way to the admin app. */
export async function listSignOnOptions(next: string, services: SiteServices): Promise<SignOnOption[]> {
  const stored = await services.ssoProfiles.listOffered();
  if (stored.length === 0) return [];
  const orgId = await services.defaultOrgId();
  const isAdminPage = /^\/admin(?:[/?]|$)/.test(next);
  return stored
    .filter(it => (isAdminPage || !isForAdministrators(it)) && isUsable(it, orgId))
    .map(it => ({ name: it.Name, path: toLoginPath(it), isDirectory: it.ProviderName === 'ADProvider' }));
}
