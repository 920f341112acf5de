import { z } from 'zod';
import { toAddressKey } from '#base/address-key.ts';
import type { Clock } from '#base/clock.ts';
import { createFailureCounter } from '#base/failure-counter.ts';
import type { Settings } from '#base/settings.ts';
import { operation } from '#operations/operation.ts';
import { problem as refusal } from '#operations/problems.ts';
import { statusResponse, toStatus } from '#operations/shapes.ts';
import type { GroupStore } from '../groups/store.ts';
import { problem as peopleProblem } from '../problems.ts';
import { rejectOutranking } from '../users/grant-check.ts';
import { findReset, type PasswordResetServices, setForgottenPassword } from './password-reset.ts';
import { problem } from './problems.ts';
import { createResetLink } from './reset-link.ts';
import type { ResetMails } from './reset-mails.ts';
import { typedEmail, typedPassword } from './schema.ts';
import { toAuditActor } from './sign-in.ts';

export interface ResetServices extends PasswordResetServices {
  groups: GroupStore;
  resetMails: ResetMails;
  resetLimit: ResetLimit;
}

export type ResetLimit = ReturnType<typeof createResetLimit>;

/** Requests per account and window; further ones send no mail. */
const maxMailsPerAccount = 3;
const maxKeys = 20_000;

/** Rate limit of reset mails: by client address with 429, by account without a sign to the client. */
export function createResetLimit(settings: Settings, clock: Clock) {
  const bounds = { windowMs: settings['sign_in.failure_window_seconds'] * 1000, maxKeys };
  const addresses = createFailureCounter({ ...bounds, maxFailures: settings['sign_in.max_address_failures'] }, clock);
  const accounts = createFailureCounter({ ...bounds, maxFailures: maxMailsPerAccount }, clock);
  return {
    /** True where a mail may be sent. */
    allow(account: string, address: string): boolean {
      const key = toAddressKey(address);
      const seconds = addresses.retryAfterSeconds(key);
      if (addresses.isOverLimit(key))
        throw problem.limited({ detail: { when: `in ${seconds} seconds`, retryAfter: seconds } });
      addresses.record(key);
      if (accounts.isOverLimit(account)) return false;
      accounts.record(account);
      return true;
    },
  };
}

const declared = { surface: 'dashboard', noun: 'session' } as const;
const jsonOnly = { only: ['application/json'] } as const;

export const forgetPassword = operation({
  ...declared,
  name: 'forgetPassword',
  method: 'POST',
  path: '/api/session/forgot',
  about: 'Mails a link to set a new password. The same answer for an unknown address.',
  permission: 'public',
  accepts: jsonOnly,
  body: z.object({ email: typedEmail, org_id: z.string().max(64).optional() }),
  returns: statusResponse,
  problems: [problem.limited],
  async handle({ body: { email, org_id: orgId }, address }, { resetMails, resetLimit }: ResetServices) {
    const isAllowed = resetLimit.allow(email, address);
    if (!resetMails.isConfigured)
      return toStatus('No mail server is configured: ask an administrator for a link to set a new password');
    if (isAllowed) resetMails.enqueue(email, orgId);
    return toStatus('If the address has an account, a mail with a link is on its way');
  },
});

export const resetForgottenPassword = operation({
  ...declared,
  name: 'resetForgottenPassword',
  method: 'POST',
  path: '/api/session/reset',
  about: 'Sets a new password with the token of a link, once. Ends all sessions of the user.',
  permission: 'public',
  accepts: jsonOnly,
  body: z.object({ token: z.string().min(1).max(256), new_password: typedPassword }),
  returns: statusResponse,
  problems: [problem.token_invalid, peopleProblem.bad_password],
  async handle({ body, identify }, services: ResetServices) {
    const reset = await findReset(services, body.token);
    if (!reset) throw problem.token_invalid();
    identify(toAuditActor(reset.user));
    await setForgottenPassword(services, reset, body.new_password);
    return toStatus('Password updated');
  },
});

const resetLink = z.object({
  Status: z.string(),
  Message: z.string(),
  Meta: z.object({ link: z.string(), token: z.string(), expires_at: z.string() }),
});
const linkMessage = 'The link opens a page to set a new password, once';

export const createUserResetLink = operation({
  ...declared,
  noun: 'users',
  name: 'createUserResetLink',
  method: 'POST',
  path: '/api/users/{userId}/actions/reset-link',
  about:
    'Creates a token with which another active user sets a new password. Requires an administrator with ResetPassword.',
  permission: 'admin',
  params: z.object({ userId: z.string() }),
  returns: resetLink,
  problems: [
    peopleProblem.user_not_found,
    peopleProblem.user_outranks,
    refusal.not_permitted,
    problem.own_password,
    problem.account_inactive,
  ],
  async handle({ actor, params: { userId }, audit }, services: ResetServices) {
    audit(userId);
    if (actor.permissions.ResetPassword !== 'admin')
      throw refusal.not_permitted({ detail: { permission: 'ResetPassword' } });
    if (userId === actor.id) throw problem.own_password();
    const user = await services.users.get(actor.orgId, userId);
    if (!user) throw peopleProblem.user_not_found();
    await rejectOutranking(services.groups, actor, user);
    if (!user.active) throw problem.account_inactive();
    const link = await createResetLink(services, user, services.settings['sign_in.link_ttl_seconds']);
    return { ...toStatus(linkMessage), Meta: link };
  },
});

interface NamedUser {
  readonly email_address?: string | undefined;
  readonly user_id?: string | undefined;
  readonly org_id?: string | undefined;
}

async function findNamedUsers({ users }: ResetServices, { email_address, user_id = '', org_id }: NamedUser) {
  if (email_address !== undefined) return users.findByEmail(email_address, org_id);
  const user = await users.getInAnyOrganisation(user_id);
  return user && (org_id === undefined || user.org_id === org_id) ? [user] : [];
}

export const adminCreateResetLink = operation({
  surface: 'admin',
  noun: 'users',
  name: 'adminCreateResetLink',
  method: 'POST',
  path: '/admin/users/actions/reset-link',
  about: 'Creates a token with which an active user, named by e-mail address or id, sets a new password.',
  permission: 'secret',
  body: z
    .object({
      email_address: typedEmail.optional(),
      user_id: z.string().min(1).max(64).optional().describe('Id of the user, instead of the address'),
      org_id: z.string().max(64).optional().describe('Organisation, where the address has accounts in several'),
    })
    .refine(
      body => (body.email_address === undefined) !== (body.user_id === undefined),
      'must have one of email_address and user_id',
    ),
  returns: resetLink,
  problems: [peopleProblem.user_not_found, problem.organisation_required, problem.account_inactive],
  async handle({ body, audit }, services: ResetServices) {
    const [user, ...others] = await findNamedUsers(services, body);
    if (!user) throw peopleProblem.user_not_found();
    if (others.length > 0) throw problem.organisation_required();
    audit(user.id, user.org_id);
    if (!user.active) throw problem.account_inactive();
    const link = await createResetLink(services, user, services.settings['sign_in.link_ttl_seconds']);
    return { ...toStatus(linkMessage), Meta: link };
  },
});

export const resetOperations = [forgetPassword, resetForgottenPassword, createUserResetLink, adminCreateResetLink];
