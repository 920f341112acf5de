import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import type { PortalServices } from '../portal-stores.ts';
import { present, problem } from '../problems.ts';
import { formatOptionalTime, portalId, portalPageQuery } from '../shapes.ts';
import { toUserRow } from '../users/schema.ts';
import { portalMessages } from '../webhooks/notify.ts';
import {
  PortalOrganisation,
  PortalOrganisationRow,
  PortalOrganisationWrite,
  type StoredPortalOrganisation,
  toTeamRow,
} from './schema.ts';

const declared = { surface: 'portal', noun: 'organisations', permission: 'secret' } as const;
type Services = Pick<PortalServices, 'portal' | 'records'>;

async function loadOrganisationView(
  { ID, CID, Name, CreatedAt, UpdatedAt }: StoredPortalOrganisation,
  { portal }: Services,
) {
  return {
    ID,
    CID,
    Name,
    Teams: (await portal.teams.ofOrganisation(ID)).map(toTeamRow),
    Users: (await portal.users.ofOrganisation(ID)).map(toUserRow),
    CreatedAt: formatOptionalTime(CreatedAt),
    UpdatedAt: formatOptionalTime(UpdatedAt),
  };
}

export const listPortalOrganisations = operation({
  ...declared,
  name: 'listPortalOrganisations',
  method: 'GET',
  path: '/portal-api/organisations',
  about: 'Lists the organisations of app developers, newest first.',
  query: portalPageQuery,
  returns: z.array(PortalOrganisationRow),
  async handle({ query }, { portal }: Services) {
    return (await portal.organisations.page(query)).map(({ ID, Name }) => ({ ID, Name }));
  },
});

export const createPortalOrganisation = operation({
  ...declared,
  name: 'createPortalOrganisation',
  method: 'POST',
  path: '/portal-api/organisations',
  about: 'Creates an organisation with a default team of all its users.',
  body: PortalOrganisationWrite,
  returns: PortalOrganisation,
  problems: [problem.cid_taken],
  async handle({ body, audit }, services: Services) {
    const { portal, records } = services;
    const created = await records.write(async () => {
      const inserted = await portal.organisations.create(body.Name, body.CID);
      await portal.notify('OrganisationRegistered', portalMessages.organisation(inserted));
      return inserted;
    });
    audit(String(created.ID));
    return loadOrganisationView(created, services);
  },
});

export const getPortalOrganisation = operation({
  ...declared,
  name: 'getPortalOrganisation',
  method: 'GET',
  path: '/portal-api/organisations/{organisation_id}',
  about: 'Returns an organisation with its teams and users.',
  params: z.object({ organisation_id: portalId }),
  returns: PortalOrganisation,
  problems: [problem.not_found],
  async handle({ params }, services: Services) {
    return loadOrganisationView(
      present(await services.portal.organisations.get(params.organisation_id), 'Organisation'),
      services,
    );
  },
});

export const portalOrganisationOperations = [listPortalOrganisations, createPortalOrganisation, getPortalOrganisation];
