import { createDatabaseId } from '#base/ids.ts';
import { maskHeaders, restoreHeaders } from '#events/hooks/header-masks.ts';
import { addHook, createHook, deleteHook, updateHook } from '#events/hooks/operations.ts';
import { type Hook, HookWrite } from '#events/hooks/schema.ts';
import { wholeList } from '#storage/collection.ts';
import { authorize, type CheckInput, callOperation, checkSpec, type Kind, type RunContext } from '../kind.ts';
import type { Spec } from '../schema.ts';
import { sortById } from '../sort-by-id.ts';
import { databaseId, ensureSameDatabaseId } from './database-id.ts';

const WebhookSpec = HookWrite.pick({
  method: true,
  target_path: true,
  event_timeout: true,
  header_map: true,
  name: true,
  template_path: true,
}).extend({ database_id: databaseId.optional() });

const toStoredObject = (hook: Hook) => {
  const { id: database_id, webhook_id, api_model: _model, org_id: _org, ...members } = hook;
  return { id: webhook_id, spec: { ...members, database_id }, source: hook };
};

function checkWebhook(context: RunContext, { id, given, before }: CheckInput) {
  const { header_map, database_id, ...spec } = checkSpec(context, WebhookSpec, { id, given });
  const stored = before?.source as Hook | undefined;
  if (stored) ensureSameDatabaseId(database_id, stored.id);
  const restored = { ...spec, header_map: restoreHeaders(header_map, stored?.header_map) };
  return { id, given, spec: { ...restored, database_id: stored?.id ?? database_id } };
}

const toBody = (id: string, { database_id: _id, ...spec }: Spec) => ({ ...spec, webhook_id: id });

/** Webhooks, by webhook id. Every header value is treated as a secret. */
export const webhookKind: Kind = {
  name: 'webhook',
  permission: 'hooks',
  async list({ services, actor }) {
    return sortById((await services.hooks.page(actor.orgId, wholeList)).items.map(toStoredObject));
  },
  check: checkWebhook,
  mask(spec) {
    return { ...spec, header_map: maskHeaders((spec.header_map ?? {}) as Hook['header_map']) };
  },
  async create(context, { id, spec }) {
    const body = toBody(id, spec);
    await authorize(context, createHook, { body });
    const { database_id } = spec as { database_id?: string };
    await addHook(context.services, context.actor.orgId, {
      ...HookWrite.parse(body),
      id: database_id ?? createDatabaseId(),
    });
  },
  update: (context, { id, spec }, { source }) =>
    callOperation(context, updateHook, { params: { hookId: (source as Hook).id }, body: toBody(id, spec) }),
  remove: (context, { source }) => callOperation(context, deleteHook, { params: { hookId: (source as Hook).id } }),
};
