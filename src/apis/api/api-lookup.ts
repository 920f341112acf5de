import type { StoredApi } from './schema.ts';
import type { ApiStore } from './store.ts';

/** API lookup for modules that grant access to APIs. */
export interface ApiSummary {
  readonly apiId: string;
  readonly orgId: string;
  readonly name: string;
  /** The auth type as list filters name it; `other` for several or a rare one. */
  readonly authType: string;
  readonly authTypes: readonly string[];
  readonly keepsQuota: boolean;
  readonly isMcp: boolean;
}

export function createApiLookup(apis: ApiStore) {
  return {
    async findApi(ref: string, orgId?: string): Promise<ApiSummary | undefined> {
      const api = await (orgId === undefined ? apis.getAnywhere(ref) : apis.get(orgId, ref));
      return api && toApiSummary(api);
    },
    async findApis(orgId: string, apiIds: readonly string[]): Promise<ReadonlyMap<string, ApiSummary>> {
      const found = await apis.findByIds(orgId, apiIds);
      return new Map(found.map(api => [api.api_id, toApiSummary(api)]));
    },
  };
}

function toApiSummary({ api_id, org_id, summary, kind }: StoredApi): ApiSummary {
  const [only = 'other', ...more] = summary.auth_types;
  return {
    apiId: api_id,
    orgId: org_id,
    name: summary.name,
    authType: more.length === 0 ? only : 'other',
    authTypes: summary.auth_types,
    keepsQuota: summary.keeps_quota,
    isMcp: kind === 'mcp',
  };
}
