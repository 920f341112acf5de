import { z } from 'zod';
import { createSortableId } from '#base/ids.ts';
import { operation } from '#operations/operation.ts';
import { createInvalidProblem, type ValidationError } from '#operations/validation-error.ts';
import type { PortalServices } from '../portal-stores.ts';
import { present, problem } from '../problems.ts';
import type { TaskServices } from '../provider-tasks/perform.ts';
import { okResponse, okStatus, type PortalRef, portalId, portalPageQuery } from '../shapes.ts';
import { endClientTypes } from './forced-removal.ts';
import { forceDeletion, removeClientTypes } from './operations.ts';
import {
  ClientType,
  ClientTypeChange,
  ClientTypeWrite,
  type StoredClientType,
  type StoredOauthProvider,
  toClientTypeView,
} from './schema.ts';

type Services = Pick<PortalServices, 'portal' | 'records' | 'clock'>;

const declared = { surface: 'portal', noun: 'oauth-providers', permission: 'secret' } as const;
const params = z.object({ provider_id: portalId });
const typeParams = params.extend({ client_type_id: portalId });
const maxClientTypes = 1000;

const requireProvider = async (ref: PortalRef, { portal }: Services): Promise<StoredOauthProvider> =>
  present(await portal.oauthProviders.get(ref), 'OAuth provider');

/** A client type of this provider, not of another one. */
async function requireType(provider: StoredOauthProvider, ref: PortalRef, { portal }: Services) {
  const type = await portal.clientTypes.get(ref);
  return present(type?.ProviderID === provider.ID ? type : undefined, 'Client type');
}

/** Okta decides by its type of app; every other provider by response and grant types. */
function refuseMismatch({ Type }: StoredOauthProvider, type: Omit<StoredClientType, 'ID'>): void {
  const faults: ValidationError[] = [];
  const isOkta = Type === 'Okta';
  if (isOkta && !type.OktaAppType) faults.push({ path: 'OktaAppType', message: 'is required for Okta' });
  if (!isOkta && type.OktaAppType) faults.push({ path: 'OktaAppType', message: `is of Okta only, not of ${Type}` });
  for (const member of ['ResponseTypes', 'GrantType'] as const)
    if (!isOkta && type[member] === '') faults.push({ path: member, message: 'is required' });
  if (faults.length > 0) throw createInvalidProblem(faults);
}

const applyChange = <T extends Omit<StoredClientType, 'ID'>>(before: T, body: ClientTypeChange): T => ({
  ...before,
  Name: body.Name ?? before.Name,
  Description: body.Description ?? before.Description,
  ResponseTypes: body.ResponseTypes ?? before.ResponseTypes,
  GrantType: body.GrantType ?? before.GrantType,
  TokenEndpointAuthMethod: body.TokenEndpointAuthMethod ?? before.TokenEndpointAuthMethod,
  OktaAppType: body.OktaAppType ?? before.OktaAppType,
});

export const listClientTypes = operation({
  ...declared,
  name: 'listClientTypes',
  method: 'GET',
  path: '/portal-api/oauth-providers/{provider_id}/client-types',
  about: 'Lists the client types of an OAuth provider, newest first.',
  params,
  query: portalPageQuery,
  returns: z.array(ClientType),
  problems: [problem.not_found],
  async handle({ params: { provider_id }, query }, services: Services) {
    const { ID } = await requireProvider(provider_id, services);
    return (await services.portal.clientTypes.pageOfProvider(query, ID)).map(toClientTypeView);
  },
});

export const createClientType = operation({
  ...declared,
  name: 'createClientType',
  method: 'POST',
  path: '/portal-api/oauth-providers/{provider_id}/client-types',
  about: 'Adds a client type to an OAuth provider. Lists are comma-separated, or arrays.',
  params,
  body: ClientTypeWrite,
  example: { Name: 'Web app', ResponseTypes: 'code', GrantType: 'authorization_code,refresh_token' },
  returns: ClientType,
  problems: [problem.not_found, problem.cid_taken, problem.too_many_client_types],
  async handle({ params: { provider_id }, body, audit }, services: Services) {
    const { portal, records, clock } = services;
    const provider = await requireProvider(provider_id, services);
    audit(String(provider.ID));
    const now = clock.now();
    const fresh = {
      CID: body.CID ?? createSortableId(now),
      ProviderID: provider.ID,
      ...{ Name: body.Name, Description: '', ResponseTypes: '', GrantType: '' },
      CreatedAt: now,
      UpdatedAt: now,
    };
    const type = applyChange<Omit<StoredClientType, 'ID'>>(fresh, body);
    const created = await records.write(async () => {
      refuseMismatch(present(await portal.oauthProviders.change(provider.ID, it => it), 'OAuth provider'), type);
      if ((await portal.clientTypes.count({ provider_id: provider.ID })) >= maxClientTypes)
        throw problem.too_many_client_types({ detail: { max: maxClientTypes } });
      return portal.clientTypes.insert(type);
    });
    return toClientTypeView(created);
  },
});

export const getClientType = operation({
  ...declared,
  name: 'getClientType',
  method: 'GET',
  path: '/portal-api/oauth-providers/{provider_id}/client-types/{client_type_id}',
  about: 'Returns a client type of an OAuth provider.',
  params: typeParams,
  returns: ClientType,
  problems: [problem.not_found],
  async handle({ params: { provider_id, client_type_id } }, services: Services) {
    return toClientTypeView(await requireType(await requireProvider(provider_id, services), client_type_id, services));
  },
});

export const updateClientType = operation({
  ...declared,
  name: 'updateClientType',
  method: 'PUT',
  path: '/portal-api/oauth-providers/{provider_id}/client-types/{client_type_id}',
  about: 'Updates a client type; omitted members do not change.',
  params: typeParams,
  body: ClientTypeChange,
  example: { Name: 'Web app', ResponseTypes: 'code', GrantType: 'authorization_code' },
  returns: ClientType,
  problems: [problem.not_found],
  async handle({ params: { provider_id, client_type_id }, body, audit }, services: Services) {
    const provider = await requireProvider(provider_id, services);
    audit(String(provider.ID));
    const { ID } = await requireType(provider, client_type_id, services);
    const changed = await services.portal.clientTypes.change(ID, before => {
      const next = { ...applyChange(before, body), UpdatedAt: services.clock.now() };
      refuseMismatch(provider, next);
      return next;
    });
    return toClientTypeView(present(changed, 'Client type'));
  },
});

export const deleteClientType = operation({
  ...declared,
  name: 'deleteClientType',
  method: 'DELETE',
  path: '/portal-api/oauth-providers/{provider_id}/client-types/{client_type_id}',
  about: 'Deletes a client type. With force, its OAuth clients are deleted and access requests rejected.',
  params: typeParams,
  query: forceDeletion,
  returns: okResponse,
  problems: [problem.not_found, problem.client_type_in_use],
  async handle({ params: { provider_id, client_type_id }, query, audit }, services: TaskServices) {
    const provider = await requireProvider(provider_id, services);
    audit(String(provider.ID));
    const { ID } = await requireType(provider, client_type_id, services);
    if (query.force) await endClientTypes([ID], services);
    await services.records.write(() => removeClientTypes([ID], services, query.force));
    return okStatus;
  },
});

export const clientTypeOperations = [
  listClientTypes,
  createClientType,
  getClientType,
  updateClientType,
  deleteClientType,
];
