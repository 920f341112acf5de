import type { SiteServices } from '../page.ts';

/** Organisation of a provider, each read once; undefined for a remote one, whose calls are counted elsewhere. */
export function createOrganisationFinder({ portal, defaultOrgId }: Pick<SiteServices, 'portal' | 'defaultOrgId'>) {
  const found = new Map<number, string | undefined>();
  return async (providerId: number): Promise<string | undefined> => {
    if (!found.has(providerId)) {
      const provider = await portal.providers.get(providerId);
      const orgId = provider && !provider.MetaData.URL ? provider.MetaData.OrgID || (await defaultOrgId()) : undefined;
      found.set(providerId, orgId);
    }
    return found.get(providerId);
  };
}
