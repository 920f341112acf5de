import { z } from 'zod';
import type { Settings } from '#base/settings.ts';
import type { Vault } from '#base/vault.ts';
import type { Actor } from '#operations/actor.ts';
import { operation } from '#operations/operation.ts';
import { problem as peopleProblem } from '../../problems.ts';
import { readDashboardUrl } from '../../sessions/dashboard-url.ts';
import { problem as sessionProblem } from '../../sessions/problems.ts';
import { problem } from '../problems.ts';
import type { ProviderSlots } from '../provider-slots.ts';
import { createTestTicket } from '../test-ticket.ts';
import type { GroupGrantServices } from './group-grant-check.ts';
import type { ProviderCheckServices } from './provider-check.ts';
import { buildProfile, checkProfileGrant } from './rules.ts';
import { type IdentityProfile, IdentityProfileWrite, toProfileUrls } from './schema.ts';
import type { IdentityProfileStore } from './store.ts';

export interface ProviderTestServices extends ProviderCheckServices, GroupGrantServices {
  identityProfiles: IdentityProfileStore;
  providerSlots: ProviderSlots;
  vault: Vault;
  settings: Settings;
}

const declared = { surface: 'dashboard', noun: 'identity profiles', permission: 'idm:write' } as const;

export const ProviderCheckView = z.object({
  check: z.string().describe('discovery, keys; metadata, certificates; connection, bind, search'),
  status: z.enum(['passed', 'failed', 'skipped']),
  message: z.string(),
});

const testResult = z.object({
  Status: z.enum(['OK', 'Error']),
  Message: z.string(),
  Meta: z.null(),
  checks: z.array(ProviderCheckView),
});

async function runTest(
  services: ProviderTestServices,
  profile: IdentityProfile,
  address: string,
): Promise<z.output<typeof testResult>> {
  // Loaded on first use, with the clients of all kinds of providers.
  const { checkProvider } = await import('./provider-check.ts');
  const checks = await services.providerSlots.run(profile.OrgID, () => checkProvider(services, profile, address));
  const failed = checks.find(({ status }) => status === 'failed');
  const summary = failed
    ? { Status: 'Error' as const, Message: `${failed.check}: ${failed.message}` }
    : { Status: 'OK' as const, Message: 'The identity provider is usable' };
  return { ...summary, Meta: null, checks };
}

function toTestUrl({ vault, settings, clock }: ProviderTestServices, profile: IdentityProfile, { id, name }: Actor) {
  if (!profile.Active) return '';
  const url = new URL(toProfileUrls(profile, readDashboardUrl(settings)).loginUrl);
  url.searchParams.set('test', createTestTicket(vault, { profileId: profile.ID, tester: { id, name } }, clock.now()));
  return url.href;
}

export const testNewIdentityProfile = operation({
  ...declared,
  name: 'testNewIdentityProfile',
  method: 'POST',
  path: '/api/sso/profiles/test',
  about:
    'Tests an identity profile before it is saved: whether the provider is reachable, its discovery document or metadata valid, the bind of a directory accepted. Nothing is stored.',
  body: IdentityProfileWrite,
  returns: testResult,
  problems: [
    problem.group_unknown,
    problem.too_many_sign_ons,
    peopleProblem.only_admin_grants,
    peopleProblem.grant_not_held,
    peopleProblem.group_owns_hidden_apis,
    sessionProblem.limited,
  ],
  async handle({ actor, body, address }, services: ProviderTestServices) {
    const profile = buildProfile(body, { actor, nowMs: services.clock.now() }, { ID: '' });
    await checkProfileGrant(services, actor, profile);
    return runTest(services, profile, address);
  },
});

export const testIdentityProfile = operation({
  ...declared,
  name: 'testIdentityProfile',
  method: 'POST',
  path: '/api/sso/profiles/{profileId}/test',
  about:
    'Tests a saved identity profile with its stored secrets: whether the provider is reachable, its discovery document or metadata valid, the bind of a directory accepted. test_url tests a whole sign-on in a browser: it shows the claims and the resulting permissions, and opens no session.',
  params: z.object({ profileId: z.string() }),
  returns: testResult.extend({
    test_url: z.string().describe('Valid for ten minutes; empty for an inactive profile'),
  }),
  problems: [problem.profile_not_found, problem.too_many_sign_ons, sessionProblem.limited],
  async handle({ actor, params: { profileId }, address, audit }, services: ProviderTestServices) {
    audit(profileId);
    const profile = await services.identityProfiles.get(actor.orgId, profileId);
    if (!profile) throw problem.profile_not_found();
    return { ...(await runTest(services, profile, address)), test_url: toTestUrl(services, profile, actor) };
  },
});

export const providerCheckOperations = [testNewIdentityProfile, testIdentityProfile];
