import { z } from 'zod';
import type { Ownership } from '#apis/owners/store.ts';
import { problem as apis } from '#apis/problems.ts';
import { isObject } from '#base/json-tree.ts';
import type { Actor } from '#operations/actor.ts';
import { queryFlag } from '#operations/shapes.ts';
import { type FindApi, resolvePublicApiId } from '../api-lookup.ts';
import { grantsHidden, withoutHidden } from '../hidden-rights.ts';
import { grantsNothing, policyIdsOf, readEmbeddedPolicies } from '../policies/apply-policies.ts';
import { formatKeyId } from './ids.ts';
import type { IssuedKey, KeyServices } from './issue.ts';
import { problem } from './problems.ts';
import type { Key } from './schema.ts';
import type { KeyStore, StoredKey } from './store.ts';

/** Key lookup by path and query. */

export interface KeyOperationServices extends KeyServices {
  findApi: FindApi;
  ownership: Ownership;
}

export const booleanQuery = queryFlag.default(false);

export const lookupQuery = z.object({
  hashed: z.string().optional().describe('Any value interprets the path parameter as the hash of the key'),
  auto_guess: booleanQuery.describe('Looks the path parameter up as an id, then as a hash'),
  username: booleanQuery.describe('Interprets the path parameter as the name of a basic-auth user'),
});
export type Lookup = z.output<typeof lookupQuery>;

export const changeQuery = lookupQuery.extend({
  suppress_reset: booleanQuery.describe('1 preserves the current quota period'),
});

export const keyParams = z.object({ keyId: z.string().describe('Id or name of the key') });

async function lookUpKey(
  { keys, settings }: Pick<KeyServices, 'keys' | 'settings'>,
  orgId: string,
  text: string,
  { hashed, auto_guess, username }: Lookup,
): Promise<StoredKey | undefined> {
  if (hashed) return keys.findByHash(orgId, text);
  if (username) return findUserIfAllowed({ keys, settings }, orgId, text);
  // Where ids are not stored, lists show hashes; a listed value must be usable in a path.
  const tryHash = auto_guess || settings['keys.at_rest'] === 'hashed';
  return (await keys.get(orgId, text)) ?? (tryHash ? keys.findByHash(orgId, text) : undefined);
}

/** Finds a basic-auth user by name, where the setting allows it. */
export async function findUserIfAllowed(
  { keys, settings }: Pick<KeyServices, 'keys' | 'settings'>,
  orgId: string,
  username: string,
): Promise<StoredKey | undefined> {
  if (!settings['keys.actions_by_username']) throw problem.no_usernames();
  return findBasicUser(keys, orgId, username);
}

export async function findBasicUser(keys: KeyStore, orgId: string, username: string): Promise<StoredKey | undefined> {
  const stored = await keys.get(orgId, formatKeyId(orgId, username));
  return stored?.kind === 'basic' ? stored : undefined;
}

/** Finds the key in a path, in the caller's organisation, or throws. */
export async function requireKey(
  services: Pick<KeyOperationServices, 'keys' | 'settings' | 'ownership'>,
  actor: Actor,
  keyId: string,
  query: Lookup,
): Promise<StoredKey> {
  return requireVisible(services, actor, await lookUpKey(services, actor.orgId, keyId, query));
}

/** Finds the basic-auth user in a path, in the caller's organisation, or throws. */
export async function requireUser(
  services: Pick<KeyOperationServices, 'keys' | 'ownership'>,
  actor: Actor,
  username: string,
): Promise<StoredKey> {
  return requireVisible(services, actor, await findBasicUser(services.keys, actor.orgId, username));
}

/** A key whose APIs are all hidden from the caller is not found. */
async function requireVisible(
  { keys, ownership }: Pick<KeyOperationServices, 'keys' | 'ownership'>,
  actor: Actor,
  stored: StoredKey | undefined,
): Promise<StoredKey> {
  const { apiIds } = await ownership.findHidden(actor);
  if (!stored || !(await keys.isVisible(stored, apiIds))) throw problem.not_found();
  return stored;
}

/**
 * Refuses a write of a key that grants APIs the caller does not own: by its rights, by a policy it names or embeds, or
 * as a master key, which grants all of them.
 */
export async function refuseHiddenGrants(
  { policies, ownership, settings }: Pick<KeyOperationServices, 'policies' | 'ownership' | 'settings'>,
  actor: Actor,
  ...keys: readonly Key[]
): Promise<void> {
  const hidden = await ownership.findHidden(actor);
  if (hidden.apiIds.length === 0) return;
  if (settings['keys.allow_master_keys'] && keys.some(grantsNothing)) throw apis.api_not_owned();
  const named = await policies.findByIds(actor.orgId, keys.flatMap(policyIdsOf));
  const embedded = keys.flatMap(readEmbeddedPolicies).filter(isObject);
  if ([...keys, ...named.values(), ...embedded].some(it => grantsHidden(it, hidden))) throw apis.api_not_owned();
}

/** Removes rights to hidden APIs from a response. */
export async function withoutHiddenRights(
  { ownership }: Pick<KeyOperationServices, 'ownership'>,
  actor: Actor,
  issued: IssuedKey,
): Promise<IssuedKey> {
  const hidden = await ownership.findHidden(actor);
  return { ...issued, data: withoutHidden(issued.data, hidden) };
}

/** As `requireKey`, for writes: organisation limits are changed by the operator only. */
export async function requireWritableKey(...lookup: Parameters<typeof requireKey>): Promise<StoredKey> {
  const stored = await requireKey(...lookup);
  if (stored.kind === 'organisation') throw problem.organisation_key();
  return stored;
}

/** Path segment that means any API. */
const anyApi = '-';

/** Public id of the API in a path; undefined means any. */
export async function resolveApiId({ findApi }: { findApi: FindApi }, actor: Actor, apiId: string) {
  return apiId === anyApi ? undefined : resolvePublicApiId(findApi, actor.orgId, apiId);
}

/** A key without access to the API of the path is not found there. */
export async function refuseOtherApi(
  services: Pick<KeyOperationServices, 'keys' | 'findApi'>,
  actor: Actor,
  apiId: string,
  stored: StoredKey,
): Promise<void> {
  const resolvedId = await resolveApiId(services, actor, apiId);
  if (resolvedId !== undefined && !(await services.keys.hasRight(stored, resolvedId))) throw problem.not_found();
}
