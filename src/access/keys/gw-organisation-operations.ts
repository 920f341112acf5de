import { z } from 'zod';
import type { OwnerServices } from '#apis/api/owner.ts';
import { operation } from '#operations/operation.ts';
import { modifiedResponse, toModified } from '#operations/shapes.ts';
import { type KeyTools, putKey, readLiveKey, removeKey } from './issue.ts';
import { booleanQuery } from './lookup.ts';
import { problem } from './problems.ts';
import { Key } from './schema.ts';
import type { KeyStore } from './store.ts';

/** The limits all keys of an organisation share, as a script sets them. */
export interface GatewayOrganisationKeyTools extends KeyTools, OwnerServices {}

const declared = { surface: 'gateway', noun: 'keys', permission: 'secret' } as const;
const params = z.object({ orgID: z.string().describe('The id of the organisation') });
const query = z.object({ reset_quota: booleanQuery.describe('1 begins a new quota period') });

async function requireOrganisationKey(keys: KeyStore, orgId: string) {
  const stored = await keys.getAnywhere(orgId);
  if (stored?.kind !== 'organisation') throw problem.organisation_key_unknown();
  return stored;
}

/** Without reset_quota what the organisation has used still counts. */
async function putLimits(tools: GatewayOrganisationKeyTools, orgId: string, body: Key, resetQuota: boolean) {
  if (!(await tools.organisations.get(orgId))) throw problem.organisation_key_unknown();
  if (body.org_id && body.org_id !== orgId) throw problem.organisation_changed({ detail: { id: orgId } });
  const identity = { orgId, keyId: orgId, kind: 'organisation' } as const;
  return (await putKey(tools, identity, body, { suppressReset: !resetQuota })).action;
}

export const listGatewayOrganisationKeys = operation({
  ...declared,
  name: 'listGatewayOrganisationKeys',
  method: 'GET',
  path: '/gw/org/keys',
  about: 'Lists the organisations that have limits, newest first.',
  query: z.object({ filter: z.string().max(1024).default('').describe('What the ids begin with') }),
  returns: z.object({ keys: z.array(z.string()) }),
  async handle({ query: { filter } }, { keys }: GatewayOrganisationKeyTools) {
    const { items } = await keys.organisationPage({ page: -1, size: 0 });
    return { keys: items.map(it => it.keyId).filter(id => id.startsWith(filter)) };
  },
});

export const getGatewayOrganisationKey = operation({
  ...declared,
  name: 'getGatewayOrganisationKey',
  method: 'GET',
  path: '/gw/org/keys/{orgID}',
  about: 'Reads the limits of an organisation, with what is left of its quota now.',
  params,
  returns: Key,
  problems: [problem.organisation_key_unknown],
  async handle({ params: { orgID } }, tools: GatewayOrganisationKeyTools) {
    return (await readLiveKey(tools, await requireOrganisationKey(tools.keys, orgID))).data;
  },
});

export const addGatewayOrganisationKey = operation({
  ...declared,
  name: 'addGatewayOrganisationKey',
  method: 'POST',
  path: '/gw/org/keys/{orgID}',
  about: 'Sets the limits of an organisation, replacing earlier ones.',
  params,
  query,
  body: Key,
  returns: modifiedResponse,
  problems: [problem.organisation_key_unknown, problem.organisation_changed],
  async handle({ params: { orgID }, query: { reset_quota }, body, audit }, tools: GatewayOrganisationKeyTools) {
    audit(orgID);
    const action = await putLimits(tools, orgID, body, reset_quota);
    audit(orgID, orgID);
    return toModified(orgID, action);
  },
});

export const updateGatewayOrganisationKey = operation({
  ...declared,
  name: 'updateGatewayOrganisationKey',
  method: 'PUT',
  path: '/gw/org/keys/{orgID}',
  about: 'Replaces the limits of an organisation, or sets its first ones.',
  params,
  query,
  body: Key,
  returns: modifiedResponse,
  problems: [problem.organisation_key_unknown, problem.organisation_changed],
  async handle({ params: { orgID }, query: { reset_quota }, body, audit }, tools: GatewayOrganisationKeyTools) {
    audit(orgID);
    await putLimits(tools, orgID, body, reset_quota);
    audit(orgID, orgID);
    return toModified(orgID, 'modified');
  },
});

export const deleteGatewayOrganisationKey = operation({
  ...declared,
  name: 'deleteGatewayOrganisationKey',
  method: 'DELETE',
  path: '/gw/org/keys/{orgID}',
  about: 'Removes the limits of an organisation.',
  params,
  returns: modifiedResponse,
  problems: [problem.organisation_key_unknown],
  async handle({ params: { orgID }, audit }, tools: GatewayOrganisationKeyTools) {
    audit(orgID);
    const stored = await requireOrganisationKey(tools.keys, orgID);
    audit(orgID, stored.orgId);
    if (!(await removeKey(tools, stored))) throw problem.organisation_key_unknown();
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
