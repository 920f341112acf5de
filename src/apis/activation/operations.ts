import { z } from 'zod';
import { extensionName } from '#definition/document-members.ts';
import { operation } from '#operations/operation.ts';
import { statusResponse, toStatus, toWarningsMember } from '#operations/shapes.ts';
import { type ApiServices, changeApi, checkDefinition } from '../api/changes.ts';
import type { DefinitionOfKind, StoredApi } from '../api/schema.ts';
import { problem } from '../problems.ts';

const params = z.object({ apiId: z.string().describe('Public or database id of the API') });
const declared = {
  surface: 'dashboard',
  noun: 'apis',
  method: 'PUT',
  changesTraffic: true,
  permission: 'apis:write',
  params,
  returns: statusResponse,
} as const;

/** Copy of a definition, in its own format, that serves requests or does not. */
function withActive(api: StoredApi, active: boolean): DefinitionOfKind {
  if (api.kind === 'classic') return { kind: api.kind, definition: { ...api.definition, active } };
  const extension = api.definition[extensionName];
  const info = { ...extension.info, state: { ...extension.info.state, active } };
  const definition = { ...api.definition, [extensionName]: { ...extension, info } };
  return { kind: api.kind, definition } as DefinitionOfKind;
}

export const activateApi = operation({
  ...declared,
  name: 'activateApi',
  path: '/api/apis/{apiId}/actions/activate',
  about: 'Lets an API serve requests. Its definition is checked as in an update.',
  problems: [
    problem.definition_not_found,
    problem.route_taken,
    problem.too_many_routes,
    problem.domain_not_granted,
    problem.path_not_granted,
    problem.reference_not_owned,
    problem.reference_open,
  ],
  async handle({ actor, params: { apiId }, audit }, services: ApiServices) {
    audit(apiId);
    let warned: ReturnType<typeof toWarningsMember> = {};
    const api = await changeApi(services, { actor, orgId: actor.orgId, ref: apiId }, before => {
      const { kind, definition } = withActive(before, true);
      const written = checkDefinition(kind, definition, services);
      warned = toWarningsMember(written);
      return { ...written, wrapper: before.wrapper };
    });
    audit(api.api_id);
    return { ...toStatus('API activated'), ...warned };
  },
});

export const deactivateApi = operation({
  ...declared,
  name: 'deactivateApi',
  path: '/api/apis/{apiId}/actions/deactivate',
  about: 'Takes an API out of service: its route is not found. Definition, keys and policies do not change.',
  problems: [problem.definition_not_found, problem.api_not_owned],
  async handle({ actor, params: { apiId }, audit }, services: ApiServices) {
    audit(apiId);
    const api = await changeApi(services, { actor, orgId: actor.orgId, ref: apiId }, before => ({
      ...withActive(before, false),
      wrapper: before.wrapper,
    }));
    audit(api.api_id);
    return toStatus('API deactivated');
  },
});

export const apiActivationOperations = [activateApi, deactivateApi];
