import { keyOwner } from '#access/keys/counters.ts';
import { displayHash, keyDigest, keyIdsOf, parseKeyBody } from '#access/keys/key-row.ts';
import type { Key } from '#access/keys/schema.ts';
import type { Session } from '#access/keys/session.ts';
import type { KeyKind } from '#access/keys/store.ts';
import { applyPolicies, policyIdsOf } from '#access/policies/apply-policies.ts';
import type { Policy } from '#access/policies/schema.ts';
import { policyChangeName } from '#access/policies/topic.ts';
import type { AccessStore, FoundKeyRow } from '#access/reader.ts';
import type { ConfigChange } from '#apis/config-reader.ts';
import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import { Lru } from '#base/lru.ts';
import type { MaybePromise } from '#base/maybe-promise.ts';
import { andThen } from '#base/maybe-promise.ts';
import { createReadGuard, type ReadGuard } from '#base/read-guard.ts';
import type { Settings } from '#base/settings.ts';
import type { Vault } from '#base/vault.ts';
import { createLifetimeCheck, type ServedLifetimes } from './key-lifetime.ts';

/** A key with its policies applied. Immutable: a changed key is another object. */
export interface CachedKey {
  /** The full id, whichever form was sent. */
  readonly keyId: string;
  /** The owner of its rate and quota counters. */
  readonly counterOwner: string;
  /** The public form in events, analytics and logs. */
  readonly keyHash: string;
  readonly kind: KeyKind;
  readonly session: Session;
  /** As stored, before policies are applied. */
  readonly rawKey: Key;
  /** Unix seconds; the start of its lifetime. */
  readonly createdAt: number;
  /** Change topics of its policies, also of missing ones. */
  readonly policyTopics: readonly string[];
}

interface KeyCacheEntry extends CachedKey {
  readonly digest: string;
  /** The cache version at which it was last current. */
  checkedVersion: number;
}

/** Key cache of a thread, with negative entries. */
export interface KeyCache {
  /** Undefined for a key that is unknown or unusable. */
  find(orgId: string, presented: string): MaybePromise<CachedKey | undefined>;
  /** Policies by either of their ids, under the requested id. */
  policies(orgId: string, ids: readonly string[]): MaybePromise<ReadonlyMap<string, Policy>>;
  /** Rises with every change of a key or policy: values derived from them are stale then. */
  version(): number;
  /** The public hash of a credential, for events and logs. */
  hashOf(text: string): string;
  /** The owner of the counters of a key. */
  counterOwnerOf(keyId: string): string;
  /** Undefined invalidates everything. */
  invalidate(changes: readonly ConfigChange[] | undefined): void;
}

export interface KeyCacheOptions {
  readonly store: AccessStore;
  readonly vault: Vault;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Log;
  /** The snapshot in service: its APIs may limit the lifetime of keys. */
  readonly served?: () => ServedLifetimes;
}

const noLifetimes: ServedLifetimes = { apis: new Map(), subsets: { lifetimeLimited: [] } };

/** Negative entries. */
const maxUnknownKeys = 10_000;
const maxCachedPolicies = 10_000;
/** Long enough to absorb repeated guesses, short enough that a new key works soon without an invalidation. */
const negativeTtlMs = 2000;
/** No key is longer: bounds the memory of negative entries. */
const maxKeyChars = 1024;

export function createKeyCache(options: KeyCacheOptions): KeyCache {
  const { store, vault, settings, clock, log, served = () => noLifetimes } = options;
  const { isPastLifetime: isGone } = createLifetimeCheck({ settings, clock, served });
  const maxCachedKeys = settings['keys.cache_size'];
  /** By credential as sent: one lookup for a key that was checked since the last change. */
  const byCredential = new Lru<string, KeyCacheEntry>(maxCachedKeys);
  /** By digest. */
  const byDigest = new Lru<string, KeyCacheEntry>(maxCachedKeys);
  /** Expiry of negative entries. */
  const unknown = new Lru<string, number>(maxUnknownKeys);
  const policies = new Lru<string, Policy | null>(maxCachedPolicies);
  /** Policies of cached keys, and of some that were evicted: a change of any other looks at no key. */
  const policiesOfKeys = new Set<string>();
  const loading = new Map<string, Promise<CachedKey | undefined>>();
  const reads = createReadGuard();

  function find(orgId: string, presented: string): MaybePromise<CachedKey | undefined> {
    if (presented === '' || presented.length > maxKeyChars) return undefined;
    const name = `${orgId}/${presented}`;
    const last = byCredential.get(name);
    const entry = last?.checkedVersion === reads.generation() ? last : last && revalidate(name, last);
    if (entry) return isGone(entry) ? undefined : entry;
    const until = unknown.get(name);
    if (until !== undefined && clock.now() < until) return undefined;
    return loading.get(name) ?? load(name, orgId, presented);
  }

  /** Something has changed since the last check, perhaps this key. */
  function revalidate(name: string, { digest }: KeyCacheEntry): KeyCacheEntry | undefined {
    const entry = byDigest.get(digest);
    if (!entry) return undefined;
    entry.checkedVersion = reads.generation();
    byCredential.set(name, entry);
    return entry;
  }

  function load(name: string, orgId: string, presented: string): MaybePromise<CachedKey | undefined> {
    const store = reads.begin();
    const entry = lookUp(orgId, presented);
    if (!(entry instanceof Promise)) return cacheResult(name, entry, store);
    const pending = entry
      .then(value => cacheResult(name, value, store))
      .finally(() => void (loading.get(name) === pending && loading.delete(name)));
    loading.set(name, pending);
    return pending;
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
      for (const name of found.policyTopics) policiesOfKeys.add(name);
    });
    return found && !isGone(found) ? found : undefined;
  }

  /** A full id is looked up alone first: it is the common case and costs one digest instead of one per form. */
  function lookUp(orgId: string, presented: string): MaybePromise<KeyCacheEntry | undefined> {
    const ids = keyIdsOf(orgId, presented);
    if (ids.length === 0) return undefined;
    const others = presented.startsWith(orgId) ? ids.filter(id => id !== presented) : [];
    const result = findAmong(orgId, others.length > 0 ? [presented] : ids);
    return andThen(result, it =>
      it !== 'none' ? it : others.length > 0 ? andThen(findAmong(orgId, others), noneToUndefined) : undefined,
    );
  }

  const noneToUndefined = (found: KeyCacheEntry | undefined | 'none') => (found === 'none' ? undefined : found);

  /** The first id that is a key; `none` where none is, undefined for a key that is not for requests. */
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
    const cached = byDigest.get(row.digest);
    if (cached) return cached;
    const key = parseKeyBody(row.body, vault);
    const policyIds = policyIdsOf(key);
    return andThen(findPolicies(row.org_id, policyIds), lookup => applyToKey(row, keyId, key, lookup));
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
      log.warn(
        { key: row.key_hash, org: orgId, reason: application.message },
        'key policies not applicable, key refused',
      );
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
    const byId = new Map<string, Policy>();
    const missing: string[] = [];
    for (const id of ids) {
      const policy = policies.get(policyChangeName(orgId, id));
      if (policy) byId.set(id, policy);
      else if (policy === undefined) missing.push(id);
    }
    if (missing.length === 0) return byId;
    const save = reads.begin();
    return andThen(store.policies(orgId, missing), rows => {
      for (const id of missing) {
        const policy = rows.find(it => it.id === id) ?? rows.find(it => it._id === id);
        if (policy) byId.set(id, policy);
        save(() => policies.set(policyChangeName(orgId, id), policy ?? null));
      }
      return byId;
    });
  }

  function clearAll(): void {
    for (const cache of [byCredential, byDigest, unknown, policies, policiesOfKeys]) cache.clear();
  }

  function invalidatePolicies(changed: readonly string[]): void {
    for (const name of changed) policies.delete(name);
    const ofKeys = new Set(changed.filter(name => policiesOfKeys.delete(name)));
    if (ofKeys.size > 0) byDigest.deleteWhere(({ policyTopics }) => policyTopics.some(name => ofKeys.has(name)));
  }

  return {
    find,
    policies: findPolicies,
    version: reads.generation,
    // Clients choose the length of what they send.
    hashOf: text => displayHash(text.slice(0, maxKeyChars), settings),
    counterOwnerOf: keyId => keyOwner(keyDigest(vault, keyId)),
    invalidate(changes) {
      const relevant = changes?.filter(({ topic }) => invalidatingTopics.has(topic));
      if (relevant?.length === 0) return;
      reads.invalidate();
      loading.clear();
      unknown.clear();
      if (!relevant || relevant.some(({ topic, id }) => id === '' || topic === 'organisations')) return clearAll();
      // Names of evicted keys: bounds the set.
      if (policiesOfKeys.size > maxCachedKeys) return clearAll();
      for (const { topic, id } of relevant) if (topic === 'keys') byDigest.delete(id);
      invalidatePolicies(relevant.filter(({ topic }) => topic === 'policies').map(({ id }) => id));
    },
  };
}

const invalidatingTopics: ReadonlySet<string> = new Set(['keys', 'policies', 'organisations']);
