import type { Flow } from '#base/fair-queue.ts';
import { createSortableId } from '#base/ids.ts';
import { Problem } from '#base/problems.ts';
import type { StoredSignInToken } from '#people/sessions/token-store.ts';
import { redeemCode } from '../invite-codes/redemption.ts';
import { mailWaiting, mailWelcome } from '../mails/account-mails.ts';
import { readPortalUrl } from '../portal-url.ts';
import { problem } from '../problems.ts';
import { hashCheckedPassword, insertUser } from '../users/creation.ts';
import type { StoredPortalUser } from '../users/schema.ts';
import { portalMessages } from '../webhooks/notify.ts';
import { sendAccountMail } from './account-mails.ts';
import { type AccountServices, canSignUp } from './account-services.ts';

/** Sign-up: the account is created when its address is confirmed; until then it is part of a token. */
export interface SignUp {
  readonly email: string;
  readonly first: string;
  readonly last: string;
  readonly password: string;
  /** Values of custom attributes by their number. */
  readonly attributes: readonly (readonly [id: number, value: string])[];
  /** Accepted terms of use, with the client address. */
  readonly terms?: { readonly id: number; readonly address: string; readonly acceptedAt: number };
  /** Invite code that names the team; 0 without one. */
  readonly codeId?: number;
  /** Page to continue at after the first sign-in. */
  readonly next: string;
}

export const verifyPath = '/auth/verify';
/** A sign-up is kept as many lifetimes of its link: the link of an expired one can be sent again. */
const keptLifetimes = 2;
const signUpPurpose = 'portal sign-up';

/** Sign-up as its token has it. */
interface TokenBody extends SignUp {
  /** End of the link, before that of the token. */
  readonly linkEndsAt?: number;
}

/** Owner of the tokens of an address, which is in clear text in the outbox alone. */
const toTokenOwner = (email: string, { vault }: AccountServices) => `portal: ${vault.digest(email, signUpPurpose)}`;

async function sendConfirmation(signUp: SignUp, services: AccountServices): Promise<void> {
  const { portal, signInTokens, clock, settings, vault } = services;
  const owner = { purpose: 'portal-sign-up', orgId: '', ownerId: toTokenOwner(signUp.email, services) } as const;
  const lifetimeMs = settings['portal.link_ttl_seconds'] * 1000;
  const expiresAtMs = clock.now() + keptLifetimes * lifetimeMs;
  const content: TokenBody = { ...signUp, linkEndsAt: clock.now() + lifetimeMs };
  const body = vault.seal(JSON.stringify(content), signUpPurpose);
  const isKnown = (await portal.users.findByEmail(signUp.email)) !== undefined;
  const token = await signInTokens.insert({ ...owner, expiresAtMs, body }, clock.now());
  const base = readPortalUrl(settings);
  const user = { First: isKnown ? '' : signUp.first, Last: isKnown ? '' : signUp.last, Email: signUp.email };
  if (isKnown) return sendAccountMail('registered', user, `${base}/auth/password/login`, services);
  await sendAccountMail('verify', user, `${base}${verifyPath}?token=${token}`, services);
}

/**
 * Queues a mail to the address: a link to confirm it, or a note that it has an account. Answer and time of the request
 * are the same for both.
 */
export async function requestSignUp(signUp: SignUp, address: string, flow: Flow, services: AccountServices) {
  const isAllowed = services.portalMailLimit.allow(signUp.email, address);
  const password = await hashCheckedPassword(signUp.password, services.settings, flow);
  if (isAllowed)
    services.portalMailQueue.enqueue('portal sign-up', () => sendConfirmation({ ...signUp, password }, services));
}

/** Queues a new link to a sign-up that waits; without one, nothing is sent. The former links go on working. */
export function requestNewLink(email: string, address: string, services: AccountServices): void {
  if (!services.portalMailLimit.allow(email, address)) return;
  services.portalMailQueue.enqueue('portal sign-up', async () => {
    const { signInTokens, clock } = services;
    const token = await signInTokens.findOfOwner('portal-sign-up', toTokenOwner(email, services), clock.now());
    if (token) await sendConfirmation(openSignUp(token, services), services);
  });
}

const openSignUp = ({ body }: StoredSignInToken, { vault }: AccountServices) =>
  JSON.parse(vault.open(body, signUpPurpose)) as TokenBody;

export interface FoundSignUp {
  readonly token: StoredSignInToken;
  readonly signUp: SignUp;
}

/** Finds the sign-up of a link without using it. */
export async function findSignUp(text: string, services: AccountServices): Promise<FoundSignUp | undefined> {
  if (text === '' || !canSignUp(services)) return undefined;
  const token = await services.signInTokens.find('portal-sign-up', text, services.clock.now());
  const signUp = token && openSignUp(token, services);
  return token && signUp && (signUp.linkEndsAt ?? token.expiresAtMs) > services.clock.now()
    ? { token, signUp }
    : undefined;
}

/**
 * Creates the confirmed account, once, and ends all links of its address; undefined where the link was used, or the
 * address has an account by now.
 */
export async function completeSignUp(
  { token, signUp }: FoundSignUp,
  services: AccountServices,
): Promise<StoredPortalUser | undefined> {
  const { records, signInTokens } = services;
  try {
    return await records.write(async () =>
      (await signInTokens.useOfOwner(token)) ? await createSignedUp(signUp, services) : undefined,
    );
  } catch (error) {
    if (error instanceof Problem && error.code === problem.user_exists.code) return undefined;
    throw error;
  }
}

/** Inside a transaction: the user has the least role, in the team of its code or in the default organisation. */
async function createSignedUp(signUp: SignUp, services: AccountServices): Promise<StoredPortalUser> {
  const { portal, clock, settings } = services;
  const now = clock.now();
  const isOpen = settings['portal.registration'] === 'open';
  const user = {
    CID: createSortableId(now),
    Email: signUp.email,
    First: signUp.first,
    Last: signUp.last,
    Active: isOpen,
    ...(!isOpen && { AwaitsApproval: true }),
    Role: 'consumer-team-member' as const,
    Provider: 'password',
    Password: signUp.password,
    ResetPassword: false,
    CreatedAt: now,
    UpdatedAt: now,
  };
  const team = signUp.codeId ? await redeemCode(signUp.codeId, services) : undefined;
  const place = team ? { organisationId: team.OrganisationID, teams: [team.ID] } : { teams: [] };
  const created = await insertUser(user, place, services);
  // An attribute may have been deleted since the form was sent.
  for (const [id, value] of signUp.attributes)
    if (await portal.attributes.custom.lock(id)) await portal.attributes.values.set(created.ID, id, value);
  if (signUp.terms?.id) {
    const { id: TermsID, address: Address, acceptedAt: AcceptedAt } = signUp.terms;
    await portal.terms.accept({ TermsID, UserID: created.ID, Email: created.Email, Address, AcceptedAt });
  }
  await portal.notify('UserVerified', portalMessages.user(created, await portal.attributes.listValues(created.ID)));
  await mailWelcome(created, services);
  if (!created.Active) await mailWaiting(created, services);
  return created;
}
