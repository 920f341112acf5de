import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import type { PortalServices } from '../portal-stores.ts';
import { present, problem } from '../problems.ts';
import { numberedId, okResponse, okStatus, portalId, portalPageQuery } from '../shapes.ts';
import { addAudience } from './audiences.ts';
import { AudienceRow, AudienceWrite, CatalogueAudience, toAudienceRow, toAudienceView } from './schema.ts';

const declared = { surface: 'portal', noun: 'catalogues', permission: 'secret' } as const;
const ofCatalogue = z.object({ catalogue_id: portalId });
const ofAudience = ofCatalogue.extend({ audience_id: numberedId });
const audiencesPath = '/portal-api/catalogues/{catalogue_id}/audiences';
type Services = Pick<PortalServices, 'portal' | 'records' | 'clock'>;

/** An audience of a catalogue; one of another catalogue is as good as none. */
async function requireAudience({ catalogue_id, audience_id }: z.output<typeof ofAudience>, { portal }: Services) {
  const { ID } = present(await portal.catalogues.get(catalogue_id), 'Catalogue');
  const audience = await portal.catalogues.audiences.get(audience_id);
  return present(audience?.CatalogueID === ID ? audience : undefined, 'Audience');
}

export const listAudiences = operation({
  ...declared,
  name: 'listAudiences',
  method: 'GET',
  path: audiencesPath,
  about: 'Lists the teams that a private catalogue is limited to, newest first.',
  params: ofCatalogue,
  query: portalPageQuery,
  returns: z.array(AudienceRow),
  problems: [problem.not_found],
  async handle({ params, query }, { portal }: Services) {
    const { ID } = present(await portal.catalogues.get(params.catalogue_id), 'Catalogue');
    return (await portal.catalogues.audiences.page(query, { catalogue_id: ID })).map(toAudienceRow);
  },
});

export const createAudience = operation({
  ...declared,
  name: 'createAudience',
  method: 'POST',
  path: audiencesPath,
  about: 'Adds a team to the audience of a catalogue; `OrganisationID` alone adds all users of the organisation.',
  params: ofCatalogue,
  body: AudienceWrite,
  example: { OrganisationID: 1, TeamID: 1 },
  returns: CatalogueAudience,
  status: 201,
  problems: [problem.unknown, problem.audience_exists],
  async handle({ params, body, audit }, services: Services) {
    const { portal, records } = services;
    const { ID } = present(await portal.catalogues.get(params.catalogue_id), 'Catalogue', 'unknown');
    audit(String(ID));
    const created = await records.write(async () => {
      present(await portal.catalogues.lock(ID), 'Catalogue', 'unknown');
      return addAudience(ID, body, services);
    });
    return toAudienceView(created);
  },
});

export const getAudience = operation({
  ...declared,
  name: 'getAudience',
  method: 'GET',
  path: `${audiencesPath}/{audience_id}`,
  about: 'Returns an audience of a catalogue.',
  params: ofAudience,
  returns: CatalogueAudience,
  problems: [problem.not_found],
  async handle({ params }, services: Services) {
    return toAudienceView(await requireAudience(params, services));
  },
});

export const deleteAudience = operation({
  ...declared,
  name: 'deleteAudience',
  method: 'DELETE',
  path: `${audiencesPath}/{audience_id}`,
  about: 'Removes a team from the audience of a catalogue; without any, a private one is for all developers.',
  params: ofAudience,
  returns: okResponse,
  problems: [problem.not_found],
  async handle({ params, audit }, services: Services) {
    const { ID, CatalogueID } = await requireAudience(params, services);
    audit(String(CatalogueID));
    const { catalogues } = services.portal;
    await services.records.write(async () => {
      await catalogues.lock(CatalogueID);
      await catalogues.audiences.remove(ID);
    });
    return okStatus;
  },
});

export const audienceOperations = [listAudiences, createAudience, getAudience, deleteAudience];
