import { createInvalidProblem } from '#operations/validation-error.ts';
import type { OrganisationStore } from '#people/organisations/store.ts';
import { problem } from '../problems.ts';
import type { StoredProvider } from './schema.ts';

/**
 * Organisation of a local provider: one that names no URL reads policies and issues keys of one organisation of this
 * installation. It is chosen when the provider is created, and does not change.
 */
export interface ProviderOrganisationServices {
  organisations: OrganisationStore;
  defaultOrgId: () => Promise<string>;
}

type MetaData = StoredProvider['MetaData'];

export const isLocal = ({ URL }: Pick<MetaData, 'URL'>): boolean => URL === '';

/** Configuration of a new provider with its organisation resolved. Ids of remote installations are not checked. */
export async function resolveOrganisation(
  metaData: MetaData,
  services: ProviderOrganisationServices,
): Promise<MetaData> {
  if (!isLocal(metaData)) return metaData;
  const OrgID = metaData.OrgID || (await services.defaultOrgId());
  if (!(await services.organisations.get(OrgID)))
    throw createInvalidProblem([
      { path: 'Configuration.MetaData.OrgID', message: `there is no organisation ${OrgID}` },
    ]);
  return { ...metaData, OrgID };
}

/** The next configuration of a provider, or a problem where it would read another organisation of this installation. */
export function preserveOrganisation(before: MetaData, next: MetaData, defaultOrgId: string): MetaData {
  if (!isLocal(next)) return next;
  if (!isLocal(before)) throw problem.provider_url_missing();
  const OrgID = before.OrgID || defaultOrgId;
  if (next.OrgID !== '' && next.OrgID !== OrgID) throw problem.provider_organisation_fixed();
  return { ...next, OrgID };
}

/** A provider as reads show it: one stored without an organisation is of the one made at first start. */
export async function withOrganisation(
  provider: StoredProvider,
  { defaultOrgId }: Pick<ProviderOrganisationServices, 'defaultOrgId'>,
): Promise<StoredProvider> {
  const { MetaData } = provider;
  if (!isLocal(MetaData) || MetaData.OrgID !== '') return provider;
  return { ...provider, MetaData: { ...MetaData, OrgID: await defaultOrgId() } };
}
