import { z } from 'zod';
import { type Clock, formatIsoTime } from '#base/clock.ts';
import { createDatabaseId } from '#base/ids.ts';
import type { Settings } from '#base/settings.ts';
import { operation } from '#operations/operation.ts';
import { pageQuery, statusResponse, toPageRequest, toStatus } from '#operations/shapes.ts';
import type { Records } from '#storage/records.ts';
import type { RevisionLog } from '#storage/revision-log.ts';
import type { GroupStore } from '../groups/store.ts';
import { problem } from '../problems.ts';
import type { RuleEngine } from '../rules/rule-engine.ts';
import type { IdentityProfileStore } from '../single-sign-on/profiles/store.ts';
import type { UserStore } from '../users/store.ts';
import type { GrantStore } from './grant-store.ts';
import { OrganisationBody, OrganisationImport, StoredOrganisation, toFullOrganisation } from './schema.ts';
import { checkOrganisationSettings } from './settings-check.ts';
import type { OrganisationStore } from './store.ts';

export interface OrganisationServices {
  organisations: OrganisationStore;
  grants: GrantStore;
  users: UserStore;
  groups: GroupStore;
  identityProfiles: IdentityProfileStore;
  rules: RuleEngine;
  /** Describes what the organisation still contains; undefined when it is empty. */
  describeContents: (orgId: string) => Promise<string | undefined>;
  /** Organisation created at first start. */
  defaultOrgId: () => Promise<string>;
  records: Records;
  /** History of the objects of organisations. */
  revisions: Pick<RevisionLog, 'removeOrganisation'>;
  clock: Clock;
  settings: Settings;
}

const params = z.object({ orgId: z.string() });
const declared = { surface: 'admin', noun: 'organisations', permission: 'secret' } as const;
const settingsProblems = [
  problem.custom_permission_invalid,
  problem.rules_invalid,
  problem.rules_without_decision,
  problem.rules_unavailable,
];

export const listOrganisations = operation({
  ...declared,
  name: 'listOrganisations',
  method: 'GET',
  path: '/admin/organisations',
  about: 'Lists all organisations, newest first.',
  query: pageQuery,
  returns: z.object({ organisations: z.array(StoredOrganisation), pages: z.int() }),
  async handle({ query }, { organisations, settings }: OrganisationServices) {
    const { items, pages } = await organisations.page(toPageRequest(query.p, settings['management.page_size']));
    return { organisations: items.map(toFullOrganisation), pages };
  },
});

export const createOrganisation = operation({
  ...declared,
  name: 'createOrganisation',
  isRepeatable: true,
  method: 'POST',
  path: '/admin/organisations',
  about: 'Creates an organisation; the Meta of the response is its id.',
  body: OrganisationBody,
  returns: statusResponse,
  problems: settingsProblems,
  async handle({ body, audit }, { organisations, rules, clock }: OrganisationServices) {
    const id = createDatabaseId();
    await checkOrganisationSettings(rules, id, body);
    await organisations.insert({ ...body, id, created_at: formatIsoTime(clock.now()) });
    audit(id, id);
    return toStatus('Org created', id);
  },
});

export const importOrganisation = operation({
  ...declared,
  name: 'importOrganisation',
  method: 'POST',
  path: '/admin/organisations/import',
  about: 'Imports an organisation with its id.',
  body: OrganisationImport,
  returns: statusResponse,
  problems: [problem.organisation_exists, ...settingsProblems],
  async handle({ body, audit }, { organisations, rules, clock }: OrganisationServices) {
    await checkOrganisationSettings(rules, body.id, body);
    await organisations.insert({ ...body, created_at: formatIsoTime(clock.now()) });
    audit(body.id, body.id);
    return toStatus('Org imported', body.id);
  },
});

export const getOrganisation = operation({
  ...declared,
  name: 'getOrganisation',
  versioned: 'organisations',
  method: 'GET',
  path: '/admin/organisations/{orgId}',
  about: 'Returns an organisation.',
  params,
  returns: StoredOrganisation,
  problems: [problem.organisation_not_found],
  async handle({ params: { orgId } }, { organisations }: OrganisationServices) {
    const found = await organisations.get(orgId);
    if (!found) throw problem.organisation_not_found();
    return toFullOrganisation(found);
  },
});

export const updateOrganisation = operation({
  ...declared,
  name: 'updateOrganisation',
  versioned: 'organisations',
  method: 'PUT',
  path: '/admin/organisations/{orgId}',
  about: 'Replaces an organisation.',
  params,
  body: OrganisationBody,
  returns: statusResponse,
  problems: [problem.organisation_not_found, ...settingsProblems],
  async handle({ params: { orgId }, body, audit }, { organisations, rules }: OrganisationServices) {
    audit(orgId, orgId);
    const before = await organisations.get(orgId);
    if (!before) throw problem.organisation_not_found();
    await checkOrganisationSettings(rules, orgId, body, before);
    const changed = await organisations.change(orgId, ({ created_at }) => ({ ...body, id: orgId, created_at }));
    if (!changed) throw problem.organisation_not_found();
    return toStatus('Org updated');
  },
});

export const deleteOrganisation = operation({
  ...declared,
  name: 'deleteOrganisation',
  versioned: 'organisations',
  method: 'DELETE',
  changesTraffic: true,
  path: '/admin/organisations/{orgId}',
  about:
    'Deletes an organisation and its users. The first one, and one that still owns anything else, cannot be deleted.',
  params,
  returns: statusResponse,
  problems: [problem.organisation_not_found, problem.organisation_in_use, problem.organisation_first],
  async handle({ params: { orgId }, audit }, services: OrganisationServices) {
    audit(orgId, orgId);
    if (orgId === (await services.defaultOrgId())) throw problem.organisation_first();
    await services.records.write(async () => {
      const what = await services.describeContents(orgId);
      if (what) throw problem.organisation_in_use({ detail: { what } });
      if (!(await services.organisations.remove(orgId))) throw problem.organisation_not_found();
      await services.users.removeAll(orgId);
      await services.groups.removeAll(orgId);
      await services.identityProfiles.removeAll(orgId);
      await services.grants.remove(orgId);
      await services.revisions.removeOrganisation(orgId);
    });
    return toStatus('Org deleted');
  },
});

export const organisationOperations = [
  listOrganisations,
  createOrganisation,
  importOrganisation,
  getOrganisation,
  updateOrganisation,
  deleteOrganisation,
];
