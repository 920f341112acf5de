import { invalid } from '#operations/validation-error.ts';
import type { OrganisationStore } from '#people/organisations/store.ts';
import { problem } from '../problems.ts';
import type { StoredProvider } from './schema.ts';

/**
 * Organisation of a local provider: one that names no URL reads policies and issues keys of one organisation of this
 * installation. It is chosen when the provider is created, and does not change.
 */
export interface ProviderOrganisationTools {
  organisations: OrganisationStore;
  defaultOrgId: () => Promise<string>;
}

type MetaData = StoredProvider['MetaData'];

export const isLocal = ({ URL }: Pick<MetaData, 'URL'>): boolean => URL === '';

/** The configuration of a new provider, with its organisation written out. Elsewhere its id means nothing here. */
export async function chooseOrganisation(given: MetaData, tools: ProviderOrganisationTools): Promise<MetaData> {
  if (!isLocal(given)) return given;
  const OrgID = given.OrgID || (await tools.defaultOrgId());
  if (!(await tools.organisations.get(OrgID)))
    throw invalid([{ path: 'Configuration.MetaData.OrgID', message: `there is no organisation ${OrgID}` }]);
  return { ...given, OrgID };
}

/** The next configuration of a provider, or a problem where it would read another organisation of this installation. */
export function keepOrganisation(before: MetaData, given: MetaData, defaultOrgId: string): MetaData {
  if (!isLocal(given)) return given;
  if (!isLocal(before)) throw problem.provider_elsewhere();
  const OrgID = before.OrgID || defaultOrgId;
  if (given.OrgID !== '' && given.OrgID !== OrgID) throw problem.provider_organisation_fixed();
  return { ...given, OrgID };
}

/** A provider as reads show it: one stored without an organisation is of the one made at first start. */
export async function withOrganisation(
  provider: StoredProvider,
  { defaultOrgId }: Pick<ProviderOrganisationTools, 'defaultOrgId'>,
): Promise<StoredProvider> {
  const { MetaData } = provider;
  if (!isLocal(MetaData) || MetaData.OrgID !== '') return provider;
  return { ...provider, MetaData: { ...MetaData, OrgID: await defaultOrgId() } };
}
