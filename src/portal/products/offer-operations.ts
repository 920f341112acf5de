import { z } from 'zod';
import { isVisible } from '#access/hidden-rights.ts';
import type { PolicyStore } from '#access/policies/store.ts';
import type { Ownership } from '#apis/owners/store.ts';
import { operation } from '#operations/operation.ts';
import type { PortalServices } from '../portal-stores.ts';
import { isLocal, type ProviderOrganisationServices, withOrganisation } from '../providers/organisation.ts';

/** Policies of one request: those of a page of a list. */
const maxPolicies = 100;
const maxIdLength = 256;

interface OfferServices extends Pick<PortalServices, 'portal'>, Pick<ProviderOrganisationServices, 'defaultOrgId'> {
  policies: PolicyStore;
  ownership: Ownership;
}

/** Providers of the portal that read the policies of an organisation of this installation. */
async function listProviderIds(orgId: string, services: OfferServices): Promise<ReadonlySet<number>> {
  const all = await services.portal.providers.all();
  const local = await Promise.all(
    all.filter(({ MetaData }) => isLocal(MetaData)).map(it => withOrganisation(it, services)),
  );
  return new Set(local.filter(({ MetaData }) => MetaData.OrgID === orgId).map(({ ID }) => ID));
}

export const listPolicyOffers = operation({
  surface: 'dashboard',
  noun: 'policies',
  name: 'listPolicyOffers',
  method: 'GET',
  path: '/api/portal/offers',
  about: 'Lists the products and plans of the developer portal behind which some policies are.',
  permission: 'policies:read',
  query: z.object({
    policy_ids: z
      .string()
      .max(maxPolicies * maxIdLength)
      .transform(text => [...new Set(text.split(',').map(id => id.trim()))].filter(Boolean))
      .pipe(z.array(z.string()).max(maxPolicies))
      .describe('Public ids of policies, comma-separated'),
  }),
  returns: z.object({
    offers: z.array(z.object({ policy_id: z.string(), kind: z.enum(['product', 'plan']), name: z.string() })),
  }),
  async handle({ actor, query }, services: OfferServices) {
    const { portal, policies, ownership } = services;
    const hidden = await ownership.findHidden(actor);
    const found = await policies.findByIds(actor.orgId, query.policy_ids);
    const ids = [...found.values()].filter(policy => isVisible(policy, hidden)).map(({ id }) => id);
    const providers = await listProviderIds(actor.orgId, services);
    const toOffers = (kind: 'product' | 'plan', docs: readonly OfferedObject[]) =>
      docs
        .filter(({ ProviderID }) => providers.has(ProviderID))
        .map(({ ReferenceID, Name, DisplayName }) => ({ policy_id: ReferenceID, kind, name: DisplayName || Name }));
    return {
      offers: [
        ...toOffers('product', await portal.products.findByPolicies(ids)),
        ...toOffers('plan', await portal.plans.findByPolicies(ids)),
      ],
    };
  },
});

interface OfferedObject {
  readonly ProviderID: number;
  readonly ReferenceID: string;
  readonly Name: string;
  readonly DisplayName?: string;
}
