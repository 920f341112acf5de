import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import { problem as sessionProblem } from '#people/sessions/problems.ts';
import { problem as signOnProblem } from '#people/single-sign-on/problems.ts';
import type { ProviderCheck, ProviderCheckServices } from '#people/single-sign-on/profiles/provider-check.ts';
import { ProviderCheckView } from '#people/single-sign-on/profiles/provider-check-operations.ts';
import type { ProviderSlots } from '#people/single-sign-on/provider-slots.ts';
import { problem as portalProblem, present } from '../problems.ts';
import { isSignOnProfile, toSignOnProfile } from './identity-profile.ts';
import type { SsoProfile } from './schema.ts';
import type { SsoProfileStore } from './store.ts';

export interface SsoProfileTestServices extends ProviderCheckServices {
  ssoProfiles: SsoProfileStore;
  providerSlots: ProviderSlots;
  defaultOrgId: () => Promise<string>;
}

/** Faults of the configuration, or else what the provider answers. */
async function listChecks(stored: SsoProfile, address: string, services: SsoProfileTestServices) {
  const profile = toSignOnProfile(stored, await services.defaultOrgId());
  if (!isSignOnProfile(profile))
    return profile.map(({ path, message }): ProviderCheck => ({ check: path, status: 'failed', message }));
  const { identity } = profile;
  // Loaded on first use, with the clients of all kinds of providers.
  const { checkProvider } = await import('#people/single-sign-on/profiles/provider-check.ts');
  return services.providerSlots.run(identity.OrgID, () => checkProvider(services, identity, address));
}

export const testSsoProfile = operation({
  surface: 'portal',
  noun: 'sso profiles',
  permission: 'secret',
  name: 'testSsoProfile',
  method: 'POST',
  path: '/portal-api/sso_profiles/{profile_id}/test',
  about:
    'Tests a single sign-on profile with its stored secrets: whether its configuration is complete, the provider reachable, its documents valid, the bind of a directory accepted.',
  params: z.object({ profile_id: z.string() }),
  returns: z.object({
    status: z.enum(['ok', 'error']),
    message: z.string(),
    checks: z.array(ProviderCheckView),
  }),
  problems: [portalProblem.not_found, signOnProblem.too_many_sign_ons, sessionProblem.limited],
  async handle({ params: { profile_id }, address, audit }, services: SsoProfileTestServices) {
    audit(profile_id);
    const stored = present(await services.ssoProfiles.get(profile_id), 'SSO profile');
    const checks = await listChecks(stored, address, services);
    const failed = checks.find(({ status }) => status === 'failed');
    if (failed) return { status: 'error' as const, message: `${failed.check}: ${failed.message}`, checks };
    return { status: 'ok' as const, message: 'The identity provider is usable', checks };
  },
});

export const ssoProfileTestOperations = [testSsoProfile];
