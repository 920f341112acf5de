import type { ReadGatewayUrl } from '../api/api-address.ts';
import { type ApiServices, type ChangedApi, changeApi } from '../api/changes.ts';
import { type OwnerServices, resolveOwner } from '../api/owner.ts';
import { readApiId, readOrgId } from '../api/rules.ts';
import type { DefinitionOfKind, StoredApi } from '../api/schema.ts';
import type { ApiStore } from '../api/store.ts';
import { findBase } from '../api/version-list.ts';
import type { Findings } from '../api/write-checks.ts';
import { problem as apis } from '../problems.ts';
import { problem } from './problems.ts';

/** The gateway secret is valid for every organisation. */
export interface GwApiServices extends ApiServices, OwnerServices {}

export interface ReadServices {
  apis: ApiStore;
  readGatewayUrl: ReadGatewayUrl;
}

export async function requireApi(store: ApiStore, ref: string): Promise<StoredApi> {
  const api = await store.getAnywhere(ref);
  if (!api) throw apis.api_not_found();
  return api;
}

/** Owner of a definition that is written for the first time. */
export const resolveDefinitionOwner = (services: OwnerServices, written: DefinitionOfKind): Promise<string> =>
  resolveOwner(services, readOrgId(written));

/** Replaces a definition. Its id and organisation cannot change. */
export async function replaceApi(
  services: GwApiServices,
  { actor, ref }: Pick<ChangedApi, 'actor' | 'ref'>,
  next: (before: StoredApi) => DefinitionOfKind & Findings,
) {
  const { api_id, org_id } = await requireApi(services.apis, ref);
  const change = (before: StoredApi) => {
    const written = next(before);
    ensureSameIdentity(written, before);
    return { ...written, wrapper: before.wrapper };
  };
  return changeApi(services, { actor, orgId: org_id, ref: api_id }, change, apis.api_not_found);
}

function ensureSameIdentity(written: DefinitionOfKind, before: StoredApi): void {
  const id = readApiId(written);
  if (id !== '' && id !== before.api_id) throw problem.other_id();
  const given = readOrgId(written);
  const path = written.kind === 'classic' ? 'org_id' : 'x-gw-api-gateway.info.orgId';
  if (given !== '' && given !== before.org_id)
    throw problem.other_organisation({ detail: { path, given, wanted: before.org_id } });
}

/** Response header that names the base of a version. */
export async function addBaseHeader(
  header: (name: string, value: string) => void,
  store: ApiStore,
  api: StoredApi,
): Promise<void> {
  const base = await findBase(store, api);
  if (base) header('x-gw-base-api-id', base.api_id);
}
