import { z } from 'zod';
import type { Actor } from '#operations/actor.ts';
import { operation } from '#operations/operation.ts';
import { idListOrEmpty, pageNumber, unixSeconds } from '#operations/shapes.ts';
import { isVisible, withoutHidden } from '../hidden-rights.ts';
import { toIssuedKey } from './issue.ts';
import { type KeyOperationServices, resolveApiId } from './lookup.ts';
import { KeyEnvelope } from './schema.ts';

/** Lists of keys over all APIs, with filters that the database evaluates. */
const declared = { surface: 'dashboard', noun: 'keys', permission: 'keys:read' } as const;

const maxIdLength = 256;
const listQuery = z.object({
  q: z.string().max(1024).optional().describe('Part of the key id'),
  search: z.string().max(500).optional().describe('Part of the alias, user name or hash, case-insensitive'),
  api_id: z.string().max(maxIdLength).optional().describe('Keys that may call this API, also through a policy'),
  policy_id: z.string().max(maxIdLength).optional().describe('Keys with this policy, by its public id'),
  state: z
    .enum(['active', 'inactive', 'expired'])
    .optional()
    .describe('Inactive: by the key, or by a policy in state deny where the key has policies'),
  kind: z.enum(['token', 'basic']).optional().describe('API keys, or basic-auth users'),
  expires_before: unixSeconds.optional().describe('Keys that expire before this Unix time, expired ones too'),
  tag: z.string().max(maxIdLength).optional().describe('Keys with exactly this tag'),
  p: pageNumber,
});

export const listKeysDetailed = operation({
  ...declared,
  name: 'listKeysDetailed',
  method: 'GET',
  path: '/api/keys/detailed',
  about: 'Lists the keys of the caller’s organisation with all their members, newest first.',
  query: listQuery,
  returns: z.object({ keys: z.array(KeyEnvelope), pages: z.int() }),
  async handle({ actor, query: { p, ...sent } }, services: KeyOperationServices) {
    const { keys, settings, ownership, clock } = services;
    const hidden = await ownership.findHidden(actor);
    const { items, pages } = await keys.page(actor.orgId, {
      page: p,
      size: settings['management.page_size'],
      hiddenApis: hidden.apiIds,
      q: sent.q,
      text: sent.search,
      apiId: sent.api_id && (await resolveApiId(services, actor, sent.api_id)),
      policyId: sent.policy_id,
      state: sent.state,
      kind: sent.kind,
      expiresBefore: sent.expires_before,
      tag: sent.tag || undefined,
      nowMs: clock.now(),
    });
    return { keys: items.map(it => toIssuedKey({ ...it, key: withoutHidden(it.key, hidden) })), pages };
  },
});

export const countKeys = operation({
  ...declared,
  name: 'countKeys',
  method: 'GET',
  path: '/api/keys/counts',
  about: 'Counts the keys that have each of some policies, and those that may call each of some APIs.',
  query: z.object({
    policy_id: idListOrEmpty.describe('Public ids of policies, comma-separated'),
    api_id: idListOrEmpty.describe(
      'Public ids of APIs, comma-separated; keys with a policy that grants the API count too',
    ),
  }),
  returns: z.object({
    total: z.int().describe('All keys of the organisation that the caller may see'),
    policies: z.record(z.string(), z.int()),
    apis: z.record(z.string(), z.int()),
  }),
  async handle({ actor, query }, services: KeyOperationServices) {
    const { apiIds: hiddenApis } = await services.ownership.findHidden(actor);
    const policyIds = await findVisiblePolicyIds(services, actor, query.policy_id);
    const counts = await services.keys.countBy(actor.orgId, { hiddenApis, policyIds, apiIds: query.api_id });
    const toCounts = (ids: readonly string[], found: ReadonlyMap<string, number>) =>
      Object.fromEntries(ids.map(id => [id, found.get(id) ?? 0]));
    return {
      total: counts.total,
      policies: toCounts(query.policy_id, counts.policies),
      apis: toCounts(query.api_id, counts.apis),
    };
  },
});

/** Policies that grant hidden APIs alone count like unknown ones. */
async function findVisiblePolicyIds(
  { policies, ownership }: KeyOperationServices,
  actor: Actor,
  ids: readonly string[],
): Promise<string[]> {
  const hidden = await ownership.findHidden(actor);
  const found = await policies.findByIds(actor.orgId, ids);
  return [...found.values()].filter(policy => isVisible(policy, hidden)).map(({ id }) => id);
}

export const keyListOperations = [listKeysDetailed, countKeys];
