import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import type { PortalServices } from '../portal-stores.ts';
import { present, problem } from '../problems.ts';
import { okResponse, okStatus, portalId } from '../shapes.ts';
import { toSessionOwner } from '../users/session-owner.ts';
import { removePortalTotp } from './second-factor.ts';

type Services = Pick<PortalServices, 'portal' | 'records' | 'clock' | 'settings'>;

export const removePortalSecondFactor = operation({
  surface: 'portal',
  noun: 'portal users',
  permission: 'secret',
  name: 'removePortalSecondFactor',
  method: 'DELETE',
  path: '/portal-api/users/{user_id}/second-factor',
  about: 'Removes authenticator app and recovery codes of a user who lost them; the user gets a mail.',
  params: z.object({ user_id: portalId }),
  returns: okResponse,
  problems: [problem.not_found, problem.second_factor_missing, problem.own_second_factor],
  async handle({ actor, params: { user_id }, audit }, services: Services) {
    const user = present(await services.portal.users.get(user_id), 'User');
    audit(String(user.ID));
    if (actor.id === toSessionOwner(user.ID)) throw problem.own_second_factor();
    if (!(await removePortalTotp(user, 'An administrator removed the authenticator app', services)))
      throw problem.second_factor_missing();
    return okStatus;
  },
});
