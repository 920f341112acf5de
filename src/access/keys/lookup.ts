import { z } from 'zod';
import type { Ownership } from '#apis/owners/store.ts';
import { problem as apis } from '#apis/problems.ts';
import type { Actor } from '#operations/actor.ts';
import { type FindApi, resolvePublicApiId } from '../api-lookup.ts';
import { grantsHidden, isVisible, withoutHidden } from '../hidden-rights.ts';
import { policyIdsOf } from '../policies/apply-policies.ts';
import { formatKeyId } from './ids.ts';
import type { IssuedKey, KeyTools } from './issue.ts';
import { problem } from './problems.ts';
import type { Key } from './schema.ts';
import type { KeyStore, StoredKey } from './store.ts';

/** How a path names a key. */

export interface KeyOperationTools extends KeyTools {
  findApi: FindApi;
  ownership: Ownership;
}

export const booleanQuery = z
  .enum(['true', 'false', '1', '0', ''])
  .transform(text => text === 'true' || text === '1')
  .default(false);

export const lookupQuery = z.object({
  hashed: z.string().optional().describe('Any value: the path holds the hash of the key'),
  auto_guess: booleanQuery.describe('Tries the path as an id, then as a hash'),
  username: booleanQuery.describe('The path holds the name of a basic-auth user'),
});
export type Lookup = z.output<typeof lookupQuery>;

export const changeQuery = lookupQuery.extend({
  suppress_reset: booleanQuery.describe('1 leaves the running quota period as it is'),
});

export const keyParams = z.object({ keyId: z.string().describe('The id of the key, or its name') });

async function lookUpKey(
  { keys, settings }: Pick<KeyTools, 'keys' | 'settings'>,
  orgId: string,
  text: string,
  { hashed, auto_guess, username }: Lookup,
): Promise<StoredKey | undefined> {
  if (hashed) return keys.findByHash(orgId, text);
  if (username) return findUserIfAllowed({ keys, settings }, orgId, text);
  // Where ids are not kept, lists show hashes: what a list shows can be asked for.
  const tryHash = auto_guess || settings['keys.at_rest'] === 'hashed';
  return (await keys.get(orgId, text)) ?? (tryHash ? keys.findByHash(orgId, text) : undefined);
}

/** For those who ask for a key by the name of its user, where that is allowed. */
export async function findUserIfAllowed(
  { keys, settings }: Pick<KeyTools, 'keys' | 'settings'>,
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

/** The key a path names, in the caller's organisation. */
export async function requireKey(
  tools: Pick<KeyOperationTools, 'keys' | 'settings' | 'ownership'>,
  actor: Actor,
  keyId: string,
  query: Lookup,
): Promise<StoredKey> {
  return requireVisible(tools, actor, await lookUpKey(tools, actor.orgId, keyId, query));
}

/** The basic-auth user a path names, in the caller's organisation. */
export async function requireUser(
  tools: Pick<KeyOperationTools, 'keys' | 'ownership'>,
  actor: Actor,
  username: string,
): Promise<StoredKey> {
  return requireVisible(tools, actor, await findBasicUser(tools.keys, actor.orgId, username));
}

/** A key that may call APIs of others alone is not found. */
async function requireVisible(
  { keys, ownership }: Pick<KeyOperationTools, 'keys' | 'ownership'>,
  actor: Actor,
  stored: StoredKey | undefined,
): Promise<StoredKey> {
  const { apiIds } = await ownership.findHidden(actor);
  if (!stored || !(await keys.isVisible(stored, apiIds))) throw problem.not_found();
  return stored;
}

/** Refuses to make or change a key that grants, by itself or through a policy, APIs its author does not own. */
export async function refuseHiddenGrants(
  { policies, ownership }: Pick<KeyOperationTools, 'policies' | 'ownership'>,
  actor: Actor,
  ...keys: readonly Key[]
): Promise<void> {
  const hidden = await ownership.findHidden(actor);
  if (hidden.apiIds.length === 0) return;
  if (keys.some(key => grantsHidden(key, hidden))) throw apis.api_not_owned();
  const referenced = await policies.findByIds(actor.orgId, keys.flatMap(policyIdsOf));
  if ([...referenced.values()].some(policy => !isVisible(policy, hidden))) throw apis.api_not_owned();
}

/** Leaves rights to APIs of others out of what a user is shown of a key. */
export async function withoutHiddenRights(
  { ownership }: Pick<KeyOperationTools, 'ownership'>,
  actor: Actor,
  issued: IssuedKey,
): Promise<IssuedKey> {
  const hidden = await ownership.findHidden(actor);
  return { ...issued, data: withoutHidden(issued.data, hidden) };
}

/** The same for whoever means to change it: the limits of an organisation are not its own to change. */
export async function requireWritableKey(...lookup: Parameters<typeof requireKey>): Promise<StoredKey> {
  const stored = await requireKey(...lookup);
  if (stored.kind === 'organisation') throw problem.organisation_key();
  return stored;
}

/** Stands for whatever API in the paths of keys. */
const anyApi = '-';

/** The public id of the API a path names; undefined for any. */
export async function resolveApiId({ findApi }: { findApi: FindApi }, actor: Actor, apiId: string) {
  return apiId === anyApi ? undefined : resolvePublicApiId(findApi, actor.orgId, apiId);
}

/** A key that does not grant the API of the path is not found there. */
export async function refuseOtherApi(
  tools: Pick<KeyOperationTools, 'keys' | 'findApi'>,
  actor: Actor,
  apiId: string,
  stored: StoredKey,
): Promise<void> {
  const resolvedId = await resolveApiId(tools, actor, apiId);
  if (resolvedId !== undefined && !(await tools.keys.hasRight(stored, resolvedId))) throw problem.not_found();
}
