import { z } from 'zod';
import { describeAgent } from '#base/agent-name.ts';
import { formatIsoTime } from '#base/clock.ts';
import { User } from '../users/schema.ts';
import type { StoredSession } from './store.ts';

/** E-mail address as a client sends it: in any case, with blanks around. */
export const typedEmail = z
  .string()
  .min(1)
  .max(254)
  .transform(text => text.trim().toLowerCase());
export const typedPassword = z.string().min(1).max(1024);
/** Code of an authenticator app, or a recovery code. */
export const typedCode = z.string().min(1).max(64);

export const SignIn = z.object({
  username: typedEmail.describe('E-mail address of the account'),
  password: typedPassword,
  org_id: z.string().max(64).optional().describe('Organisation, where the address has accounts in several'),
  otp: typedCode.optional().describe('Code of the authenticator app, or a recovery code'),
});

export const BrowserSession = z.object({
  id: z.string(),
  created_at: z.string(),
  last_seen_at: z.string(),
  expires_at: z.string().describe('End of the session, however much it is used'),
  address: z.string().describe('Client address of the sign-in'),
  user_agent: z.string(),
  client: z.string().describe('Browser and system of the user agent; empty for none'),
  current: z.boolean().describe('The session of this request'),
});
export type BrowserSession = z.output<typeof BrowserSession>;

export const CurrentSession = z.object({
  user: User,
  organisation: z.object({ id: z.string(), owner_name: z.string(), ui: z.record(z.string(), z.unknown()) }),
  permissions: z.record(z.string(), z.string()),
  second_factors: z.array(z.enum(['totp'])),
  recovery_codes_left: z.int(),
  passkeys: z.int().describe('Number of passkeys'),
  csrf_token: z.string().describe('For `X-CSRF-Token` of writes; empty where the request has no session'),
  portal_url: z.string().describe('Address of the developer portal; empty where this process knows none'),
  session: BrowserSession.nullable().describe('null where the request was made with an access key'),
});

export const toSession = (session: StoredSession, currentId?: string): BrowserSession => ({
  id: session.id,
  created_at: formatIsoTime(session.createdAtMs),
  last_seen_at: formatIsoTime(session.seenAtMs),
  expires_at: formatIsoTime(session.expiresAtMs),
  address: session.address,
  user_agent: session.userAgent,
  client: describeAgent(session.userAgent),
  current: session.id === currentId,
});
