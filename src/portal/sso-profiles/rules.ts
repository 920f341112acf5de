import type { Settings } from '#base/settings.ts';
import { createInvalidProblem, type ValidationError } from '#operations/validation-error.ts';
import { restoreMaskedSecrets } from '#people/single-sign-on/profiles/secrets.ts';
import { readPortalUrl } from '../portal-url.ts';
import { formatOptionalTime, toSlug, trimSlashes } from '../shapes.ts';
import { ownDefaults, type ProfileChange, type ProfileWrite, type SsoProfile, typeOfProvider } from './schema.ts';

/** Author and time of a change. */
export interface Author {
  name: string;
  nowMs: number;
}

/** Builds a profile from a body; a profile that can never work is refused with all faults. */
export function createProfile(write: ProfileWrite, { name, nowMs }: Author): SsoProfile {
  const profile: SsoProfile = {
    Name: write.Name,
    ActionType: write.ActionType,
    ProviderName: write.ProviderName,
    ID: write.ID ?? toSlug(write.Name),
    OrgID: write.OrgID ?? '0',
    MatchedPolicyID: write.MatchedPolicyID ?? '',
    Type: write.Type ?? typeOfProvider[write.ProviderName],
    CustomEmailField: write.CustomEmailField ?? '',
    CustomUserIDField: write.CustomUserIDField ?? '',
    ProviderConfig: restoreMaskedSecrets(write.ProviderConfig ?? {}, undefined, 'ProviderConfig'),
    IdentityHandlerConfig: restoreMaskedSecrets(write.IdentityHandlerConfig ?? {}, undefined, 'IdentityHandlerConfig'),
    ProviderConstraintsDomain: write.ProviderConstraintsDomain ?? '',
    ProviderConstraintsGroup: write.ProviderConstraintsGroup ?? '',
    ReturnURL: write.ReturnURL ?? '',
    DefaultUserGroupID: write.DefaultUserGroupID ?? '',
    CustomUserGroupField: write.CustomUserGroupField ?? '',
    UserGroupMapping: write.UserGroupMapping ?? {},
    UserGroupSeparator: write.UserGroupSeparator ?? '',
    SSOOnlyForRegisteredUsers: write.SSOOnlyForRegisteredUsers ?? false,
    DefaultRole: write.DefaultRole ?? ownDefaults.DefaultRole,
    ResyncTeams: write.ResyncTeams ?? ownDefaults.ResyncTeams,
    SingleLogout: write.SingleLogout ?? ownDefaults.SingleLogout,
    TrustUnverifiedEmail: write.TrustUnverifiedEmail ?? ownDefaults.TrustUnverifiedEmail,
    CreatedAt: nowMs,
    UpdatedAt: nowMs,
    UpdatedBy: name,
  };
  validateProfile(profile);
  return profile;
}

/** Applies a body to a profile. The ID is kept: it is part of login URLs registered elsewhere. */
export function applyProfileChange(stored: SsoProfile, change: ProfileChange, { name, nowMs }: Author): SsoProfile {
  const { ID: _kept, ProviderConfig, IdentityHandlerConfig, ...rest } = change;
  const sent = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined && value !== null));
  const profile: SsoProfile = {
    ...stored,
    ...sent,
    ProviderConfig: ProviderConfig
      ? restoreMaskedSecrets(ProviderConfig, stored.ProviderConfig, 'ProviderConfig')
      : stored.ProviderConfig,
    IdentityHandlerConfig: IdentityHandlerConfig
      ? restoreMaskedSecrets(IdentityHandlerConfig, stored.IdentityHandlerConfig, 'IdentityHandlerConfig')
      : stored.IdentityHandlerConfig,
    UpdatedAt: nowMs,
    UpdatedBy: name,
  };
  if (change.ProviderName && !change.Type) profile.Type = typeOfProvider[change.ProviderName];
  validateProfile(profile);
  return profile;
}

const providerSegment = /^[\w-]{1,64}$/;

function validateProfile({ ID, Type, ProviderName, ProviderConfig, SingleLogout }: SsoProfile): void {
  const faults: ValidationError[] = [];
  if (ID === '') faults.push({ path: 'ID', message: 'is required: none can be generated from this Name' });
  const type = typeOfProvider[ProviderName];
  if (Type !== type) faults.push({ path: 'Type', message: `must be ${type} with ${ProviderName}` });
  if (SingleLogout && ProviderName !== 'SocialProvider')
    faults.push({ path: 'SingleLogout', message: `must be false with ${ProviderName}` });
  const { UseProviders } = ProviderConfig;
  if (UseProviders !== undefined && UseProviders !== null && !Array.isArray(UseProviders))
    faults.push({ path: 'ProviderConfig.UseProviders', message: 'must be a list' });
  for (const [place, client] of listClients(ProviderConfig).entries())
    if (Object.hasOwn(client, 'SingleLogout'))
      faults.push({
        path: `ProviderConfig.UseProviders[${place}].SingleLogout`,
        message: 'is a member of the profile',
      });
  for (const [place, name] of socialProviderNames(ProviderConfig).entries())
    if (typeof name !== 'string' || !providerSegment.test(name))
      faults.push({ path: `ProviderConfig.UseProviders[${place}].Name`, message: 'must be letters, digits, _ or -' });
  if (faults.length > 0) throw createInvalidProblem(faults);
}

function listClients({ UseProviders }: SsoProfile['ProviderConfig']): SsoProfile['ProviderConfig'][] {
  if (!Array.isArray(UseProviders)) return [];
  return UseProviders.map(it => (typeof it === 'object' && it !== null && !Array.isArray(it) ? it : {}));
}

const socialProviderNames = (config: SsoProfile['ProviderConfig']): unknown[] =>
  listClients(config).map(({ Name }) => Name);

/** Last path segment of the login URL. */
export function loginSegment({ ProviderName, ProviderConfig }: SsoProfile): string {
  const fixed = { SAMLProvider: 'saml', ADProvider: 'ldap', ProxyProvider: 'proxy', SocialProvider: undefined };
  return fixed[ProviderName] ?? String(socialProviderNames(ProviderConfig)[0] ?? 'openid-connect');
}

/** Public URL of the portal by the profile, else `fallback`. */
function portalUrl({ ProviderConfig, ReturnURL }: SsoProfile, fallback: string): string {
  for (const base of [ProviderConfig.CallbackBaseURL, ProviderConfig.SAMLBaseURL])
    if (typeof base === 'string' && URL.canParse(base)) return trimSlashes(base);
  return URL.canParse(ReturnURL) ? new URL(ReturnURL).origin : fallback;
}

/** Base of the URLs of profiles that name none. */
export const readProfileBase = (settings: Settings): string =>
  settings['portal.url'] ? readPortalUrl(settings) : `http://${settings['portal.host']}:${settings['portal.port']}`;

/** Path of the login URL. */
export const toLoginPath = (profile: SsoProfile): string => `/tib/auth/${profile.ID}/${loginSegment(profile)}`;

/** Redirect URI to register at the identity provider. */
export const toSignOnRedirectUrl = (profile: SsoProfile, settings: Settings): string =>
  `${portalUrl(profile, readProfileBase(settings))}${toLoginPath(profile)}/callback`;

/** Page of the portal that the provider sends the browser to after a single logout. */
export const toLogoutReturnUrl = (profile: SsoProfile, settings: Settings): string =>
  `${portalUrl(profile, readProfileBase(settings))}/`;

export function toProfileRow(profile: SsoProfile, settings: Settings) {
  const { ID, Name, ActionType, UpdatedAt, UpdatedBy } = profile;
  const SelectedProviderType = loginSegment(profile);
  const RedirectURL = toSignOnRedirectUrl(profile, settings);
  const LoginURL = RedirectURL.slice(0, -'/callback'.length);
  return {
    ID,
    Name,
    ActionType,
    LoginURL,
    RedirectURL,
    SelectedProviderType,
    UpdatedAt: formatOptionalTime(UpdatedAt),
    UpdatedBy,
  };
}
