import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import { idList } from '#operations/shapes.ts';
import type { FactorStore } from './factor-store.ts';

export const listSecondFactors = operation({
  surface: 'dashboard',
  noun: 'users',
  name: 'listSecondFactors',
  method: 'GET',
  path: '/api/users/second-factors',
  about: 'Lists which of some users have an authenticator app or passkeys. Users without either are left out.',
  permission: 'users:read',
  query: z.object({ ids: idList.describe('Ids of users, comma-separated, 100 at most') }),
  returns: z.object({
    users: z.array(
      z.object({
        id: z.string(),
        totp: z.boolean().describe('An authenticator app is set up'),
        passkeys: z.int().describe('Number of passkeys'),
      }),
    ),
  }),
  handle: async ({ actor, query: { ids } }, { factors }: { factors: FactorStore }) => ({
    users: await factors.listKinds(actor.orgId, ids),
  }),
});

export const factorListOperations = [listSecondFactors];
