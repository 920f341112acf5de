import type { FastifyRequest } from 'fastify';
import { constantTimeEqual } from '#base/constant-time.ts';
import type { Actor, Authenticate, AuthenticateSession } from './actor.ts';
import type { AuthFailureLimit } from './auth-failure-limit.ts';
import { problem } from './problems.ts';
import { readSessionCookie } from './session-cookie.ts';
import { type SurfaceName, surfaces } from './surfaces.ts';

export interface RequestAuthentication {
  readonly authenticate: Readonly<Partial<Record<SurfaceName, Authenticate>>>;
  /** Session cookies of surfaces; without an entry none is accepted. */
  readonly authenticateSession?: Readonly<Partial<Record<SurfaceName, AuthenticateSession>>>;
  /** Shared by all listeners of the process. */
  readonly failures: AuthFailureLimit;
}

export type AuthenticateRequest = (request: FastifyRequest, surfaceName: SurfaceName) => Promise<Actor>;

/** Authenticates by head alone, before the body is read. A credential header has precedence over a session cookie. */
export function createAuthenticator(options: RequestAuthentication): AuthenticateRequest {
  const { authenticate, failures } = options;
  return async (request, surfaceName) => {
    const surface = surfaces[surfaceName];
    const header = request.headers[surface.credentialHeader];
    const credential = typeof header === 'string' ? surface.extractCredential(header.trim()) : '';
    if (!credential) return authenticateByCookie(options, request, surfaceName);
    const actor = await authenticate[surfaceName]?.(credential);
    if (actor) return actor;
    const { ip: address, method } = request;
    throw failures.reject({ surface: surfaceName, address, method, path: request.url.split('?')[0]! });
  };
}

const safeMethods = new Set(['GET', 'HEAD']);

/**
 * Authenticates by session cookie. A browser adds it to requests of other sites too, so every write also carries the
 * CSRF token of the session. Unknown tokens are not counted as failures: sessions expire, and 256 random bits are not
 * guessed.
 */
async function authenticateByCookie(
  { authenticateSession }: RequestAuthentication,
  { headers, method }: FastifyRequest,
  surfaceName: SurfaceName,
): Promise<Actor> {
  const { sessionCookie: cookieName, prefix } = surfaces[surfaceName];
  const token = cookieName && readSessionCookie(headers.cookie, cookieName);
  const session = token ? await authenticateSession?.[surfaceName]?.(token) : undefined;
  if (!session) throw problem.not_authorised();
  const csrfToken = headers['x-csrf-token'];
  if (!safeMethods.has(method) && !(typeof csrfToken === 'string' && constantTimeEqual(csrfToken, session.csrfToken)))
    throw problem.csrf_token_wrong({ detail: { prefix } });
  return session.actor;
}
