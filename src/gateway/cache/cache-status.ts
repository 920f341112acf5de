/** Why a request was forwarded (RFC 9211, section 2.2). */
export type ForwardReason = 'uri-miss' | 'vary-miss' | 'stale' | 'request';

/** Outcome of a request at the cache. */
export interface CacheOutcome {
  /** Remaining lifetime of a stored response that is sent; negative for a stale one. */
  readonly ttlMs?: number;
  readonly forward?: ForwardReason;
  readonly forwardStatus?: number;
  readonly isStored?: boolean;
  /** The request waited for another one's response. */
  readonly isCollapsed?: boolean;
}

/** A member of the `Cache-Status` field (RFC 9211). */
export function formatCacheStatus({ ttlMs, forward, forwardStatus, isStored, isCollapsed }: CacheOutcome): string {
  let text = 'Gatewright';
  if (forward === undefined && !isCollapsed) text += '; hit';
  if (forward !== undefined) text += `; fwd=${forward}`;
  if (forwardStatus !== undefined) text += `; fwd-status=${forwardStatus}`;
  if (ttlMs !== undefined) text += `; ttl=${Math.floor(ttlMs / 1000)}`;
  if (isStored) text += '; stored';
  if (isCollapsed) text += '; collapsed';
  return text;
}
