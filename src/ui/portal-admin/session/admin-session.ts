import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query';
import { CallError, callServer, type ResultOf, setCsrfToken } from '../../kit/calls.ts';

/** The signed-in administrator, with the session of the site. */
export type AdminUser = NonNullable<ResultOf<'GET /portal-api/session'>['user']>;

const adminSessionKey = ['GET /portal-api/session', {}] as const;
const sessionRefreshMs = 60_000;

async function readAdminSession(): Promise<AdminUser> {
  const { value } = await callServer('GET /portal-api/session', {});
  setCsrfToken(value.csrf_token);
  if (!value.user) throw new CallError(401, {}, null);
  return value.user;
}

/** Administrator of this browser; undefined where none is signed in. */
export async function loadAdminSession(client: QueryClient): Promise<AdminUser | undefined> {
  const cached = client.getQueryData<AdminUser>(adminSessionKey);
  return cached ?? reloadAdminSession(client);
}

/** Reads the session again, apart from a read that may be waiting for the sign-in. */
export async function reloadAdminSession(client: QueryClient): Promise<AdminUser | undefined> {
  try {
    return client.setQueryData<AdminUser>(adminSessionKey, await readAdminSession());
  } catch (error) {
    if (error instanceof CallError && error.status === 401) return undefined;
    throw error;
  }
}

/** Only below the shell, which loads the session. */
export function useAdminSession(): AdminUser {
  const { data } = useQuery({
    queryKey: adminSessionKey,
    queryFn: readAdminSession,
    refetchInterval: sessionRefreshMs,
  });
  const cached = useQueryClient().getQueryData<AdminUser>(adminSessionKey);
  const user = data ?? cached;
  if (!user) throw new Error('useAdminSession needs a session');
  return user;
}

/** The sign-in page of the site, which leads back to `next`. */
export const toSignInAddress = (next: string): string => `/auth/password/login?next=${encodeURIComponent(next)}`;
