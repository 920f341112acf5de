import { findRight, isExpired, type Right, type Session } from '#access/keys/session.ts';
import { every, type RepeatedWork } from '#base/repeat.ts';
import type { AuthMethod } from '#definition/model.ts';
import type { CachedKey } from './key-cache.ts';
import type { AuthServices } from './services.ts';

type Services = Pick<AuthServices, 'clock' | 'keyCache' | 'log' | 'oauthTokens'>;

/**
 * `revoked`: the key or token was deleted, revoked or deactivated, has expired, or lost its access to the API.
 * `changed`: it may use other parts of the API than when the connection was opened.
 */
export type AccessEnd = 'revoked' | 'changed';

/** Key of a connection that outlives its request. */
export interface WatchedKey {
  readonly orgId: string;
  readonly keyId: string;
  readonly session: Session;
  /** Authentication method of the connection. */
  readonly authMethod: string;
  readonly apiId: string;
  onAccessEnded(reason: AccessEnd): void;
  /** The key or a policy of it has changed, but for its access: limits of the connection follow. */
  onSession?(session: Session): void;
}

export interface KeyWatch {
  /** Returns the function that ends the watch. */
  watch(key: WatchedKey): () => void;
}

interface WatchEntry extends Omit<WatchedKey, 'session'> {
  session: Session;
  /** Version of the caches, and time, of the last look-up. */
  checkedVersion: number;
  checkedAtMs: number;
}

const checkIntervalMs = 1000;
/** Lifetimes of keys end without a change: they are looked up at least this often. */
const maxUncheckedMs = 30_000;

/** Authentication methods whose identity is a stored key, or a stored token. */
const storedMethods: ReadonlySet<string> = new Set<AuthMethod>(['token', 'basic', 'hmac', 'oauth']);

const watches = new WeakMap<object, KeyWatch>();

/** Watch of a thread, shared by its APIs. */
export function findKeyWatch(services: Services): KeyWatch {
  const known = watches.get(services.keyCache);
  if (known) return known;
  const watch = createKeyWatch(services);
  watches.set(services.keyCache, watch);
  return watch;
}

/**
 * Key revocation for open connections: once a second those are looked up whose key may have changed, in the cache that
 * requests use. Identities that are not stored (JWT, OpenID Connect) are watched for the expiry of their session alone.
 */
function createKeyWatch(services: Services): KeyWatch {
  const { log } = services;
  const entries = new Set<WatchEntry>();
  let loop: RepeatedWork | undefined;

  function remove(entry: WatchEntry): boolean {
    const isRemoved = entries.delete(entry);
    if (entries.size === 0) {
      loop?.stop();
      loop = undefined;
    }
    return isRemoved;
  }

  const check = createKeyCheck(services, (entry, reason) => {
    if (remove(entry)) entry.onAccessEnded(reason);
  });
  const onError = (err: Error) => log.error({ err }, 'watch of keys failed, retrying');
  function checkAll(): void {
    for (const it of entries) check(it);
  }

  return {
    watch(key) {
      const entry: WatchEntry = {
        ...key,
        onAccessEnded: reason => key.onAccessEnded(reason),
        onSession: session => key.onSession?.(session),
        checkedVersion: -1,
        checkedAtMs: 0,
      };
      entries.add(entry);
      loop ??= every(checkIntervalMs, checkAll, { onError, unref: true });
      return () => void remove(entry);
    },
  };
}

type EndAccess = (entry: WatchEntry, reason: AccessEnd) => void;

function createKeyCheck(services: Services, endAccess: EndAccess) {
  const { clock, keyCache, oauthTokens, log } = services;

  function evaluate(entry: WatchEntry, known: CachedKey | undefined): void {
    const isUsable = known && !known.session.inactive && !isExpired(known.session, clock.now());
    if (!isUsable) return endAccess(entry, 'revoked');
    if (known.session === entry.session) return;
    const before = findRight(entry.session, entry.apiId);
    const now = findRight(known.session, entry.apiId);
    if (before && !now) return endAccess(entry, 'revoked');
    if (describeAccess(before) !== describeAccess(now)) return endAccess(entry, 'changed');
    entry.session = known.session;
    entry.onSession?.(known.session);
  }

  /** A database that is unavailable revokes nothing; the key is looked up again. */
  function lookUp(entry: WatchEntry): void {
    const retry = (error: unknown) => {
      entry.checkedVersion = -1;
      log.warn({ err: error }, 'key of an open connection not read, retrying');
    };
    try {
      const known = entry.authMethod === 'oauth' ? findToken(services, entry) : keyCache.find(entry.orgId, entry.keyId);
      if (known instanceof Promise) known.then(it => evaluate(entry, it)).catch(retry);
      else evaluate(entry, known);
    } catch (error) {
      retry(error);
    }
  }

  return (entry: WatchEntry): void => {
    const nowMs = clock.now();
    if (isExpired(entry.session, nowMs)) return endAccess(entry, 'revoked');
    if (!storedMethods.has(entry.authMethod)) return;
    const version = keyCache.version() + oauthTokens.generation();
    if (version === entry.checkedVersion && nowMs - entry.checkedAtMs < maxUncheckedMs) return;
    Object.assign(entry, { checkedVersion: version, checkedAtMs: nowMs });
    lookUp(entry);
  };
}

/** Access token of the provider of the gateway, while its client exists. */
async function findToken(
  { oauthTokens }: Services,
  { orgId, keyId, apiId }: WatchEntry,
): Promise<CachedKey | undefined> {
  const token = await oauthTokens.find(orgId, keyId);
  return token && (await oauthTokens.client(apiId, token.clientId)) ? token.known : undefined;
}

/**
 * Access of a right, as text for comparison: the query depth too, which decides what a query may read. Other limits are
 * not part of it: open connections get the new ones.
 */
function describeAccess(right: Right | undefined): string {
  if (!right) return '';
  const { versions, allowedUrls, allowedTypes, restrictedTypes, fieldDepths, introspection, limits } = right;
  const { queryDepth } = limits;
  return JSON.stringify({
    versions,
    allowedUrls,
    allowedTypes,
    restrictedTypes,
    fieldDepths,
    introspection,
    queryDepth,
  });
}
