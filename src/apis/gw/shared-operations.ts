import { z } from 'zod';
import { dependentsProblem, forceQuery, type RefuseDependents } from '#operations/dependents.ts';
import { operation } from '#operations/operation.ts';
import { modifiedResponse, toModified } from '#operations/shapes.ts';
import { problem as people } from '#people/problems.ts';
import { removeApi } from '../api/changes.ts';
import type { ApiKind, StoredApi } from '../api/schema.ts';
import type { ApiStore } from '../api/store.ts';
import { listVersions, versionListQuery, versionListResponse } from '../api/version-list.ts';
import { problem as apisProblem, creationProblems } from '../problems.ts';
import { type GwApiServices, type ReadServices, requireApi } from './changes.ts';
import { problem } from './problems.ts';

/** Declarations and operations that the classic and the OpenAPI endpoints of the gateway share. */
export const declared = { surface: 'gateway', noun: 'apis', permission: 'secret' } as const;
export const params = z.object({ apiId: z.string().describe('Public or database id of the API') });

/** Problems of creating an API, in either format. */
export const createProblems = [
  people.organisation_unknown,
  ...creationProblems,
  apisProblem.other_form,
  apisProblem.version_name_missing,
  apisProblem.base_name_missing,
  apisProblem.base_not_found,
  apisProblem.base_is_self,
  apisProblem.base_of_other_form,
  apisProblem.version_exists,
];
export const updateProblems = [apisProblem.api_not_found, problem.other_id, problem.other_organisation];

/** Audits the id as sent, then the one it resolves to with its organisation. */
export async function requireAuditedApi(
  apis: ApiStore,
  apiId: string,
  audit: (id: string, orgId?: string) => void,
): Promise<StoredApi> {
  audit(apiId);
  const api = await requireApi(apis, apiId);
  audit(api.api_id, api.org_id);
  return api;
}

interface Endpoint<Path extends string> {
  /** Defaults to `apis`. */
  readonly noun?: string;
  readonly name: string;
  readonly path: Path;
}

/** Deletes an API; `kinds` limits it to some formats. */
export const defineDelete = <const Path extends string>({
  kinds,
  ...endpoint
}: Endpoint<Path> & { readonly about: string; readonly kinds?: readonly ApiKind[] }) =>
  operation({
    ...declared,
    ...endpoint,
    versioned: 'apis',
    method: 'DELETE',
    changesTraffic: true,
    params,
    query: forceQuery,
    returns: modifiedResponse,
    problems: [apisProblem.api_not_found, dependentsProblem],
    async handle(
      { actor, params: { apiId }, query, audit },
      services: GwApiServices & { refuseDependents: RefuseDependents },
    ) {
      const { api_id, org_id } = await requireAuditedApi(services.apis, apiId, audit);
      await services.records.write(async () => {
        await services.refuseDependents('apis', { actor, orgId: org_id, ref: api_id }, query.force);
        await removeApi(services, org_id, api_id, kinds);
      });
      return toModified(api_id, 'deleted');
    },
  });

export const defineListVersions = <const Path extends string>(endpoint: Endpoint<Path>) =>
  operation({
    ...declared,
    ...endpoint,
    method: 'GET',
    about: 'Lists the versions of an API, or of its base API: the base first, then by name.',
    params,
    query: versionListQuery,
    returns: versionListResponse,
    problems: [apisProblem.api_not_found],
    async handle({ params: { apiId }, query }, { apis }: Pick<ReadServices, 'apis'>) {
      return listVersions(apis, await requireApi(apis, apiId), query);
    },
  });
