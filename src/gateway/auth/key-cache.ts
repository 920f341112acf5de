import { keyOwner } from '#access/keys/counters.ts';
import { displayHash, keyDigest, keyIdsOf, parseKeyBody } from '#access/keys/key-row.ts';
import type { Key } from '#access/keys/schema.ts';
import type { Session } from '#access/keys/session.ts';
import type { KeyKind } from '#access/keys/store.ts';
import { applyPolicies, policyIdsOf } from '#access/policies/apply-policies.ts';
import type { Policy } from '#access/policies/schema.ts';
import { policyChangeName } from '#access/policies/topic.ts';
import type { AccessStore, FoundKeyRow } from '#access/reader.ts';
import type { Change } from '#apis/config-reader.ts';
import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import { Lru } from '#base/lru.ts';
import type { MaybePromise } from '#base/maybe-promise.ts';
import { andThen } from '#base/maybe-promise.ts';
import { createReadGuard, type ReadGuard } from '#base/read-guard.ts';
import type { Settings } from '#base/settings.ts';
import type { Vault } from '#base/vault.ts';
import { type ApisById, createLifetimeCheck } from './key-lifetime.ts';

/** A key that was found, with its policies applied. Never changed: the next state of the key is another object. */
export interface CachedKey {
  /** The whole id, whichever way it was presented. */
  readonly keyId: string;
  /** Whose counters its calls are counted in. */
  readonly counterOwner: string;
  /** What events, analytics and logs may show. */
  readonly keyHash: string;
  readonly kind: KeyKind;
  readonly session: Session;
  /** As its author wrote it, before its policies. */
  readonly rawKey: Key;
  /** Unix seconds; its lifetime counts from here. */
  readonly createdAt: number;
  /** Policies it names, found or not, as changes name them. */
  readonly policyTopics: readonly string[];
}

interface KeyCacheEntry extends CachedKey {
  readonly digest: string;
  /** The last change after which it was found to be current. */
  checkedVersion: number;
}

/** Finds keys for a thread, from memory where it can. */
export interface KeyCache {
  /** What a credential stands for in an organisation; nothing for a key that is unknown or cannot be used. */
  find(orgId: string, presented: string): MaybePromise<CachedKey | undefined>;
  /** Policies of an organisation by either of their ids, each under the id asked for. */
  policies(orgId: string, ids: readonly string[]): MaybePromise<ReadonlyMap<string, Policy>>;
  /** Rises whenever a key or policy may have changed: what was made of them before is made anew after it. */
  version(): number;
  /** The handle of a text that may be a key, for events and logs. */
  hashOf(text: string): string;
  /** Whose counters calls with that key are counted in. */
  counterOwnerOf(keyId: string): string;
  /** Forgets what changed; undefined is everything. */
  invalidate(changes: readonly Change[] | undefined): void;
}

export interface KeyCacheOptions {
  readonly store: AccessStore;
  readonly vault: Vault;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Log;
  /** The APIs served now: they may say how long keys are kept. */
  readonly apis?: () => ApisById;
}

const noApis: ApisById = new Map();

/** Texts that are no keys. */
const maxUnknownKeys = 10_000;
const maxCachedPolicies = 10_000;
/** Long enough that repeating a guess costs nothing, short enough that nothing depends on being told of a new key. */
const negativeTtlMs = 2000;
/** No key is longer; nobody may fill the memory with texts that are not keys. */
const maxKeyChars = 1024;

export function createKeyCache({ store, vault, settings, clock, log, apis = () => noApis }: KeyCacheOptions): KeyCache {
  const { isPastLifetime: isGone } = createLifetimeCheck({ settings, clock, apis });
  const maxCachedKeys = settings['keys.cache_size'];
  /** By what callers present. As good as `keys` for what was looked at since the last change: one look-up then does. */
  const byCredential = new Lru<string, KeyCacheEntry>(maxCachedKeys);
  /** By digest. */
  const byDigest = new Lru<string, KeyCacheEntry>(maxCachedKeys);
  /** To when that is forgotten. */
  const unknown = new Lru<string, number>(maxUnknownKeys);
  const policies = new Lru<string, Policy | null>(maxCachedPolicies);
  const loading = new Map<string, Promise<CachedKey | undefined>>();
  const reads = createReadGuard();

  function find(orgId: string, presented: string): MaybePromise<CachedKey | undefined> {
    if (presented === '' || presented.length > maxKeyChars) return undefined;
    const name = `${orgId}/${presented}`;
    const last = byCredential.get(name);
    const known = last?.checkedVersion === reads.generation() ? last : last && revalidate(name, last);
    if (known) return isGone(known) ? undefined : known;
    const until = unknown.get(name);
    if (until !== undefined && clock.now() < until) return undefined;
    return loading.get(name) ?? load(name, orgId, presented);
  }

  /** Something has changed since it was looked at, perhaps this key. */
  function revalidate(name: string, { digest }: KeyCacheEntry): KeyCacheEntry | undefined {
    const known = byDigest.get(digest);
    if (!known) return undefined;
    known.checkedVersion = reads.generation();
    byCredential.set(name, known);
    return known;
  }

  function load(name: string, orgId: string, presented: string): MaybePromise<CachedKey | undefined> {
    const store = reads.begin();
    const found = lookUp(orgId, presented);
    if (!(found instanceof Promise)) return cacheResult(name, found, store);
    const kept = found
      .then(value => cacheResult(name, value, store))
      .finally(() => void (loading.get(name) === kept && loading.delete(name)));
    loading.set(name, kept);
    return kept;
  }

  function cacheResult(
    name: string,
    found: KeyCacheEntry | undefined,
    store: ReturnType<ReadGuard['begin']>,
  ): CachedKey | undefined {
    store(() => {
      if (!found) return void unknown.set(name, clock.now() + negativeTtlMs);
      found.checkedVersion = reads.generation();
      byCredential.set(name, found);
      byDigest.set(found.digest, found);
    });
    return found && !isGone(found) ? found : undefined;
  }

  /** A whole id is looked for alone: nearly all callers present one, and it costs one digest instead of one for each spelling. */
  function lookUp(orgId: string, presented: string): MaybePromise<KeyCacheEntry | undefined> {
    const ids = keyIdsOf(orgId, presented);
    if (ids.length === 0) return undefined;
    const others = presented.startsWith(orgId) ? ids.filter(id => id !== presented) : [];
    const found = findAmong(orgId, others.length > 0 ? [presented] : ids);
    return andThen(found, it =>
      it !== 'none' ? it : others.length > 0 ? andThen(findAmong(orgId, others), known) : undefined,
    );
  }

  const known = (found: KeyCacheEntry | undefined | 'none') => (found === 'none' ? undefined : found);

  /** The first of the ids that is a key; `none` where none is, undefined where it is not one to call with. */
  function findAmong(orgId: string, keyIds: readonly string[]): MaybePromise<KeyCacheEntry | undefined | 'none'> {
    const ids = new Map(keyIds.map(keyId => [keyDigest(vault, keyId), keyId]));
    return andThen(store.keys([...ids.keys()]), rows => {
      for (const [digest, keyId] of ids) {
        const row = rows.find(it => it.digest === digest && it.org_id === orgId);
        if (row) return row.kind === 'organisation' ? undefined : buildEntry(row, keyId);
      }
      return 'none';
    });
  }

  function buildEntry(row: FoundKeyRow, keyId: string): MaybePromise<KeyCacheEntry | undefined> {
    const known = byDigest.get(row.digest);
    if (known) return known;
    const key = parseKeyBody(row.body, vault);
    const named = policyIdsOf(key);
    return andThen(findPolicies(row.org_id, named), lookup => applyToKey(row, keyId, key, lookup));
  }

  function applyToKey(
    row: FoundKeyRow,
    keyId: string,
    key: Key,
    lookup: ReadonlyMap<string, Policy>,
  ): KeyCacheEntry | undefined {
    const orgId = row.org_id;
    const application = applyPolicies(key, lookup, { orgId, allowMasterKeys: settings['keys.allow_master_keys'] });
    if (!application.ok) {
      log.warn({ key: row.key_hash, org: orgId, reason: application.message }, 'a key cannot be used');
      return undefined;
    }
    const { session } = application;
    return {
      digest: row.digest,
      checkedVersion: -1,
      keyId,
      counterOwner: keyOwner(row.digest),
      keyHash: row.key_hash,
      kind: row.kind as KeyKind,
      session,
      rawKey: key,
      createdAt: Math.floor(Number(row.created_at) / 1000),
      policyTopics: policyIdsOf(key).map(id => policyChangeName(orgId, id)),
    };
  }

  function findPolicies(orgId: string, ids: readonly string[]): MaybePromise<ReadonlyMap<string, Policy>> {
    const found = new Map<string, Policy>();
    const missing: string[] = [];
    for (const id of ids) {
      const policy = policies.get(policyChangeName(orgId, id));
      if (policy) found.set(id, policy);
      else if (policy === undefined) missing.push(id);
    }
    if (missing.length === 0) return found;
    const remember = reads.begin();
    return andThen(store.policies(orgId, missing), rows => {
      for (const id of missing) {
        const policy = rows.find(it => it.id === id) ?? rows.find(it => it._id === id);
        if (policy) found.set(id, policy);
        remember(() => policies.set(policyChangeName(orgId, id), policy ?? null));
      }
      return found;
    });
  }

  function clearAll(): void {
    for (const cache of [byCredential, byDigest, unknown, policies]) cache.clear();
  }

  return {
    find,
    policies: findPolicies,
    version: reads.generation,
    // Callers choose what they present, and how much of it.
    hashOf: text => displayHash(text.slice(0, maxKeyChars), settings),
    counterOwnerOf: keyId => keyOwner(keyDigest(vault, keyId)),
    invalidate(changes) {
      const told = changes?.filter(({ topic }) => invalidatingTopics.has(topic));
      if (told?.length === 0) return;
      reads.invalidate();
      loading.clear();
      unknown.clear();
      if (!told || told.some(({ topic, id }) => id === '' || topic === 'organisations')) return clearAll();
      for (const { topic, id } of told) if (topic === 'keys') byDigest.delete(id);
      const governing = new Set(told.filter(({ topic }) => topic === 'policies').map(({ id }) => id));
      if (governing.size === 0) return;
      for (const id of governing) policies.delete(id);
      byDigest.deleteWhere(({ policyTopics: named }) => named.some(id => governing.has(id)));
    },
  };
}

const invalidatingTopics: ReadonlySet<string> = new Set(['keys', 'policies', 'organisations']);
