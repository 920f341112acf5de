import type { Clock } from '#base/clock.ts';
import { createPublicId } from '#base/ids.ts';
import type { SignInTokenStore } from '../sessions/token-store.ts';
import type { AssertedUser } from './asserted-user.ts';
import type { SignOnFlow } from './flow-cookie.ts';
import { buildAuthorizationUrl, type CodeFlowServices, completeCodeFlow, createFlowSecrets } from './oidc/code-flow.ts';
import { problem } from './problems.ts';
import type { IdentityProfile } from './profiles/schema.ts';
import type { ProviderSlots } from './provider-slots.ts';
import { buildSamlUrl, completeSaml, type SamlServices } from './saml/sign-on.ts';
import { flowTtlSeconds } from './sealed-cookie.ts';
import type { SignOnTester } from './test-ticket.ts';

export interface RedirectFlowServices extends CodeFlowServices, SamlServices {
  signInTokens: SignInTokenStore;
  providerSlots: ProviderSlots;
  clock: Clock;
}

/** Begins a redirect through the provider of a profile: the flow is for the cookie of the browser. */
export async function beginRedirect(
  services: RedirectFlowServices,
  profile: IdentityProfile,
  {
    next,
    redirectUrl,
    tester,
  }: { readonly next: string; readonly redirectUrl: string; readonly tester?: SignOnTester | undefined },
): Promise<{ flow: SignOnFlow; url: string }> {
  const flow: SignOnFlow = {
    id: createPublicId(),
    profileId: profile.ID,
    ...createFlowSecrets(),
    next,
    ...(tester && { tester }),
    expiresAtMs: services.clock.now() + flowTtlSeconds * 1000,
  };
  const buildUrl = profile.ProviderName === 'SAMLProvider' ? buildSamlUrl : buildAuthorizationUrl;
  return { flow, url: await buildUrl(services, profile, flow, redirectUrl) };
}

/** User of a response of the provider, in the browser that began the flow. */
export async function completeRedirect(
  services: RedirectFlowServices,
  profile: IdentityProfile,
  flow: SignOnFlow,
  query: Readonly<Record<string, unknown>>,
  redirectUrl: string,
): Promise<AssertedUser> {
  if (profile.ProviderName === 'ADProvider') throw problem.flow_missing();
  if (profile.ProviderName === 'SAMLProvider') return completeSaml(services, profile, flow, query.response);
  return services.providerSlots.run(profile.OrgID, () => completeCodeFlow(services, profile, flow, query, redirectUrl));
}

/** Replay protection: a flow is completed once. */
export async function useFlow(
  { signInTokens, clock }: RedirectFlowServices,
  { OrgID: orgId }: IdentityProfile,
  { id: value, expiresAtMs }: SignOnFlow,
): Promise<void> {
  const used = { purpose: 'sso-flow', orgId, value, expiresAtMs } as const;
  if (!(await signInTokens.markUsed(used, clock.now()))) throw problem.flow_missing();
}
