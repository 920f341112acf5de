import type { Clock } from '#base/clock.ts';
import { constantTimeEqual } from '#base/constant-time.ts';
import type { Settings } from '#base/settings.ts';
import type { Vault } from '#base/vault.ts';
import type { SignInTokenStore } from '../../sessions/token-store.ts';
import type { AssertedUser } from '../asserted-user.ts';
import type { SignOnFlow } from '../flow-cookie.ts';
import { problem, SignOnRefusal } from '../problems.ts';
import { readSaml, readSamlKey } from '../profiles/provider-configs.ts';
import type { IdentityProfile } from '../profiles/schema.ts';
import { checkAssertion, readAssertedUser, readClaims } from './assertion.ts';
import type { FindSamlProvider } from './metadata.ts';
import { buildRequestUrl } from './request.ts';
import { readSignedAssertion } from './response.ts';
import type { ServiceProvider } from './service-metadata.ts';

export interface SamlServices {
  findSamlProvider: FindSamlProvider;
  signInTokens: SignInTokenStore;
  clock: Clock;
  settings: Settings;
  vault: Vault;
}

const pendingPurpose = 'pending SAML assertion';

/** Seconds between the response of the provider and the request of the browser that follows it. */
const pendingAssertionTtlSeconds = 60;

/** Entity id of the service provider. */
const toEntityId = ({ ProviderConfig }: IdentityProfile, redirectUrl: string): string =>
  readSaml(ProviderConfig).EntityId || redirectUrl.replace(/\/callback$/, '/metadata');

export const toServiceProvider = (profile: IdentityProfile, redirectUrl: string): ServiceProvider => ({
  entityId: toEntityId(profile, redirectUrl),
  redirectUrl,
  logoutUrl: redirectUrl.replace(/\/callback$/, '/logout'),
  key: readSamlKey(readSaml(profile.ProviderConfig)),
});

export async function buildSamlUrl(
  { findSamlProvider, clock }: SamlServices,
  profile: IdentityProfile,
  flow: SignOnFlow,
  redirectUrl: string,
): Promise<string> {
  const config = readSaml(profile.ProviderConfig);
  return buildRequestUrl(await findSamlProvider(profile.OrgID, config), {
    id: toRequestId(flow),
    entityId: toEntityId(profile, redirectUrl),
    redirectUrl,
    forcesAuthentication: config.ForceAuthentication,
    nowMs: clock.now(),
  });
}

const testPrefix = '_test-';

/** An XML id begins with a letter or an underscore. That of a test says so: its response comes without the cookie. */
const toRequestId = ({ state, tester }: SignOnFlow) => `${tester ? testPrefix : '_'}${state}`;

interface PendingAssertion {
  readonly profileId: string;
  readonly inResponseTo: string;
  readonly user: AssertedUser;
}

/**
 * Assertion consumer service. The provider posts across sites, so that the browser sends no `SameSite=Lax` cookie: the
 * verified user waits under a token, and the redirect that follows brings the cookie of the flow. Attributes are kept
 * for a test alone.
 */
export async function receiveResponse(
  { findSamlProvider, signInTokens, clock, settings, vault }: SamlServices,
  profile: IdentityProfile,
  encoded: string,
  redirectUrl: string,
): Promise<string> {
  const config = readSaml(profile.ProviderConfig);
  const provider = await findSamlProvider(profile.OrgID, config);
  const xml = Buffer.from(encoded, 'base64').toString('utf8');
  const key = readSamlKey(config);
  const acceptsRsa15 = settings['sso.allow_saml_rsa15'];
  const assertion = readSignedAssertion(xml, provider.certificates, key && { ...key, acceptsRsa15 });
  const nowMs = clock.now();
  const entityId = toEntityId(profile, redirectUrl);
  const { id, inResponseTo, expiresAtMs } = checkAssertion(assertion, {
    issuer: provider.entityId,
    entityId,
    redirectUrl,
    nowMs,
  });
  const value = JSON.stringify([profile.ID, provider.entityId, id]);
  const used = { purpose: 'saml-assertion', orgId: profile.OrgID, value, expiresAtMs } as const;
  if (!(await signInTokens.markUsed(used, nowMs))) throw new SignOnRefusal('the assertion was used already');
  const pending: PendingAssertion = {
    profileId: profile.ID,
    inResponseTo,
    user: {
      ...readAssertedUser(profile, config, assertion),
      ...(inResponseTo.startsWith(testPrefix) && { claims: readClaims(assertion) }),
    },
  };
  return signInTokens.insert(
    {
      purpose: 'saml',
      orgId: profile.OrgID,
      ownerId: profile.ID,
      expiresAtMs: nowMs + pendingAssertionTtlSeconds * 1000,
      body: vault.seal(JSON.stringify(pending), pendingPurpose),
    },
    nowMs,
  );
}

/** Completes the flow in the browser that began it: the response must answer its request. */
export async function completeSaml(
  { signInTokens, clock, vault }: SamlServices,
  profile: IdentityProfile,
  flow: SignOnFlow,
  token: unknown,
): Promise<AssertedUser> {
  const found = typeof token === 'string' ? await signInTokens.find('saml', token, clock.now()) : undefined;
  if (!found || !(await signInTokens.use(found))) throw problem.flow_missing();
  const { profileId, inResponseTo, user } = JSON.parse(vault.open(found.body, pendingPurpose)) as PendingAssertion;
  if (profileId !== profile.ID) throw new SignOnRefusal('profile mismatch');
  if (!constantTimeEqual(inResponseTo, toRequestId(flow))) throw new SignOnRefusal('InResponseTo mismatch');
  return user;
}
