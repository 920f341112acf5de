import { z } from 'zod';
import type { Clock } from '#base/clock.ts';
import type { SignInTokenStore } from '#people/sessions/token-store.ts';
import { SignOnRequest, toIdentity } from '#people/single-sign-on/nonce.ts';
import type { SignOnIdentity } from '#people/users/identity.ts';
import type { PortalSignOnSource } from '../accounts/sign-on-account.ts';
import { problem } from './problems.ts';
import { ownDefaults } from './schema.ts';

/** Seconds between the creation of a nonce and its use. */
const nonceTtlSeconds = 60;
const owner = 'portal';
/** `Provider` of accounts that a broker creates. */
export const brokerProvider = 'sso';

const sections = ['portal', 'dashboard'] as const;

/** User whom a broker has authenticated. */
export const PortalSignOnRequest = SignOnRequest.omit({ ForSection: true, GroupID: true, GroupsIDs: true }).extend({
  ForSection: z
    .enum(sections, { error: `must be one of ${sections.join(', ')}` })
    .default('portal')
    .describe('portal for a developer, dashboard for an administrator of the portal'),
  GroupID: z.string().max(64).default('').describe('Team of a new developer'),
  GroupsIDs: z.array(z.string().max(64)).max(100).nullish().describe('Further teams, of the same organisation'),
});
export type PortalSignOnRequest = z.output<typeof PortalSignOnRequest>;

export interface PortalNonceServices {
  signInTokens: SignInTokenStore;
  clock: Clock;
}

interface NonceBody {
  readonly identity: SignOnIdentity;
  readonly section: (typeof sections)[number];
}

/** Creates a nonce: it opens one session of the identity, for a short time. Only its keyed hash is stored. */
export function createPortalNonce(
  { ForSection: section, ...request }: PortalSignOnRequest,
  { signInTokens, clock }: PortalNonceServices,
): Promise<string> {
  const identity = toIdentity({ ...request, ForSection: 'dashboard' });
  const nonce = { identity: { ...identity, groupIds: [...new Set(identity.groupIds)] }, section } satisfies NonceBody;
  const expiresAtMs = clock.now() + nonceTtlSeconds * 1000;
  const token = { purpose: 'portal-sso', orgId: '', ownerId: owner, expiresAtMs, body: JSON.stringify(nonce) } as const;
  return signInTokens.insert(token, clock.now());
}

/** Uses up a nonce, also where the sign-on fails afterwards. */
export async function redeemPortalNonce(
  nonce: string,
  { signInTokens, clock }: PortalNonceServices,
): Promise<{ source: PortalSignOnSource; identity: SignOnIdentity }> {
  const token = nonce === '' ? undefined : await signInTokens.find('portal-sso', nonce, clock.now());
  if (!token || !(await signInTokens.use(token))) throw problem.nonce_invalid();
  const { identity, section } = JSON.parse(token.body) as NonceBody;
  const source: PortalSignOnSource = {
    isForAdministrators: section === 'dashboard',
    provider: brokerProvider,
    sharedProfileId: '',
    defaultRole: ownDefaults.DefaultRole,
    resyncsTeams: false,
    trustsEmail: true,
    subject: undefined,
    async recheck() {},
  };
  return { source, identity };
}
