import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import type { PortalServices } from '../portal-stores.ts';
import { toUserRow, UserRow } from './schema.ts';

export const getPortalSession = operation({
  surface: 'portal',
  noun: 'portal session',
  permission: 'secret',
  name: 'getPortalSession',
  method: 'GET',
  path: '/portal-api/session',
  about: 'Returns the administrator who is signed in to the portal, and the CSRF token of the session.',
  returns: z.object({
    user: UserRow.nullable().describe('Null for the token of the portal, which belongs to no user'),
    csrf_token: z.string().describe('Empty without a session'),
  }),
  async handle({ actor }, { portal }: Pick<PortalServices, 'portal'>) {
    const user = actor.sessionId ? await portal.users.get(Number(actor.id.replace(/^portal:/, ''))) : undefined;
    return {
      user: user ? toUserRow(user) : null,
      csrf_token: actor.sessionId ? portal.sessions.csrfToken(actor.sessionId) : '',
    };
  },
});

export const portalSessionOperations = [getPortalSession];
