import { z } from 'zod';
import type { ApiStore } from '#apis/api/store.ts';
import type { Ownership } from '#apis/owners/store.ts';
import type { HookStore } from '#events/hooks/store.ts';
import { operation } from '#operations/operation.ts';
import { idList } from '#operations/shapes.ts';
import type { KeyStore } from '../keys/store.ts';
import { findHookUses } from './find-dependents.ts';
import { showDependents } from './refuse-dependents.ts';

interface HookUseServices {
  apis: ApiStore;
  hooks: HookStore;
  keys: KeyStore;
  ownership: Ownership;
}

/** APIs of one webhook that a response names. */
const maxApisNamed = 10;

export const listHookUses = operation({
  surface: 'dashboard',
  noun: 'webhooks',
  name: 'listHookUses',
  method: 'GET',
  path: '/api/hooks/uses',
  about: 'Lists the APIs that name each of some webhooks. Ids without a webhook are left out.',
  permission: 'hooks:read',
  query: z.object({ ids: idList.describe('Ids of webhooks, comma-separated, 100 at most') }),
  returns: z.object({
    hooks: z.array(
      z.object({
        hook_id: z.string(),
        apis: z
          .array(z.object({ id: z.string(), name: z.string() }))
          .describe(`The first ${maxApisNamed} that the caller may read`),
        total: z.int().describe('Includes those that are not listed'),
      }),
    ),
  }),
  async handle({ actor, query: { ids } }, services: HookUseServices) {
    const found = await Promise.all(ids.map(id => services.hooks.get(actor.orgId, id)));
    const uses = await findHookUses(
      services,
      actor.orgId,
      found.filter(hook => hook !== undefined),
    );
    const listed: { hook_id: string; apis: { id: string; name: string }[]; total: number }[] = [];
    for (const [hook_id, using] of uses) {
      const { named, total } = await showDependents(services, actor, using);
      listed.push({ hook_id, apis: named.slice(0, maxApisNamed).map(({ id, name }) => ({ id, name })), total });
    }
    return { hooks: listed };
  },
});

export const hookUseOperations = [listHookUses];
