import { z } from 'zod';
import { createPublicId } from '#base/ids.ts';
import { operation } from '#operations/operation.ts';
import { pageQuery, statusResponse, toStatus } from '#operations/shapes.ts';
import type { OrganisationStore } from '#people/organisations/store.ts';
import { problem as accessProblem } from '../problems.ts';
import { formatKeyId } from './ids.ts';
import { changeKey, type KeyServices, putKey, readLiveKey, removeKey } from './issue.ts';
import { problem } from './problems.ts';
import { KeyEnvelope, keyBody } from './schema.ts';
import type { KeyStore } from './store.ts';

/** Organisation keys: limits shared by all keys of an organisation, set by the operator. */
export interface OrganisationKeyServices extends KeyServices {
  organisations: OrganisationStore;
  defaultOrgId: () => Promise<string>;
}

const params = z.object({ keyId: z.string().describe('Id of the organisation, or generated id of a key without one') });
const declared = { surface: 'admin', noun: 'keys', permission: 'secret' } as const;

async function requireOrganisationKey(keys: KeyStore, keyId: string) {
  const stored = await keys.getAnywhere(keyId);
  if (stored?.kind !== 'organisation') throw problem.not_found();
  return stored;
}

export const listOrganisationKeys = operation({
  ...declared,
  name: 'listOrganisationKeys',
  method: 'GET',
  path: '/admin/org/keys',
  about: 'Lists the ids of all organisation keys, newest first.',
  query: pageQuery,
  returns: z.object({ data: z.object({ keys: z.array(z.string()) }), pages: z.int() }),
  async handle({ query }, { keys, settings }: OrganisationKeyServices) {
    const { items, pages } = await keys.organisationPage({ page: query.p, size: settings['management.page_size'] });
    return { data: { keys: items.map(it => it.keyId) }, pages };
  },
});

export const createOrganisationKey = operation({
  ...declared,
  name: 'createOrganisationKey',
  isRepeatable: 'without password',
  method: 'POST',
  changesTraffic: true,
  path: '/admin/org/keys',
  about:
    'Sets the limits of the organisation in org_id, replacing earlier ones; without org_id an id is generated for the key.',
  ...keyBody,
  returns: KeyEnvelope,
  problems: [accessProblem.organisation_unknown],
  async handle({ body, audit }, services: OrganisationKeyServices) {
    const orgId = body.org_id || (await services.defaultOrgId());
    if (!(await services.organisations.get(orgId))) throw accessProblem.organisation_unknown({ detail: { id: orgId } });
    const keyId = body.org_id || formatKeyId(orgId, createPublicId());
    audit(keyId, orgId);
    return (await putKey(services, { orgId, keyId, kind: 'organisation' }, body)).issued;
  },
});

export const getOrganisationKey = operation({
  ...declared,
  name: 'getOrganisationKey',
  versioned: 'keys',
  method: 'GET',
  path: '/admin/org/keys/{keyId}',
  about: 'Returns the key of an organisation.',
  params,
  returns: KeyEnvelope,
  problems: [problem.not_found],
  async handle({ params: { keyId } }, services: OrganisationKeyServices) {
    return readLiveKey(services, await requireOrganisationKey(services.keys, keyId));
  },
});

export const updateOrganisationKey = operation({
  ...declared,
  name: 'updateOrganisationKey',
  versioned: 'keys',
  method: 'PUT',
  changesTraffic: true,
  path: '/admin/org/keys/{keyId}',
  about: 'Replaces the key of an organisation; its organisation does not change.',
  params,
  ...keyBody,
  returns: statusResponse,
  problems: [problem.not_found, problem.organisation_changed],
  async handle({ params: { keyId }, body, audit }, services: OrganisationKeyServices) {
    audit(keyId);
    const stored = await requireOrganisationKey(services.keys, keyId);
    audit(keyId, stored.orgId);
    if (body.org_id && body.org_id !== stored.orgId)
      throw problem.organisation_changed({ detail: { id: stored.orgId } });
    await changeKey(services, stored, body);
    return toStatus('Key updated');
  },
});

export const deleteOrganisationKey = operation({
  ...declared,
  name: 'deleteOrganisationKey',
  versioned: 'keys',
  method: 'DELETE',
  changesTraffic: true,
  path: '/admin/org/keys/{keyId}',
  about: 'Deletes the limits of an organisation.',
  params,
  returns: statusResponse,
  problems: [problem.not_found],
  async handle({ params: { keyId }, audit }, services: OrganisationKeyServices) {
    audit(keyId);
    const stored = await requireOrganisationKey(services.keys, keyId);
    audit(keyId, stored.orgId);
    if (!(await removeKey(services, stored))) throw problem.not_found();
    return toStatus('Key deleted successfully');
  },
});

export const organisationKeyOperations = [
  listOrganisationKeys,
  createOrganisationKey,
  getOrganisationKey,
  updateOrganisationKey,
  deleteOrganisationKey,
];
