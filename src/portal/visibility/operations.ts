import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import { createInvalidProblem } from '#operations/validation-error.ts';
import type { PortalServices } from '../portal-stores.ts';
import { present, problem } from '../problems.ts';
import { numberedId, paginate, portalPageQuery } from '../shapes.ts';
import { type VisibilityServices, type VisibleKind, visibleKinds } from './kinds.ts';
import type { Visitor } from './rules.ts';
import { identifyVisitor } from './visibility.ts';

const declared = { surface: 'portal', noun: 'visibility', permission: 'secret' } as const;
const kindNames = Object.keys(visibleKinds) as [VisibleKind, ...VisibleKind[]];
const kind = z.enum(kindNames).describe('Kind of object');
const visitorQuery = {
  user_id: z.coerce
    .number()
    .int()
    .min(1)
    .optional()
    .describe('Number of the user whose view is read; without it, that of a visitor who is not signed in'),
};
const VisibleObject = z.object({ ID: z.int(), Name: z.string() });

async function readVisitor(userId: number | undefined, services: Pick<PortalServices, 'portal'>): Promise<Visitor> {
  if (userId !== undefined && !(await services.portal.users.get(userId)))
    throw createInvalidProblem([{ path: 'user_id', message: `there is no user ${userId}` }]);
  return identifyVisitor(userId, services);
}

export const listVisibleObjects = operation({
  ...declared,
  name: 'listVisibleObjects',
  method: 'GET',
  path: '/portal-api/view-as/{kind}',
  about: 'Lists the objects of a kind that a user, or a visitor who is not signed in, sees on the live portal.',
  params: z.object({ kind }),
  query: portalPageQuery.extend(visitorQuery),
  returns: z.array(VisibleObject),
  async handle({ params, query }, services: VisibilityServices) {
    const visitor = await readVisitor(query.user_id, services);
    return paginate((await visibleKinds[params.kind].list(visitor, services)).toReversed(), query);
  },
});

export const getVisibleObject = operation({
  ...declared,
  name: 'getVisibleObject',
  method: 'GET',
  path: '/portal-api/view-as/{kind}/{id}',
  about: 'Returns an object that a user, or a visitor who is not signed in, sees on the live portal; otherwise 404.',
  params: z.object({ kind, id: numberedId }),
  query: z.object(visitorQuery),
  returns: VisibleObject,
  problems: [problem.not_found],
  async handle({ params, query }, services: VisibilityServices) {
    const visitor = await readVisitor(query.user_id, services);
    return present(await visibleKinds[params.kind].find(visitor, params.id, services), 'Object');
  },
});

export const visibilityOperations = [listVisibleObjects, getVisibleObject];
