import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import type { PortalTools } from '../portal-stores.ts';
import { present, problem } from '../problems.ts';
import { pageQuery, portalId, shownTime } from '../shapes.ts';
import { userRow } from '../users/schema.ts';
import { portalMessages } from '../webhooks/notify.ts';
import { Organisation, OrganisationRow, OrganisationWrite, type StoredOrganisation, teamRow } from './schema.ts';

const declared = { surface: 'portal', noun: 'organisations', permission: 'secret' } as const;
type Tools = Pick<PortalTools, 'portal' | 'records'>;

async function shown({ ID, CID, Name, CreatedAt, UpdatedAt }: StoredOrganisation, { portal }: Tools) {
  return {
    ID,
    CID,
    Name,
    Teams: (await portal.teams.ofOrganisation(ID)).map(teamRow),
    Users: (await portal.users.ofOrganisation(ID)).map(userRow),
    CreatedAt: shownTime(CreatedAt),
    UpdatedAt: shownTime(UpdatedAt),
  };
}

export const listPortalOrganisations = operation({
  ...declared,
  name: 'listPortalOrganisations',
  method: 'GET',
  path: '/portal-api/organisations',
  about: 'Lists the organisations app developers belong to, newest first.',
  query: pageQuery,
  returns: z.array(OrganisationRow),
  async handle({ query }, { portal }: Tools) {
    return (await portal.organisations.page(query)).map(({ ID, Name }) => ({ ID, Name }));
  },
});

export const createPortalOrganisation = operation({
  ...declared,
  name: 'createPortalOrganisation',
  method: 'POST',
  path: '/portal-api/organisations',
  about: 'Makes an organisation, with the default team that holds all its users.',
  body: OrganisationWrite,
  returns: Organisation,
  problems: [problem.cid_taken],
  async handle({ body, audit }, tools: Tools) {
    const { portal, records } = tools;
    const made = await records.write(async () => {
      const inserted = await portal.organisations.create(body.Name, body.CID);
      await portal.tell('OrganisationRegistered', portalMessages.organisation(inserted));
      return inserted;
    });
    audit(String(made.ID));
    return shown(made, tools);
  },
});

export const getPortalOrganisation = operation({
  ...declared,
  name: 'getPortalOrganisation',
  method: 'GET',
  path: '/portal-api/organisations/{organisation_id}',
  about: 'Reads one organisation with its teams and users.',
  params: z.object({ organisation_id: portalId }),
  returns: Organisation,
  problems: [problem.not_found],
  async handle({ params }, tools: Tools) {
    return shown(present(await tools.portal.organisations.get(params.organisation_id), 'Organisation'), tools);
  },
});

export const portalOrganisationOperations = [listPortalOrganisations, createPortalOrganisation, getPortalOrganisation];
