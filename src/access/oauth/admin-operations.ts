import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import { statusResponse, toStatus } from '#operations/shapes.ts';
import type { GatewayOauthServices } from './gw-operations.ts';
import { purgeLapsedTokens } from './gw-token-operations.ts';
import { problem } from './problems.ts';

export const purgeOauthTokens = operation({
  surface: 'admin',
  noun: 'oauth',
  name: 'purgeOauthTokens',
  method: 'DELETE',
  changesTraffic: true,
  path: '/admin/oauth/tokens',
  about: 'Deletes the expired tokens and codes of all organisations. They are refused already.',
  permission: 'secret',
  query: z.object({ scope: z.string().max(100).default('').describe('lapsed') }),
  returns: statusResponse,
  problems: [problem.lapsed_scope_missing, problem.scope_unknown],
  async handle({ query: { scope }, audit }, services: GatewayOauthServices) {
    if (scope === '') throw problem.lapsed_scope_missing();
    if (scope !== 'lapsed') throw problem.scope_unknown();
    audit(scope);
    await purgeLapsedTokens(services);
    return toStatus('success');
  },
});

export const adminOauthOperations = [purgeOauthTokens];
