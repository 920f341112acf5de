import type { Settings } from '#base/settings.ts';
import { type ApiTools, type Completeness, changeApi } from '../api/changes.ts';
import { type OwnerTools, ownerOf } from '../api/owner.ts';
import { givenId, givenOrgId } from '../api/rules.ts';
import type { StoredApi, Written } from '../api/schema.ts';
import type { ApiStore } from '../api/store.ts';
import { baseOf } from '../api/version-list.ts';
import { problem as apis } from '../problems.ts';
import { problem } from './problems.ts';

/** What the gateway secret may do, it may do in every organisation. */
export interface GwApiTools extends ApiTools, OwnerTools {}

export interface ReadTools {
  apis: ApiStore;
  settings: Settings;
}

export async function foundApi(store: ApiStore, ref: string): Promise<StoredApi> {
  const api = await store.getAnywhere(ref);
  if (!api) throw apis.api_not_found();
  return api;
}

/** Whose an API becomes that is written for the first time. */
export const ownerOfWritten = (tools: OwnerTools, written: Written): Promise<string> =>
  ownerOf(tools, givenOrgId(written));

/** Replaces a definition by what `next` makes of it. It stays the API it is, and whose it is. */
export async function replaceApi(tools: GwApiTools, ref: string, next: (before: StoredApi) => Written & Completeness) {
  const { api_id, org_id } = await foundApi(tools.apis, ref);
  const change = (before: StoredApi) => {
    const written = next(before);
    refuseOtherNames(written, before);
    return { ...written, wrapper: before.wrapper };
  };
  return changeApi(tools, org_id, api_id, change, apis.api_not_found);
}

function refuseOtherNames(written: Written, before: StoredApi): void {
  const id = givenId(written);
  if (id !== '' && id !== before.api_id) throw problem.other_id();
  const given = givenOrgId(written);
  const path = written.kind === 'classic' ? 'org_id' : 'x-gw-api-gateway.info.orgId';
  if (given !== '' && given !== before.org_id)
    throw problem.other_organisation({ detail: { path, given, wanted: before.org_id } });
}

/** Tells of a version which API it is one of. */
export async function tellBase(
  header: (name: string, value: string) => void,
  store: ApiStore,
  api: StoredApi,
): Promise<void> {
  const base = await baseOf(store, api);
  if (base) header('x-gw-base-api-id', base.api_id);
}
