import type { ApiSummary } from '#apis/api/api-lookup.ts';

/** What this room asks about APIs; supplied where the product is wired. */
export type { ApiSummary };

/** One API by its public or database id; of any organisation where none is named. */
export type FindApi = (id: string, orgId?: string) => Promise<ApiSummary | undefined>;

/** Those of these public ids that exist in the organisation. */
export type FindApis = (orgId: string, apiIds: readonly string[]) => Promise<ReadonlyMap<string, ApiSummary>>;

/** The public id of an API in a path; an id nobody knows stands for itself, since rights may name APIs yet to come. */
export async function resolvePublicApiId(findApi: FindApi, orgId: string, id: string): Promise<string> {
  return (await findApi(id, orgId))?.apiId ?? id;
}
