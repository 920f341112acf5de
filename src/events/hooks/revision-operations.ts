import { limitReached } from '#operations/problems.ts';
import { declareRevisionOperations, type RestoreCall, type RevisionServices } from '#operations/revision-operations.ts';
import { validate } from '#operations/validation-error.ts';
import { maskHookFor } from './header-masks.ts';
import { ensureTargetAllowed, type HookServices } from './operations.ts';
import { problem } from './problems.ts';
import { type Hook, HookWrite } from './schema.ts';

/** Restores a webhook by the rules of an update; a removed one gets its ids again, and a new signing secret. */
async function restoreHook({ actor, state, isExisting }: RestoreCall<Hook>, services: HookServices): Promise<void> {
  const { hooks, clock } = services;
  const { id, org_id, api_model } = state;
  const written = validate(HookWrite, toHookWrite(state));
  ensureTargetAllowed(services, written.target_path);
  const next = { ...written, id, org_id, api_model };
  if (!isExisting) return void (await hooks.insert(next, clock.now()));
  if (!(await hooks.change(actor.orgId, id, () => next))) throw problem.not_found();
}

const toHookWrite = ({ api_model: _model, id: _id, org_id: _org, ...written }: Hook) => written;

export const hookRevisionOperations = declareRevisionOperations<
  Hook,
  HookServices & RevisionServices,
  'hooks',
  'hookId'
>({
  singular: 'Hook',
  plural: 'hooks',
  param: 'hookId',
  noun: 'webhooks',
  article: 'a webhook',
  permissionName: 'hooks',
  changesTraffic: true,
  notFound: problem.not_found,
  problems: [problem.id_taken, limitReached],
  history: ({ hooks }) => hooks.history,
  toView: state => state,
  toViewFor: async actor => state => maskHookFor(actor, state),
  toName: state => state.name,
  isExisting: async (orgId, objectId, { hooks }) => (await hooks.get(orgId, objectId)) !== undefined,
  toPlainWrite: ({ state, isExisting }) => ({
    operation: isExisting ? 'updateHook' : 'createHook',
    method: isExisting ? 'PUT' : 'POST',
    path: isExisting ? `/api/hooks/${state.id}` : '/api/hooks',
    body: toHookWrite(state),
  }),
  restore: restoreHook,
});
