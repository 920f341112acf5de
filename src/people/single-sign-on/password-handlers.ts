import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { escapeMarkup } from '#base/escape-markup.ts';
import { parseMediaType } from '#base/media-type.ts';
import type { Settings } from '#base/settings.ts';
import { readDashboardUrl } from '../sessions/dashboard-url.ts';
import type { AssertedUser } from './asserted-user.ts';
import type { LdapCredentials } from './ldap/authenticate.ts';
import { authenticateInDirectory, type DirectorySignOnServices } from './ldap/directory-sign-on.ts';
import { toNameKey } from './ldap/names.ts';
import { readNextPath } from './next-path.ts';
import { problem } from './problems.ts';
import { findLoginProfile, openProfileSignOn } from './profile-sign-on.ts';
import type { IdentityProfile } from './profiles/schema.ts';
import type { ProviderSlots } from './provider-slots.ts';
import { replyWithSession, type SignOnAttempt } from './sign-on-reply.ts';
import { isTestRequest, replyWithTest, requireTester, type SignOnTestServices } from './sign-on-test.ts';

export interface PasswordRouteServices extends SignOnTestServices, DirectorySignOnServices {
  providerSlots: ProviderSlots;
}

/** Sign-on with name and password of a directory, which are sent here. */
export const createPasswordHandler =
  (services: PasswordRouteServices) =>
  (request: FastifyRequest, reply: FastifyReply): ReturnType<typeof replyWithSession> =>
    isTestRequest(request)
      ? replyWithTest(
          services,
          request,
          reply,
          profile => requireTester(services, request, profile),
          (profile, attempt) => authenticateForm(services, request, profile, attempt),
        )
      : replyWithSession(services, request, reply, attempt => signOnWithPassword(services, request, attempt));

const Credentials = z.object({ username: z.string().max(254), password: z.string().max(1024) });

async function signOnWithPassword(services: PasswordRouteServices, request: FastifyRequest, attempt: SignOnAttempt) {
  rejectForeignForm(request, services.settings);
  const profile = await findLoginProfile(services, request, attempt);
  const user = await authenticateForm(services, request, profile, attempt);
  const opened = await openProfileSignOn(services, profile, user, request);
  return { opened, next: readNextPath((request.query as { next?: unknown }).next) };
}

/** User of the directory whose name and password a form of this site has. */
async function authenticateForm(
  services: PasswordRouteServices,
  request: FastifyRequest,
  profile: IdentityProfile,
  attempt: SignOnAttempt,
): Promise<AssertedUser> {
  rejectForeignForm(request, services.settings);
  if (profile.ProviderName !== 'ADProvider') throw problem.profile_unknown();
  const counted = services.signInLimit.beginFromAddress(request.ip);
  const credentials = readCredentials(request);
  counted.succeed();
  attempt.account = toNameKey(credentials.username);
  return services.providerSlots.run(profile.OrgID, () =>
    authenticateInDirectory(services, profile, credentials, request.ip),
  );
}

/**
 * Login cross-site request forgery: a form of another site could sign a browser on with the name of its author. Browsers
 * name the origin of every POST request; other clients send neither header.
 */
function rejectForeignForm({ headers }: FastifyRequest, settings: Settings): void {
  const { origin, host, 'sec-fetch-site': site } = headers;
  if (site !== undefined && site !== 'same-origin' && site !== 'none') throw problem.origin_foreign();
  if (origin === undefined) return;
  const url = URL.parse(origin);
  if (!url || (url.host !== host && url.origin !== new URL(readDashboardUrl(settings)).origin))
    throw problem.origin_foreign();
}

function readCredentials({ headers, body }: FastifyRequest): LdapCredentials {
  const text = Buffer.isBuffer(body) ? body.toString('utf8') : '';
  const type = parseMediaType(headers['content-type'] ?? '');
  const parsed = Credentials.safeParse(type === 'application/json' ? parseJsonBody(text) : parseForm(text));
  if (!parsed.success) throw problem.credentials_missing();
  return parsed.data;
}

function parseJsonBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw problem.credentials_missing();
  }
}

/** A repeated member is refused: two readers could choose differently. */
function parseForm(text: string): unknown {
  const form = new URLSearchParams(text);
  if (form.getAll('username').length > 1 || form.getAll('password').length > 1) throw problem.credentials_missing();
  return Object.fromEntries(form);
}

/** Form of a directory. It loads nothing, and posts to its own address, query included. */
export const replyWithForm = (reply: FastifyReply, { Name }: IdentityProfile): FastifyReply =>
  reply
    .type('text/html; charset=utf-8')
    .send(
      [
        `<!doctype html><html lang="en"><title>Sign on</title><h1>${escapeMarkup(Name)}</h1><form method="post">`,
        '<p><label>User name <input name="username" autocomplete="username" required autofocus></label></p>',
        '<p><label>Password <input name="password" type="password" autocomplete="current-password" required></label></p>',
        '<p><button>Sign on</button></p></form></html>',
      ].join('\n'),
    );
