import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import type { StoredAccessRequest } from '../access-requests/schema.ts';
import { toBatches } from '../batch-store.ts';
import type { PortalServices } from '../portal-stores.ts';
import { present, problem } from '../problems.ts';
import { formatOptionalTime, portalId } from '../shapes.ts';
import { ConnectionCheck, checkConnection, type PlaneTestServices } from './connection-test.ts';
import { previewSync, SyncPreview } from './preview.ts';
import { SyncCountsView } from './schema.ts';

const declared = { surface: 'portal', noun: 'providers', permission: 'secret' } as const;
const params = z.object({ provider_id: portalId });

/** Names of each kind of dependent object. */
const maxDependentNames = 20;

export const testProvider = operation({
  ...declared,
  name: 'testProvider',
  method: 'PUT',
  changesNothing: true,
  path: '/portal-api/providers/{provider_id}/test',
  about:
    'Tests a provider: its URL, access key, organisation, the permissions that the portal needs, and the base address of its gateway. It changes nothing: to test the permissions it deletes ids that do not exist, which the audit log of that installation lists as failed.',
  params,
  returns: z.object({ Passed: z.boolean().describe('No check failed'), Checks: z.array(ConnectionCheck) }),
  problems: [problem.unknown],
  async handle({ params: { provider_id } }, services: PlaneTestServices) {
    const provider = present(await services.portal.providers.get(provider_id), 'Provider', 'unknown');
    const Checks = await checkConnection(provider, services);
    return { Passed: Checks.every(({ Result }) => Result !== 'failed'), Checks };
  },
});

export const previewSynchronization = operation({
  ...declared,
  name: 'previewSynchronization',
  method: 'GET',
  path: '/portal-api/providers/{provider_id}/synchronize',
  about: 'Returns what a synchronisation would add, change and hide, and its conflicts; nothing is stored.',
  params,
  returns: SyncPreview,
  problems: [problem.not_found, problem.provider_unavailable, problem.provider_refused],
  handle: async ({ params: { provider_id } }, services: Pick<PortalServices, 'portal' | 'controlPlane'>) =>
    previewSync(present(await services.portal.providers.get(provider_id), 'Provider'), services),
});

const SyncRunView = z.object({
  At: z.string(),
  Error: z.string().describe('Why it failed; empty for a success'),
  Products: SyncCountsView,
  Plans: SyncCountsView,
});
const noChanges = { Added: 0, Changed: 0, Hidden: 0 };

export const listSynchronizations = operation({
  ...declared,
  name: 'listSynchronizations',
  method: 'GET',
  path: '/portal-api/providers/{provider_id}/synchronizations',
  about: 'Lists the last 20 synchronisations of a provider, newest first.',
  params,
  returns: z.array(SyncRunView),
  problems: [problem.not_found],
  async handle({ params: { provider_id } }, { portal }: Pick<PortalServices, 'portal'>) {
    const { Runs = [] } = present(await portal.providers.get(provider_id), 'Provider');
    return Runs.map(({ At, Error: reason, Products = noChanges, Plans = noChanges }) => ({
      ...{ At: formatOptionalTime(At), Error: reason, Products, Plans },
    }));
  },
});

const Dependents = z.object({
  Total: z.int(),
  Names: z.array(z.string()).describe(`The first ${maxDependentNames}`),
});
const toDependents = (names: readonly string[]) => ({ Total: names.length, Names: names.slice(0, maxDependentNames) });

export const listProviderContents = operation({
  ...declared,
  name: 'listProviderContents',
  method: 'GET',
  path: '/portal-api/providers/{provider_id}/contents',
  about: 'Counts and names what the deletion of a provider removes: products, plans, access requests and credentials.',
  params,
  returns: z.object({
    Products: Dependents,
    Plans: Dependents,
    Requests: Dependents.describe('App and plan of access requests that wait'),
    Credentials: Dependents.describe('App and plan of credentials, custom ones included'),
  }),
  problems: [problem.not_found],
  async handle({ params: { provider_id } }, { portal }: Pick<PortalServices, 'portal'>) {
    const { ID } = present(await portal.providers.get(provider_id), 'Provider');
    const requests = await portal.accessRequests.listLive({ provider_id: ID });
    const custom = await portal.customCredentials.ofProvider(ID);
    const nameOf = ({ Names: { app, plan } }: StoredAccessRequest) => `${app}: ${plan}`;
    const issued: string[] = [];
    for (const batch of toBatches(requests.filter(it => it.Status === 'approved'))) {
      const names = new Map(batch.map(it => [it.ID, nameOf(it)]));
      const credentials = await portal.credentials.ofRequests([...names.keys()]);
      issued.push(...credentials.map(it => names.get(it.AccessRequestID) ?? ''));
    }
    return {
      Products: toDependents((await portal.products.ofProvider(ID)).map(it => it.Name)),
      Plans: toDependents((await portal.plans.ofProvider(ID)).map(it => it.Name)),
      Requests: toDependents(requests.filter(it => it.Status === 'pending').map(nameOf)),
      Credentials: toDependents([...issued, ...custom.map(it => it.Alias)]),
    };
  },
});

export const providerInspectionOperations = [
  testProvider,
  previewSynchronization,
  listSynchronizations,
  listProviderContents,
];
