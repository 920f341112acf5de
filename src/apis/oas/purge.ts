import type { Actor } from '#operations/actor.ts';
import { type ApiServices, removeApi } from '../api/changes.ts';
import type { StoredApi } from '../api/schema.ts';
import { problem } from '../problems.ts';

interface Removal {
  readonly actor: Actor;
  readonly ref: string;
  /** Also removes the versions of a base. */
  readonly purge: boolean;
}

/** Deletes a document and, with `purge`, its versions, in one transaction: all of them or none. */
export function removeWithVersions(services: ApiServices, { actor, ref, purge }: Removal): Promise<StoredApi> {
  const { records, apis, ownership } = services;
  return records.write(async () => {
    const api = await removeApi(services, actor.orgId, ref, ['oas']);
    if (!purge) return api;
    const hidden = new Set((await ownership.hiddenApis(actor)).map(({ api_id }) => api_id));
    for (const { api_id } of await apis.findByIds(actor.orgId, Object.values(api.summary.versions))) {
      if (hidden.has(api_id)) throw problem.api_not_owned();
      await removeApi(services, actor.orgId, api_id);
    }
    return api;
  });
}
