import type { QueryClient } from '@tanstack/react-query';
import { callServer } from '../../kit/calls.ts';
import { type CurrentUser, canUse } from '../session/session.ts';
import { toLocalPath } from './return-path.ts';

/** Page after a sign-in: the return address, else the introduction as long as there is no API, else home. */
export async function findFirstPage(client: QueryClient, session: CurrentUser, next: string | undefined) {
  const path = toLocalPath(next);
  if (path !== '/' || !canUse(session, 'apis:write')) return path;
  const [apis, preferences] = await Promise.all([
    client.fetchQuery({
      queryKey: ['GET /api/apis', { query: {} }],
      queryFn: () => callServer('GET /api/apis', { query: {} }),
    }),
    callServer('GET /api/preferences', {}),
  ]);
  return apis.value.apis.length === 0 && !preferences.value.first_run?.is_done ? '/welcome' : path;
}
