import { z } from 'zod';
import type { AddressPolicies } from '#base/address-policies.ts';
import { refuseWrittenAddress } from '#base/address-policy.ts';
import type { Clock } from '#base/clock.ts';
import { createDatabaseId, createPublicId } from '#base/ids.ts';
import type { Settings } from '#base/settings.ts';
import { dependentsProblem, forceQuery, type RefuseDependents } from '#operations/dependents.ts';
import { operation } from '#operations/operation.ts';
import { limitReached } from '#operations/problems.ts';
import { createdResponse, pageQuery, statusResponse, toPageRequest, toStatus } from '#operations/shapes.ts';
import { createInvalidProblem } from '#operations/validation-error.ts';
import type { Records } from '#storage/records.ts';
import { maskHookFor, restoreHeaders } from './header-masks.ts';
import { problem } from './problems.ts';
import { Hook, HookWrite } from './schema.ts';
import type { HookStore } from './store.ts';

export interface HookServices {
  hooks: HookStore;
  clock: Clock;
  settings: Settings;
  addressPolicies: AddressPolicies;
}

export function ensureTargetAllowed({ addressPolicies }: Pick<HookServices, 'addressPolicies'>, target: string): void {
  const refused = refuseWrittenAddress(addressPolicies.operator, target);
  if (refused) throw createInvalidProblem([{ path: 'target_path', message: refused.message }]);
}

/** Stores a new webhook after the check of its target. */
export async function addHook(
  { hooks, clock, addressPolicies }: Omit<HookServices, 'settings'>,
  orgId: string,
  { id, ...written }: HookWrite & Pick<Hook, 'id'>,
): Promise<void> {
  ensureTargetAllowed({ addressPolicies }, written.target_path);
  const webhook_id = written.webhook_id || createPublicId();
  await hooks.insert({ ...written, api_model: {}, id, org_id: orgId, webhook_id }, clock.now());
}

const params = z.object({ hookId: z.string() });
const declared = { surface: 'dashboard', noun: 'webhooks' } as const;

export const listHooks = operation({
  ...declared,
  name: 'listHooks',
  method: 'GET',
  path: '/api/hooks',
  about: 'Lists the webhooks of the caller’s organisation, newest first.',
  permission: 'hooks:read',
  query: pageQuery,
  returns: z.object({ hooks: z.array(Hook), pages: z.int() }),
  async handle({ actor, query }, { hooks, settings }: HookServices) {
    const { items, pages } = await hooks.page(actor.orgId, toPageRequest(query.p, settings['management.page_size']));
    return { hooks: items.map(hook => maskHookFor(actor, hook)), pages };
  },
});

export const createHook = operation({
  ...declared,
  name: 'createHook',
  isRepeatable: true,
  method: 'POST',
  changesTraffic: true,
  path: '/api/hooks',
  about: 'Creates a webhook for the event handlers of APIs.',
  permission: 'hooks:write',
  body: HookWrite,
  returns: createdResponse,
  problems: [problem.id_taken, limitReached],
  async handle({ actor, body, audit }, services: HookServices) {
    const id = createDatabaseId();
    audit(id);
    await addHook(services, actor.orgId, { ...body, header_map: restoreHeaders(body.header_map), id });
    return { ...toStatus('Webhook created'), ID: id };
  },
});

export const getHook = operation({
  ...declared,
  name: 'getHook',
  versioned: 'hooks',
  method: 'GET',
  path: '/api/hooks/{hookId}',
  about: 'Returns a webhook; header values are masked for callers without hooks:write.',
  permission: 'hooks:read',
  params,
  returns: Hook,
  problems: [problem.not_found],
  async handle({ actor, params: { hookId } }, { hooks }: HookServices) {
    const hook = await hooks.get(actor.orgId, hookId);
    if (!hook) throw problem.not_found();
    return maskHookFor(actor, hook);
  },
});

export const updateHook = operation({
  ...declared,
  name: 'updateHook',
  versioned: 'hooks',
  method: 'PUT',
  changesTraffic: true,
  path: '/api/hooks/{hookId}',
  about:
    'Replaces a webhook; omitted members become empty, except webhook_id, which APIs refer to. A masked header value keeps the stored one.',
  permission: 'hooks:write',
  params,
  body: HookWrite,
  returns: statusResponse,
  problems: [problem.not_found, problem.id_taken],
  async handle({ actor, params: { hookId }, body, audit }, { hooks, addressPolicies }: HookServices) {
    audit(hookId);
    ensureTargetAllowed({ addressPolicies }, body.target_path);
    const changed = await hooks.change(actor.orgId, hookId, ({ api_model, id, org_id, webhook_id, header_map }) => ({
      ...body,
      header_map: restoreHeaders(body.header_map, header_map),
      api_model,
      id,
      org_id,
      webhook_id: body.webhook_id || webhook_id,
    }));
    if (!changed) throw problem.not_found();
    return toStatus('Hook updated');
  },
});

export const deleteHook = operation({
  ...declared,
  name: 'deleteHook',
  versioned: 'hooks',
  method: 'DELETE',
  changesTraffic: true,
  path: '/api/hooks/{hookId}',
  about: 'Deletes a webhook.',
  permission: 'hooks:write',
  params,
  query: forceQuery,
  returns: statusResponse,
  problems: [problem.not_found, dependentsProblem],
  async handle(
    { actor, params: { hookId }, query, audit },
    services: HookServices & { records: Records; refuseDependents: RefuseDependents },
  ) {
    audit(hookId);
    await services.records.write(async () => {
      await services.refuseDependents('hooks', { actor, orgId: actor.orgId, ref: hookId }, query.force);
      if (!(await services.hooks.remove(actor.orgId, hookId))) throw problem.not_found();
    });
    return toStatus('Webhook deleted');
  },
});

export const hookOperations = [listHooks, createHook, getHook, updateHook, deleteHook];
