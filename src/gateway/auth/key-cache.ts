import { keyOwner } from '#access/keys/counters.ts';
import { displayHash, keyDigest, keyIdsOf, parseKeyBody } from '#access/keys/key-row.ts';
import type { Key } from '#access/keys/schema.ts';
import type { Session } from '#access/keys/session.ts';
import type { KeyKind } from '#access/keys/store.ts';
import { applyPolicies, policyIdsOf } from '#access/policies/apply-policies.ts';
import type { Policy } from '#access/policies/schema.ts';
import { policyChangeName } from '#access/policies/topic.ts';
import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import { Lru } from '#base/lru.ts';
import { createReadGuard, type ReadGuard } from '#base/read-guard.ts';
import type { Settings } from '#base/settings.ts';
import type { Vault } from '#base/vault.ts';
import type { MaybePromise } from '../pipeline/step.ts';
import type { Change } from '../routing/config-store.ts';
import { type ApisById, lifetimesOf } from './key-lifetime.ts';
import type { AccessStore, FoundKeyRow } from './store.ts';

/** A key that was found, with its policies applied. Never changed: the next state of the key is another object. */
export interface KnownKey {
  /** The whole id, whichever way it was presented. */
  readonly keyId: string;
  /** Whose counters its calls are counted in. */
  readonly owner: string;
  /** What events, analytics and logs may show. */
  readonly keyHash: string;
  readonly kind: KeyKind;
  readonly session: Session;
  /** As its author wrote it, before its policies. */
  readonly written: Key;
  /** Unix seconds; its lifetime counts from here. */
  readonly madeAt: number;
  /** Policies it names, found or not, as changes name them. */
  readonly policies: readonly string[];
}

interface Remembered extends KnownKey {
  readonly digest: string;
  /** The last change after which it was found to be current. */
  seen: number;
}

/** Finds keys for a thread, from memory where it can. */
export interface Sessions {
  /** What a credential stands for in an organisation; nothing for a key that is unknown or cannot be used. */
  find(orgId: string, presented: string): MaybePromise<KnownKey | undefined>;
  /** Policies of an organisation by either of their ids, each under the id asked for. */
  policies(orgId: string, ids: readonly string[]): MaybePromise<ReadonlyMap<string, Policy>>;
  /** Rises whenever a key or policy may have changed: what was made of them before is made anew after it. */
  edition(): number;
  /** The handle of a text that may be a key, for events and logs. */
  hashOf(text: string): string;
  /** Whose counters calls with that key are counted in. */
  ownerOf(keyId: string): string;
  /** Forgets what changed; undefined is everything. */
  changed(changes: readonly Change[] | undefined): void;
}

export interface SessionsOptions {
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
const unknownKept = 10_000;
const policiesKept = 10_000;
/** Long enough that repeating a guess costs nothing, short enough that nothing depends on being told of a new key. */
const unknownForMs = 2000;
/** No key is longer; nobody may fill the memory with texts that are not keys. */
const longestKey = 1024;

const after = <T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> =>
  value instanceof Promise ? value.then(next) : next(value);

export function sessionsOf({ store, vault, settings, clock, log, apis = () => noApis }: SessionsOptions): Sessions {
  const { isGone } = lifetimesOf({ settings, clock, apis });
  const keysKept = settings['keys.remembered'];
  /** By what callers present. As good as `keys` for what was looked at since the last change: one look-up then does. */
  const named = new Lru<string, Remembered>(keysKept);
  /** By digest. */
  const keys = new Lru<string, Remembered>(keysKept);
  /** To when that is forgotten. */
  const unknown = new Lru<string, number>(unknownKept);
  const policies = new Lru<string, Policy | null>(policiesKept);
  const loading = new Map<string, Promise<KnownKey | undefined>>();
  const reads = createReadGuard();

  function find(orgId: string, presented: string): MaybePromise<KnownKey | undefined> {
    if (presented === '' || presented.length > longestKey) return undefined;
    const name = `${orgId}/${presented}`;
    const last = named.get(name);
    const known = last?.seen === reads.generation() ? last : last && still(name, last);
    if (known) return isGone(known) ? undefined : known;
    const until = unknown.get(name);
    if (until !== undefined && clock.now() < until) return undefined;
    return loading.get(name) ?? load(name, orgId, presented);
  }

  /** Something has changed since it was looked at, perhaps this key. */
  function still(name: string, { digest }: Remembered): Remembered | undefined {
    const known = keys.get(digest);
    if (!known) return undefined;
    known.seen = reads.generation();
    named.set(name, known);
    return known;
  }

  function load(name: string, orgId: string, presented: string): MaybePromise<KnownKey | undefined> {
    const store = reads.begin();
    const found = read(orgId, presented);
    if (!(found instanceof Promise)) return keep(name, found, store);
    const kept = found
      .then(value => keep(name, value, store))
      .finally(() => void (loading.get(name) === kept && loading.delete(name)));
    loading.set(name, kept);
    return kept;
  }

  function keep(
    name: string,
    found: Remembered | undefined,
    store: ReturnType<ReadGuard['begin']>,
  ): KnownKey | undefined {
    store(() => {
      if (!found) return void unknown.set(name, clock.now() + unknownForMs);
      found.seen = reads.generation();
      named.set(name, found);
      keys.set(found.digest, found);
    });
    return found && !isGone(found) ? found : undefined;
  }

  /** A whole id is looked for alone: nearly all callers present one, and it costs one digest instead of one for each spelling. */
  function read(orgId: string, presented: string): MaybePromise<Remembered | undefined> {
    const ids = keyIdsOf(orgId, presented);
    if (ids.length === 0) return undefined;
    const others = presented.startsWith(orgId) ? ids.filter(id => id !== presented) : [];
    const found = among(orgId, others.length > 0 ? [presented] : ids);
    return after(found, it =>
      it !== 'none' ? it : others.length > 0 ? after(among(orgId, others), known) : undefined,
    );
  }

  const known = (found: Remembered | undefined | 'none') => (found === 'none' ? undefined : found);

  /** The first of the ids that is a key; `none` where none is, undefined where it is not one to call with. */
  function among(orgId: string, keyIds: readonly string[]): MaybePromise<Remembered | undefined | 'none'> {
    const ids = new Map(keyIds.map(keyId => [keyDigest(vault, keyId), keyId]));
    return after(store.keys([...ids.keys()]), rows => {
      for (const [digest, keyId] of ids) {
        const row = rows.find(it => it.digest === digest && it.org_id === orgId);
        if (row) return row.kind === 'organisation' ? undefined : governed(row, keyId);
      }
      return 'none';
    });
  }

  function governed(row: FoundKeyRow, keyId: string): MaybePromise<Remembered | undefined> {
    const known = keys.get(row.digest);
    if (known) return known;
    const key = parseKeyBody(row.body, vault);
    const named = policyIdsOf(key);
    return after(policiesOf(row.org_id, named), lookup => applied(row, keyId, key, lookup));
  }

  function applied(
    row: FoundKeyRow,
    keyId: string,
    key: Key,
    lookup: ReadonlyMap<string, Policy>,
  ): Remembered | undefined {
    const orgId = row.org_id;
    const application = applyPolicies(key, lookup, { orgId, allowMasterKeys: settings['keys.allow_master_keys'] });
    if (!application.ok) {
      log.warn({ key: row.key_hash, org: orgId, reason: application.message }, 'a key cannot be used');
      return undefined;
    }
    const { session } = application;
    return {
      digest: row.digest,
      seen: -1,
      keyId,
      owner: keyOwner(row.digest),
      keyHash: row.key_hash,
      kind: row.kind as KeyKind,
      session,
      written: key,
      madeAt: Math.floor(Number(row.created_at) / 1000),
      policies: policyIdsOf(key).map(id => policyChangeName(orgId, id)),
    };
  }

  function policiesOf(orgId: string, ids: readonly string[]): MaybePromise<ReadonlyMap<string, Policy>> {
    const found = new Map<string, Policy>();
    const missing: string[] = [];
    for (const id of ids) {
      const policy = policies.get(policyChangeName(orgId, id));
      if (policy) found.set(id, policy);
      else if (policy === undefined) missing.push(id);
    }
    if (missing.length === 0) return found;
    const remember = reads.begin();
    return after(store.policies(orgId, missing), rows => {
      for (const id of missing) {
        const policy = rows.find(it => it.id === id) ?? rows.find(it => it._id === id);
        if (policy) found.set(id, policy);
        remember(() => policies.set(policyChangeName(orgId, id), policy ?? null));
      }
      return found;
    });
  }

  function forgetAll(): void {
    for (const cache of [named, keys, unknown, policies]) cache.clear();
  }

  return {
    find,
    policies: policiesOf,
    edition: reads.generation,
    // Callers choose what they present, and how much of it.
    hashOf: text => displayHash(text.slice(0, longestKey), settings),
    ownerOf: keyId => keyOwner(keyDigest(vault, keyId)),
    changed(changes) {
      const told = changes?.filter(({ topic }) => topics.has(topic));
      if (told?.length === 0) return;
      reads.invalidate();
      loading.clear();
      unknown.clear();
      if (!told || told.some(({ topic, id }) => id === '' || topic === 'organisations')) return forgetAll();
      for (const { topic, id } of told) if (topic === 'keys') keys.delete(id);
      const governing = new Set(told.filter(({ topic }) => topic === 'policies').map(({ id }) => id));
      if (governing.size === 0) return;
      for (const id of governing) policies.delete(id);
      keys.deleteWhere(({ policies: named }) => named.some(id => governing.has(id)));
    },
  };
}

const topics: ReadonlySet<string> = new Set(['keys', 'policies', 'organisations']);
