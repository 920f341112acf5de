import { z } from 'zod';
import { compareCodePoints } from '#base/compare-code-points.ts';
import type { Settings } from '#base/settings.ts';
import type { RelyingParty } from '#base/webauthn.ts';
import { operation } from '#operations/operation.ts';
import { readDashboardUrl } from '../sessions/dashboard-url.ts';
import type { ResetMails } from '../sessions/reset-mails.ts';
import { providerTable } from './profiles/provider-configs.ts';
import { toProfileUrls } from './profiles/schema.ts';
import type { IdentityProfileStore } from './profiles/store.ts';

export interface SignInOptionServices {
  identityProfiles: Pick<IdentityProfileStore, 'listActive'>;
  defaultOrgId: () => Promise<string>;
  relyingParty: RelyingParty | undefined;
  resetMails: Pick<ResetMails, 'isConfigured'>;
  settings: Settings;
}

const kinds = Object.values(providerTable).map(({ segment }) => segment);

const SignOnOption = z.object({
  id: z.string(),
  name: z.string(),
  kind: z.enum(kinds),
  start_url: z.string().describe('Page that starts the sign-on; takes next, the path to return to'),
});

/**
 * Organisations cannot be enumerated: only the profiles of the operator's own organisation are listed without a name,
 * and an unknown id has the same response as an organisation without profiles.
 */
export const getSignInOptions = operation({
  surface: 'dashboard',
  noun: 'session',
  name: 'getSignInOptions',
  method: 'GET',
  path: '/api/session/options',
  about: 'Returns the ways to sign in that a sign-in page can offer.',
  permission: 'public',
  accepts: { only: ['application/json'] },
  query: z.object({
    org_id: z
      .string()
      .max(64)
      .optional()
      .describe('Organisation whose sign-on profiles are listed; default: the organisation of the installation'),
  }),
  returns: z.object({
    password: z.boolean().describe('Sign-in with e-mail address and password'),
    passkey: z.boolean().describe('Sign-in with a passkey; needs dashboard.url over TLS'),
    password_reset_by_mail: z
      .boolean()
      .describe('A link to set a new password can be mailed; else an administrator creates one'),
    password_rules: z.object({
      min_length: z.int(),
      multi_case: z.boolean(),
      min_numeric: z.int(),
      min_special: z.int(),
      disable_sequential: z.boolean(),
      history: z.int().describe('Number of the last passwords that cannot be set again'),
    }),
    profiles: z.array(SignOnOption).describe('Active identity profiles, by name'),
  }),
  async handle({ query: { org_id: orgId } }, services: SignInOptionServices) {
    const { identityProfiles, defaultOrgId, relyingParty, resetMails, settings } = services;
    const profiles = await identityProfiles.listActive(orgId || (await defaultOrgId()));
    return {
      password: true,
      passkey: relyingParty !== undefined,
      password_reset_by_mail: resetMails.isConfigured,
      password_rules: {
        min_length: settings['users.password_min_length'],
        multi_case: settings['users.password_multi_case'],
        min_numeric: settings['users.password_min_numeric'],
        min_special: settings['users.password_min_special'],
        disable_sequential: settings['users.password_disable_sequential'],
        history: settings['users.password_history'],
      },
      profiles: profiles
        .map(profile => ({
          id: profile.ID,
          name: profile.Name,
          kind: providerTable[profile.ProviderName].segment,
          start_url: toProfileUrls(profile, readDashboardUrl(settings)).loginUrl,
        }))
        .sort((one, other) => compareCodePoints(one.name, other.name)),
    };
  },
});

export const signInOptionOperations = [getSignInOptions];
