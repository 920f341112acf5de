import { z } from 'zod';
import { createSortableId } from '#base/ids.ts';
import { operation } from '#operations/operation.ts';
import { createInvalidProblem } from '#operations/validation-error.ts';
import { removeRequests } from '../access-requests/removal.ts';
import { removeCustomCredentials } from '../custom-credentials/removal.ts';
import type { PortalServices } from '../portal-stores.ts';
import { present, problem } from '../problems.ts';
import { removeProduct } from '../products/removal.ts';
import {
  lenientBool,
  okMessage,
  okMessageResponse,
  okResponse,
  okStatus,
  parsePortalRef,
  portalId,
  portalPageQuery,
  portalSearchQuery,
} from '../shapes.ts';
import {
  isLocal,
  type ProviderOrganisationServices,
  preserveOrganisation,
  resolveOrganisation,
  withOrganisation,
} from './organisation.ts';
import { ProviderApi, toProviderApi } from './provider-api.ts';
import { callProvider, isProviderFailure, type ProviderClientServices } from './provider-client.ts';
import {
  maskedSecret,
  PortalProvider,
  ProviderChange,
  ProviderRow,
  ProviderWrite,
  providerType,
  type StoredProvider,
  type SyncCounts,
  SyncCountsView,
  type SyncOutcome,
  toProviderRow,
  toProviderView,
} from './schema.ts';
import { type SyncServices, synchronize } from './synchronize.ts';

const declared = { surface: 'portal', noun: 'providers', permission: 'secret' } as const;
const params = z.object({ provider_id: portalId });
type Services = Pick<PortalServices, 'portal' | 'clock'> & ProviderOrganisationServices;

export const listProviders = operation({
  ...declared,
  name: 'listProviders',
  method: 'GET',
  path: '/portal-api/providers',
  about: 'Lists the providers, the control planes the portal publishes from, newest first.',
  query: portalPageQuery,
  returns: z.array(ProviderRow),
  async handle({ query }, { portal, clock }: Services) {
    const counts = await portal.providers.countOffers();
    const rows = await portal.providers.page(query);
    return rows.map(provider => toProviderRow(provider, clock.now(), counts.get(provider.ID)));
  },
});

export const createProvider = operation({
  ...declared,
  name: 'createProvider',
  method: 'POST',
  path: '/portal-api/providers',
  about:
    'Creates a provider: another installation by URL and Secret, or this one if MetaData has no URL; OrgID then sets one of its organisations, permanently.',
  body: ProviderWrite,
  returns: PortalProvider,
  problems: [problem.cid_taken],
  async handle({ body, audit }, { portal, clock, ...services }: Services) {
    const { Secret, ...metaData } = body.Configuration.MetaData;
    if (Secret === maskedSecret)
      throw createInvalidProblem([{ path: 'Configuration.MetaData.Secret', message: 'must be the secret itself' }]);
    const MetaData = await resolveOrganisation(metaData, services);
    const now = clock.now();
    const created = await portal.providers.insert({
      CID: body.CID ?? createSortableId(now),
      Name: body.Name,
      Type: providerType,
      Status: 'Unknown',
      LastSyncedAt: 0,
      MetaData,
      Secret,
      CreatedAt: now,
      UpdatedAt: now,
    });
    audit(String(created.ID), organisationOf(created));
    return toProviderView(created, now);
  },
});

export const getProvider = operation({
  ...declared,
  name: 'getProvider',
  method: 'GET',
  path: '/portal-api/providers/{provider_id}',
  about: 'Returns a provider; its secret is masked.',
  params,
  returns: PortalProvider,
  problems: [problem.not_found],
  async handle({ params: { provider_id } }, { portal, clock, ...services }: Services) {
    const provider = present(await portal.providers.get(provider_id), 'Provider');
    const counts = (await portal.providers.countOffers()).get(provider.ID);
    return toProviderView(await withOrganisation(provider, services), clock.now(), counts);
  },
});

type ProviderConfiguration = NonNullable<z.output<typeof ProviderChange>['Configuration']>;

/** Audit records of a local provider belong to its organisation. */
const organisationOf = ({ MetaData }: StoredProvider) => (isLocal(MetaData) ? MetaData.OrgID : '');

const originOf = (url: string) => URL.parse(url)?.origin ?? '';

/** A masked secret keeps the stored one, unless the URL changes its origin. */
function applyConfiguration(provider: StoredProvider, { MetaData: sent }: ProviderConfiguration, defaultOrgId: string) {
  const { Secret, ...rest } = sent;
  const MetaData = preserveOrganisation(provider.MetaData, rest, defaultOrgId);
  if (Secret !== maskedSecret) return { MetaData, Secret };
  if (originOf(MetaData.URL) !== originOf(provider.MetaData.URL)) throw problem.secret_required();
  return { MetaData, Secret: provider.Secret };
}

export const updateProvider = operation({
  ...declared,
  name: 'updateProvider',
  method: 'PUT',
  path: '/portal-api/providers/{provider_id}',
  about:
    'Updates a provider. A masked secret preserves the stored one; the type, and the organisation of a provider of this installation, cannot change.',
  params,
  body: ProviderChange,
  returns: PortalProvider,
  problems: [
    problem.unknown,
    problem.secret_required,
    problem.provider_url_missing,
    problem.provider_organisation_fixed,
  ],
  async handle({ params: { provider_id }, body, audit }, { portal, clock, ...services }: Services) {
    const before = present(await portal.providers.get(provider_id), 'Provider', 'unknown');
    const { ID } = before;
    audit(String(ID), organisationOf(await withOrganisation(before, services)));
    const defaultOrgId = await services.defaultOrgId();
    const changed = await portal.providers.change(ID, it => ({
      ...it,
      Name: body.Name ?? it.Name,
      ...(body.Configuration ? applyConfiguration(it, body.Configuration, defaultOrgId) : {}),
      UpdatedAt: clock.now(),
    }));
    const provider = await withOrganisation(present(changed, 'Provider', 'unknown'), services);
    return toProviderView(provider, clock.now(), (await portal.providers.countOffers()).get(ID));
  },
});

export const deleteProvider = operation({
  ...declared,
  name: 'deleteProvider',
  method: 'DELETE',
  changesTraffic: true,
  path: '/portal-api/providers/{provider_id}',
  about: 'Deletes a provider with its products and plans, and revokes the credentials created there.',
  params,
  query: z.object({ force: lenientBool.optional().describe('Proceeds if the provider is unavailable') }),
  returns: okResponse,
  problems: [problem.not_found, problem.provider_unavailable, problem.provider_refused],
  async handle({ params: { provider_id }, query, audit }, services: SyncServices) {
    const { portal } = services;
    const { ID } = present(await portal.providers.get(provider_id), 'Provider');
    audit(String(ID));
    do {
      await removeRequests(await portal.accessRequests.listLive({ provider_id: ID }), services, query.force);
      await removeCustomCredentials(await portal.customCredentials.ofProvider(ID), services, query.force);
    } while (!(await tryRemove(ID, services)));
    return okStatus;
  },
});

/** Removes a provider with its products and plans; false when an access request was created meanwhile. */
const tryRemove = (id: number, { portal, records }: SyncServices): Promise<boolean> =>
  records.write(async () => {
    await portal.providers.lock(id);
    const plans = await portal.plans.ofProvider(id);
    for (const plan of plans) await portal.plans.change(plan.ID, it => it);
    if ((await portal.accessRequests.listLive({ provider_id: id })).length > 0) return false;
    if ((await portal.customCredentials.ofProvider(id)).length > 0) return false;
    for (const { ID } of plans) {
      await portal.catalogues.plans.setLeftOf(ID, []);
      await portal.plans.remove(ID);
    }
    for (const { ID } of await portal.products.ofProvider(id)) await removeProduct(ID, portal);
    await portal.providers.remove(id);
    return true;
  });

const noChanges: SyncCounts = { Added: 0, Changed: 0, Hidden: 0 };

export const synchronizeProvider = operation({
  ...declared,
  name: 'synchronizeProvider',
  method: 'PUT',
  path: '/portal-api/providers/{provider_id}/synchronize',
  about: 'Synchronizes the APIs and policies of a provider, and counts what changed; `all` for every provider.',
  params: z.object({ provider_id: z.string().describe('Number, persistent id, or `all`') }),
  returns: okMessageResponse.extend({ Products: SyncCountsView, Plans: SyncCountsView }),
  problems: [problem.unknown, problem.sync_failed],
  async handle({ params: { provider_id }, audit }, services: SyncServices & ProviderOrganisationServices) {
    audit(provider_id);
    const { providers } = services.portal;
    const done = okMessage('Synchronize');
    if (provider_id === 'all') return { ...done, ...(await synchronizeAll(await providers.all(), services)) };
    const provider = present(await providers.get(parsePortalRef(provider_id)), 'Provider', 'unknown');
    audit(provider_id, organisationOf(await withOrganisation(provider, services)));
    return { ...done, ...(await synchronize(provider, services)) };
  },
});

export const listProviderApis = operation({
  ...declared,
  name: 'listProviderApis',
  method: 'GET',
  path: '/portal-api/providers/{provider_id}/apis',
  about: 'Finds APIs of a provider by a part of their name, for products; at most a page of the provider.',
  params,
  query: portalSearchQuery.pick({ q: true }),
  returns: z.array(ProviderApi),
  problems: [problem.not_found, problem.provider_unavailable, problem.provider_refused],
  async handle({ params: { provider_id }, query: { q } }, services: ProviderClientServices) {
    const provider = present(await services.portal.providers.get(provider_id), 'Provider');
    return (await callProvider(provider, services, plane => plane.searchApis(q))).map(toProviderApi);
  },
});

const addCounts = (one: SyncCounts, other: SyncCounts): SyncCounts => ({
  Added: one.Added + other.Added,
  Changed: one.Changed + other.Changed,
  Hidden: one.Hidden + other.Hidden,
});

/** Synchronises all providers; failures are collected. */
async function synchronizeAll(providers: readonly StoredProvider[], services: SyncServices): Promise<SyncOutcome> {
  const lines: string[] = [];
  let { Products, Plans }: SyncOutcome = { Products: noChanges, Plans: noChanges };
  for (const provider of providers) {
    try {
      const outcome = await synchronize(provider, services);
      Products = addCounts(Products, outcome.Products);
      Plans = addCounts(Plans, outcome.Plans);
    } catch (error) {
      if (!isProviderFailure(error)) throw error;
      lines.push(error.message);
    }
  }
  if (lines.length > 0) throw problem.sync_failed({ detail: { lines }, message: lines.join('; ') });
  return { Products, Plans };
}

export const providerOperations = [
  listProviders,
  createProvider,
  getProvider,
  updateProvider,
  deleteProvider,
  synchronizeProvider,
  listProviderApis,
];
