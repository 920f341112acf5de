import { z } from 'zod';
import type { OwnerServices } from '#apis/api/owner.ts';
import { type OperationCall, operation } from '#operations/operation.ts';
import { modifiedResponse, toModified } from '#operations/shapes.ts';
import { type KeyServices, type PutKeyResult, putKey, readLiveKey, removeKey } from './issue.ts';
import { booleanQuery } from './lookup.ts';
import { problem } from './problems.ts';
import { Key } from './schema.ts';
import type { KeyStore } from './store.ts';

/** Organisation limits of the gateway API. */
export interface GatewayOrganisationKeyServices extends KeyServices, OwnerServices {}

const declared = { surface: 'gateway', noun: 'keys', permission: 'secret' } as const;
const params = z.object({ orgID: z.string().describe('Id of the organisation') });

async function requireOrganisationKey(keys: KeyStore, orgId: string) {
  const stored = await keys.getAnywhere(orgId);
  if (stored?.kind !== 'organisation') throw problem.organisation_key_unknown();
  return stored;
}

const write = {
  path: '/gw/org/keys/{orgID}',
  params,
  query: z.object({ reset_quota: booleanQuery.describe('1 starts a new quota period') }),
  body: Key,
  returns: modifiedResponse,
  problems: [problem.organisation_key_unknown, problem.organisation_changed],
} as const;
type WriteCall = OperationCall<z.output<typeof params>, z.output<typeof write.query>, Key>;

/** Upserts the limits, for POST and PUT; without reset_quota the quota period continues. */
async function putLimits(
  { params: { orgID: orgId }, query, body, audit }: WriteCall,
  services: GatewayOrganisationKeyServices,
): Promise<PutKeyResult['action']> {
  audit(orgId);
  if (!(await services.organisations.get(orgId))) throw problem.organisation_key_unknown();
  if (body.org_id && body.org_id !== orgId) throw problem.organisation_changed({ detail: { id: orgId } });
  const identity = { orgId, keyId: orgId, kind: 'organisation' } as const;
  const { action } = await putKey(services, identity, body, { suppressReset: !query.reset_quota });
  audit(orgId, orgId);
  return action;
}

export const listGatewayOrganisationKeys = operation({
  ...declared,
  name: 'listGatewayOrganisationKeys',
  method: 'GET',
  path: '/gw/org/keys',
  about: 'Lists the organisations with limits, newest first.',
  query: z.object({ filter: z.string().max(1024).default('').describe('Prefix of the ids') }),
  returns: z.object({ keys: z.array(z.string()) }),
  async handle({ query: { filter } }, { keys }: GatewayOrganisationKeyServices) {
    const { items } = await keys.organisationPage({ page: -1, size: 0 });
    return { keys: items.map(it => it.keyId).filter(id => id.startsWith(filter)) };
  },
});

export const getGatewayOrganisationKey = operation({
  ...declared,
  name: 'getGatewayOrganisationKey',
  versioned: 'keys',
  method: 'GET',
  path: '/gw/org/keys/{orgID}',
  about: 'Returns the limits of an organisation, with the current rest of its quota.',
  params,
  returns: Key,
  problems: [problem.organisation_key_unknown],
  async handle({ params: { orgID } }, services: GatewayOrganisationKeyServices) {
    return (await readLiveKey(services, await requireOrganisationKey(services.keys, orgID))).data;
  },
});

export const addGatewayOrganisationKey = operation({
  ...declared,
  ...write,
  name: 'addGatewayOrganisationKey',
  versioned: 'keys',
  method: 'POST',
  changesTraffic: true,
  about: 'Sets the limits of an organisation, replacing earlier ones.',
  handle: async (call, services: GatewayOrganisationKeyServices) =>
    toModified(call.params.orgID, await putLimits(call, services)),
});

export const updateGatewayOrganisationKey = operation({
  ...declared,
  ...write,
  name: 'updateGatewayOrganisationKey',
  versioned: 'keys',
  method: 'PUT',
  changesTraffic: true,
  about: 'Replaces the limits of an organisation, or creates them.',
  async handle(call, services: GatewayOrganisationKeyServices) {
    await putLimits(call, services);
    return toModified(call.params.orgID, 'modified');
  },
});

export const deleteGatewayOrganisationKey = operation({
  ...declared,
  name: 'deleteGatewayOrganisationKey',
  versioned: 'keys',
  method: 'DELETE',
  changesTraffic: true,
  path: '/gw/org/keys/{orgID}',
  about: 'Deletes the limits of an organisation.',
  params,
  returns: modifiedResponse,
  problems: [problem.organisation_key_unknown],
  async handle({ params: { orgID }, audit }, services: GatewayOrganisationKeyServices) {
    audit(orgID);
    const stored = await requireOrganisationKey(services.keys, orgID);
    audit(orgID, stored.orgId);
    if (!(await removeKey(services, stored))) throw problem.organisation_key_unknown();
    return toModified(orgID, 'deleted');
  },
});

export const gatewayOrganisationKeyOperations = [
  listGatewayOrganisationKeys,
  getGatewayOrganisationKey,
  addGatewayOrganisationKey,
  updateGatewayOrganisationKey,
  deleteGatewayOrganisationKey,
];
