import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query';
import { CallError, callServer, type ResultOf, setCsrfToken } from '../../kit/calls.ts';

export type CurrentUser = ResultOf<'GET /api/session'>;

const sessionKey = ['GET /api/session', {}] as const;
const sessionRefreshMs = 60_000;

async function readSession(): Promise<CurrentUser> {
  const { value } = await callServer('GET /api/session', {});
  setCsrfToken(value.csrf_token);
  return value;
}

/** Session of this browser; undefined where there is none. */
export async function loadSession(client: QueryClient): Promise<CurrentUser | undefined> {
  const cached = client.getQueryData<CurrentUser>(sessionKey);
  if (cached) return cached;
  try {
    return await client.fetchQuery({ queryKey: sessionKey, queryFn: readSession });
  } catch (error) {
    if (error instanceof CallError && error.status === 401) return undefined;
    throw error;
  }
}

export function storeSession(client: QueryClient, session: CurrentUser): void {
  setCsrfToken(session.csrf_token);
  client.setQueryData(sessionKey, session);
}

/** The signed-in user; permissions are read again every minute. Only below the shell, which loads the session. */
export function useSession(): CurrentUser {
  const { data } = useQuery({ queryKey: sessionKey, queryFn: readSession, refetchInterval: sessionRefreshMs });
  const cached = useQueryClient().getQueryData<CurrentUser>(sessionKey);
  const session = data ?? cached;
  if (!session) throw new Error('useSession needs a session');
  return session;
}

/** The same decision as `hasPermission` of the server, for what the page shows; the server decides. */
export function canUse({ permissions }: Pick<CurrentUser, 'permissions'>, permission: string): boolean {
  const [name = '', required = 'read'] = permission.split(':');
  const isAdmin = permissions.IsAdmin === 'admin';
  if (name === 'admin') return isAdmin;
  const level = permissions[name];
  if (level === 'deny') return false;
  if (isAdmin || level === 'write' || level === 'admin') return true;
  return level === 'read' && required === 'read';
}

export const usePermission = (permission: string): boolean => canUse(useSession(), permission);

/** `owned_analytics` has counts by API and error only; administrators are not narrowed. */
export function useNarrowedAnalytics(): boolean {
  const session = useSession();
  return !canUse(session, 'admin') && canUse(session, 'owned_analytics');
}
