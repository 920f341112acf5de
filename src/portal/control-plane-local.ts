import { issueKey, type KeyServices, revokeKey } from '#access/keys/issue.ts';
import { checkPolicy, newPolicy } from '#access/policies/new-policy.ts';
import { toModel } from '#apis/api/rules.ts';
import type { StoredApi } from '#apis/api/schema.ts';
import type { ApiStore } from '#apis/api/store.ts';
import { toUnixSeconds } from '#base/clock.ts';
import { Problem } from '#base/problems.ts';
import type { OrganisationStore } from '#people/organisations/store.ts';
import { wholeList } from '#storage/collection.ts';
import type { ApiFacts, ControlPlaneOf } from './control-plane.ts';
import { problem } from './problems.ts';

export interface LocalPlaneServices extends KeyServices {
  apis: ApiStore;
  organisations: OrganisationStore;
  defaultOrgId: () => Promise<string>;
}

/** Control plane of this installation, in the organisation of the provider or the default one. */
export function createLocalControlPlane(services: LocalPlaneServices): ControlPlaneOf {
  const { apis, policies, organisations, defaultOrgId, clock, settings } = services;
  return ({ Name: name, MetaData }) => {
    const refuse = (reason: string, cause?: unknown) => problem.provider_refused({ detail: { name, reason }, cause });

    async function orgId(): Promise<string> {
      const id = MetaData.OrgID || (await defaultOrgId());
      if (!(await organisations.get(id))) throw refuse(`there is no organisation ${id}`);
      return id;
    }

    /** Maps client errors to `provider_refused`, as from a remote installation; server errors pass through. */
    async function asProvider<T>(work: (orgId: string) => Promise<T>): Promise<T> {
      try {
        return await work(await orgId());
      } catch (error) {
        const foreseen = error instanceof Problem && error.status < 500;
        if (!foreseen || error.code === problem.provider_refused.code) throw error;
        throw refuse(error.message, error);
      }
    }

    return {
      policies: () => asProvider(async org => (await policies.search(org, {}, wholeList)).items),
      createPolicy: policy =>
        asProvider(org => policies.insert(newPolicy(checkPolicy(policy, settings), org, clock.now()))),
      updatePolicy: (id, change) =>
        asProvider(async org => {
          const changed = await policies.change(org, id, stored => ({
            ...checkPolicy(change(stored), settings),
            _id: stored._id,
            id: stored.id,
            org_id: stored.org_id,
            date_created: stored.date_created,
            last_updated: String(toUnixSeconds(clock.now())),
          }));
          if (!changed) throw refuse(`there is no policy ${id}`);
          return changed;
        }),
      deletePolicy: id =>
        asProvider(async org => {
          await policies.remove(org, id);
        }),
      apis: ids =>
        asProvider(
          async org => new Map((await apis.findByIds(org, ids)).map(api => [api.api_id, toApiFacts(api)] as const)),
        ),
      createKey: (key, keyName) =>
        asProvider(async org => {
          const { key_id, key_hash, data } = await issueKey(services, org, key, { name: keyName });
          return { key_id, key_hash, expires: data.expires ?? 0 };
        }),
      deleteKey: keyId =>
        asProvider(async org => {
          await revokeKey(services, org, keyId);
        }),
    };
  };
}

function toApiFacts(api: StoredApi): ApiFacts {
  const { identity, listen, upstream, graphql } = toModel(api);
  return {
    apiId: api.api_id,
    name: api.summary.name,
    kind: api.kind === 'mcp' ? 'MCP' : api.kind === 'streams' ? 'streams' : graphql.enabled ? 'GraphQL' : 'REST',
    listenPath: listen.path,
    targetUrl: upstream.url,
    active: identity.active,
  };
}
