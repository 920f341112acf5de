import { findReferences, toModel } from '#apis/api/rules.ts';
import type { StoredApi } from '#apis/api/schema.ts';
import type { ApiStore } from '#apis/api/store.ts';
import { listToolSources } from '#apis/api/tool-source-check.ts';
import { isObject } from '#base/json-tree.ts';
import { isReferenceTo } from '#definition/api-references.ts';
import type { HookStore } from '#events/hooks/store.ts';
import type { DependedKind, Dependent } from '#operations/dependents.ts';
import type { GroupStore } from '#people/groups/store.ts';
import type { IdentityProfileStore } from '#people/single-sign-on/profiles/store.ts';
import { wholeList } from '#storage/collection.ts';
import { findApisWithCertificate } from '../certificates/dependencies.ts';
import type { CertificateStore } from '../certificates/store.ts';
import type { KeyStore, StoredKey } from '../keys/store.ts';
import type { PolicyStore } from '../policies/store.ts';
import type { DependentStore } from './dependent-store.ts';

export interface DependentServices {
  apis: ApiStore;
  policies: PolicyStore;
  keys: KeyStore;
  certificates: CertificateStore;
  hooks: HookStore;
  groups: GroupStore;
  identityProfiles: IdentityProfileStore;
  dependents: DependentStore;
}

/** Dependents of an object of an organisation, by either of its ids; undefined where there is no such object. */
export type FindDependents = (
  services: DependentServices,
  orgId: string,
  ref: string,
) => Promise<FoundDependent[] | undefined>;

/** A dependent, and the row of a key: its visibility depends on the APIs it grants. */
export interface FoundDependent extends Dependent {
  readonly keyRow?: Pick<StoredKey, 'rowId' | 'orgId'>;
}

const toApi = ({ api_id, summary }: StoredApi): Dependent => ({ kind: 'apis', id: api_id, name: summary.name });
const toKey =
  (orgId: string) =>
  ({ id: rowId, key_hash: hash }: { id: string; key_hash: string }): FoundDependent => ({
    kind: 'keys',
    id: hash,
    name: hash,
    keyRow: { rowId, orgId },
  });
const toClient = ({ client_id }: { client_id: string }): Dependent => ({
  kind: 'oauth clients',
  id: client_id,
  name: client_id,
});

/** True where a text of a value is one of these. */
function hasText(value: unknown, texts: readonly string[]): boolean {
  if (typeof value === 'string') return texts.includes(value);
  if (Array.isArray(value)) return value.some(item => hasText(item, texts));
  return (
    isObject(value) && Object.entries(value).some(([name, member]) => texts.includes(name) || hasText(member, texts))
  );
}

/** APIs, of those given, that name an object by its id, in their definition or beside it. */
const filterNaming = (apis: readonly StoredApi[], ids: readonly string[]): Dependent[] =>
  apis.filter(it => hasText([it.definition, it.wrapper.hook_references], ids)).map(toApi);

const findApisNaming = async ({ apis }: DependentServices, orgId: string, ids: readonly string[]) =>
  filterNaming(await apis.findMentioning(orgId, ...ids), ids);

async function findApiDependents(services: DependentServices, orgId: string, ref: string) {
  const { apis, dependents } = services;
  const api = await apis.get(orgId, ref);
  if (!api) return undefined;
  const { api_id } = api;
  const named = { id: api.id, api_id, name: api.summary.name };
  const candidates = new Map((await apis.findMentioning(orgId, 'gw:')).map(it => [it.id, it]));
  for (const base of await apis.findBases(orgId, api_id)) candidates.set(base.id, base);
  const referring = [...candidates.values()].filter(
    it => it.id !== api.id && findReferences(it, toModel(it)).some(reference => isReferenceTo(reference, named)),
  );
  const policies = await dependents.policiesOfApi(orgId, api_id);
  return [
    ...referring.map(toApi),
    ...policies.map(({ policy_id, name }) => ({ kind: 'policies', id: policy_id, name })),
    ...(await dependents.keysOfApi(orgId, api_id)).map(toKey(orgId)),
    ...(await dependents.clientsOfApi(orgId, api_id)).map(toClient),
  ];
}

/** MCP proxies whose tools are the operations of an API: without it they would have none. */
export async function findToolProxies({ apis }: Pick<DependentServices, 'apis'>, orgId: string, ref: string) {
  const api = await apis.get(orgId, ref);
  if (!api) return undefined;
  const proxies = (await apis.findMentioning(orgId, 'gw:')).filter(it =>
    listToolSources(it).some(name => name === api.api_id || name === api.id),
  );
  return proxies.map(toApi);
}

async function findPolicyDependents(services: DependentServices, orgId: string, ref: string) {
  const { policies, dependents } = services;
  const policy = await policies.get(orgId, ref);
  if (!policy) return undefined;
  const ids = [...new Set([policy.id, policy._id])];
  const clients: { client_id: string }[] = [];
  for (const id of ids)
    for (const client of await dependents.clientsMentioning(orgId, id))
      if ((JSON.parse(client.body) as { policy_id?: unknown }).policy_id === id) clients.push(client);
  return [
    ...(await dependents.keysOfPolicy(orgId, policy.id)).map(toKey(orgId)),
    ...clients.map(toClient),
    ...(await findApisNaming(services, orgId, ids)),
  ];
}

async function findCertificateDependents(services: DependentServices, orgId: string, ref: string) {
  if (!(await services.certificates.get(orgId, ref))) return undefined;
  const using = await findApisWithCertificate(services.apis, orgId, ref);
  const bound = await services.keys.findBoundTo(orgId, ref);
  return [
    ...using.map(({ api }) => toApi(api)),
    ...bound.map(({ rowId, keyHash }) => toKey(orgId)({ id: rowId, key_hash: keyHash })),
  ];
}

async function findHookDependents(services: DependentServices, orgId: string, ref: string) {
  const hook = await services.hooks.get(orgId, ref);
  return hook && findApisNaming(services, orgId, listHookIds(hook));
}

type HookIds = Readonly<Record<'id' | 'webhook_id', string>>;
const listHookIds = ({ id, webhook_id }: HookIds) => [id, webhook_id].filter(Boolean);

/** APIs that name these webhooks, by the id of each, in one read of the APIs. */
export async function findHookUses(
  { apis }: Pick<DependentServices, 'apis'>,
  orgId: string,
  hooks: readonly HookIds[],
): Promise<ReadonlyMap<string, readonly Dependent[]>> {
  const naming = await apis.findMentioning(orgId, ...hooks.flatMap(listHookIds));
  return new Map(hooks.map(hook => [hook.id, filterNaming(naming, listHookIds(hook))]));
}

async function findGroupDependents(services: DependentServices, orgId: string, ref: string) {
  const { groups, identityProfiles, dependents } = services;
  const group = await groups.get(orgId, ref);
  if (!group) return undefined;
  const { items } = await identityProfiles.page(orgId, wholeList);
  const mapping = items.filter(it => hasText([it.DefaultUserGroupID, Object.values(it.UserGroupMapping)], [group.id]));
  return [
    ...(await dependents.usersOfGroup(orgId, group.id)).map(it => ({ kind: 'users', id: it.id, name: it.email })),
    ...mapping.map(it => ({ kind: 'sso profiles', id: it.ID, name: it.Name })),
    ...(await dependents.apisOfGroup(orgId, group.id)).map(it => ({ kind: 'apis', id: it.api_id, name: it.name })),
  ];
}

export const dependentFinders: Readonly<Record<DependedKind, FindDependents>> = {
  apis: findApiDependents,
  policies: findPolicyDependents,
  certs: findCertificateDependents,
  hooks: findHookDependents,
  usergroups: findGroupDependents,
};
