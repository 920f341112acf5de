import type { ApiSummary } from '#apis/api/api-lookup.ts';

/** API lookups this module needs; `application.ts` supplies them. */
export type { ApiSummary };

/** Finds an API by public or database id; without `orgId`, in any organisation. */
export type FindApi = (id: string, orgId?: string) => Promise<ApiSummary | undefined>;

/** The existing APIs of these public ids. */
export type FindApis = (orgId: string, apiIds: readonly string[]) => Promise<ReadonlyMap<string, ApiSummary>>;

/** Resolves a public or database id; an unknown id stays, since rights may name future APIs. */
export async function resolvePublicApiId(findApi: FindApi, orgId: string, id: string): Promise<string> {
  return (await findApi(id, orgId))?.apiId ?? id;
}
