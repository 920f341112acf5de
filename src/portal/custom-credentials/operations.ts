import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import type { DecisionServices } from '../access-requests/decision.ts';
import type { PortalServices } from '../portal-stores.ts';
import { type Missing, present, problem } from '../problems.ts';
import { numberedId, okMessage, okMessageResponse, portalPageQuery } from '../shapes.ts';
import { issueManaged, storePair } from './issue.ts';
import { removeCustomCredentials } from './removal.ts';
import {
  CustomCredential,
  CustomCredentialChange,
  CustomCredentialRow,
  CustomCredentialWrite,
  checkCustomCredential,
  checkFixedMembers,
  toCustomCredentialRow,
  toCustomCredentialView,
} from './schema.ts';

const declared = { surface: 'portal', noun: 'credentials', permission: 'secret' } as const;
const ofApp = z.object({ app_id: numberedId });
const ofCredential = ofApp.extend({ credential_id: numberedId });
const listPath = '/portal-api/apps/{app_id}/custom_credentials';
const credentialPath = `${listPath}/{credential_id}`;
type Services = Pick<PortalServices, 'portal' | 'clock'>;

/** A credential of an app; one of another app is as good as none. */
async function requireCredential(
  { app_id, credential_id }: z.output<typeof ofCredential>,
  { portal }: Pick<PortalServices, 'portal'>,
  missing: Missing = 'not_found',
) {
  const found = await portal.customCredentials.get(credential_id);
  return present(found?.AppID === app_id ? found : undefined, 'Credential', missing);
}

export const listCustomCredentials = operation({
  ...declared,
  name: 'listCustomCredentials',
  method: 'GET',
  path: listPath,
  about: 'Lists the credentials that administrators added to an app, newest first, without keys and secrets.',
  params: ofApp,
  query: portalPageQuery,
  returns: z.array(CustomCredentialRow),
  problems: [problem.not_found],
  async handle({ params: { app_id }, query }, { portal }: Services) {
    present(await portal.apps.get(app_id), 'App');
    return (await portal.customCredentials.page(app_id, query)).map(toCustomCredentialRow);
  },
});

export const createCustomCredential = operation({
  ...declared,
  name: 'createCustomCredential',
  method: 'POST',
  changesTraffic: true,
  path: listPath,
  about:
    'Adds a credential to an app: a key that the provider makes or imports, an OAuth client, or a pair of another system.',
  params: ofApp,
  body: CustomCredentialWrite,
  example: { Alias: 'batch', Type: 'CREDENTIAL_TYPE_GW_MANAGED', PlanID: 1, ProductIDs: [1] },
  returns: CustomCredential,
  status: 201,
  problems: [problem.unknown, problem.provider_unavailable, problem.provider_refused],
  async handle({ params: { app_id }, body, audit }, services: DecisionServices) {
    audit(String(app_id));
    present(await services.portal.apps.get(app_id), 'App', 'unknown');
    checkCustomCredential(body);
    const isManaged = body.Type === 'CREDENTIAL_TYPE_GW_MANAGED';
    const { ID } = await (isManaged ? issueManaged : storePair)(app_id, body, services);
    return toCustomCredentialView(present(await services.portal.customCredentials.get(ID), 'Credential', 'unknown'));
  },
});

export const getCustomCredential = operation({
  ...declared,
  name: 'getCustomCredential',
  method: 'GET',
  path: credentialPath,
  about: 'Returns a credential that an administrator added to an app, with its key.',
  params: ofCredential,
  returns: CustomCredential,
  problems: [problem.not_found],
  async handle({ params }, services: Services) {
    return toCustomCredentialView(await requireCredential(params, services));
  },
});

export const updateCustomCredential = operation({
  ...declared,
  name: 'updateCustomCredential',
  method: 'PUT',
  path: credentialPath,
  about: 'Changes the alias of a credential that an administrator added to an app; other changes are refused.',
  params: ofCredential,
  body: CustomCredentialChange,
  returns: CustomCredential,
  problems: [problem.unknown, problem.credential_fixed],
  async handle({ params, body, audit }, services: Services) {
    const { portal, clock } = services;
    const { ID, Client } = await requireCredential(params, services, 'unknown');
    audit(String(ID));
    const changed = await portal.customCredentials.change(ID, it => {
      checkFixedMembers(body, { ...it, ...(Client && { Client }) });
      return { ...it, Alias: body.Alias, UpdatedAt: clock.now() };
    });
    return toCustomCredentialView({ ...present(changed, 'Credential', 'unknown'), ...(Client && { Client }) });
  },
});

export const deleteCustomCredential = operation({
  ...declared,
  name: 'deleteCustomCredential',
  method: 'DELETE',
  changesTraffic: true,
  path: credentialPath,
  about: 'Deletes a credential that an administrator added to an app; its key is refused at once.',
  params: ofCredential,
  returns: okMessageResponse,
  problems: [problem.not_found, problem.provider_unavailable, problem.provider_refused],
  async handle({ params, audit }, services: DecisionServices) {
    audit(String(params.credential_id));
    await removeCustomCredentials([await requireCredential(params, services)], services);
    return okMessage('Delete');
  },
});

export const customCredentialOperations = [
  listCustomCredentials,
  createCustomCredential,
  getCustomCredential,
  updateCustomCredential,
  deleteCustomCredential,
];
