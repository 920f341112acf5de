import type { SurfaceName } from './surfaces.ts';

/** Authenticated caller. `orgId` is empty for the admin and gateway secrets, which belong to no organisation. */
export interface Actor {
  readonly surface: SurfaceName;
  readonly id: string;
  /** Display name for audit records: an e-mail address, or the name of the secret. */
  readonly name: string;
  readonly orgId: string;
  /** Active user groups of a dashboard user: one of an account, any number after a single sign-on without one. */
  readonly groupIds?: readonly string[];
  /** Permission name to level: `read`, `write`, `deny`, `admin`. */
  readonly permissions: Readonly<Record<string, string>>;
  /** Browser session of the request; absent for access keys and secrets. */
  readonly sessionId?: string;
  /** Set after a single sign-on without an account: the caller has no user record. */
  readonly temporaryUser?: TemporaryUser;
}

export interface TemporaryUser {
  readonly email: string;
  readonly displayName: string;
}

/** Resolves a credential to its actor; undefined for a wrong one. */
export type Authenticate = (credential: string) => Promise<Actor | undefined>;

/** Browser session behind a cookie. */
export interface SessionActor {
  readonly actor: Actor;
  /** Required in `X-CSRF-Token` of writes. */
  readonly csrfToken: string;
}

/** Resolves the token of a session cookie; undefined for an unknown or expired one. */
export type AuthenticateSession = (token: string) => Promise<SessionActor | undefined>;

export const isAdmin = ({ permissions }: Pick<Actor, 'permissions'>): boolean => permissions.IsAdmin === 'admin';

/** The only permission check. An administrator holds everything that is not denied by name. */
export function hasPermission(actor: Actor, permission: string): boolean {
  if (permission === 'secret') return actor.surface !== 'dashboard';
  if (permission === 'any user' || permission === 'public') return true;
  if (permission === 'admin') return isAdmin(actor);
  const [name, requiredLevel] = permission.split(':') as [string, string];
  const level = actor.permissions[name];
  if (level === 'deny') return false;
  if (isAdmin(actor)) return true;
  return level === 'write' || level === 'admin' || (level === 'read' && requiredLevel === 'read');
}
