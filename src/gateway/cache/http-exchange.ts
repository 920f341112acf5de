import { noBody } from '../http/body.ts';
import { HeaderList } from '../http/headers.ts';
import { Exchange } from '../pipeline/exchange.ts';
import type { CacheEntry } from './cache-entry.ts';
import type { CacheLocation } from './cache-location.ts';
import type { CacheRules } from './cache-policy.ts';
import type { ForwardReason } from './cache-status.ts';
import type { HttpRequestDirectives } from './http-directives.ts';
import type { StoragePlan } from './http-storage.ts';
import type { InFlight } from './request-coalescing.ts';
import type { CoalescedResult } from './store-entry.ts';

/** A stored response and its place. */
export interface StoredAt {
  readonly entry: CacheEntry;
  readonly location: CacheLocation;
}

/** Places of the response to a request. */
export interface HttpLocations {
  /** For all clients; undefined where the request identifies its client. */
  readonly shared: CacheLocation | undefined;
  readonly client: CacheLocation;
  readonly stored: StoredAt | undefined;
}

/** Result of a coalesced request, with the key of the client that it was fetched for. */
export interface HttpResult extends CoalescedResult {
  readonly isShared: boolean;
  readonly clientKey: string;
}

/** A request on its way to the upstream. */
export interface HttpPending extends HttpLocations {
  readonly rules: CacheRules;
  readonly directives: HttpRequestDirectives;
  /** A copy from the lookup: the conditions of the client, and what responses vary by. */
  readonly headers: HeaderList;
  readonly requestedAtMs: number;
  readonly forward: ForwardReason;
  /** The request has the validators of the stored response as its conditions. */
  readonly isConditional: boolean;
  readonly inFlight: InFlight<HttpResult> | undefined;
  /** Set for a revalidation in the background. */
  readonly revalidationKey: string | undefined;
  /** Set with the response head. */
  plan?: StoragePlan | undefined;
  receivedAtMs?: number;
}

/** Revalidations of one API version at a time; beyond them stale responses are not refreshed. */
const maxRevalidations = 100;
/** A revalidation that has not ended by then no longer counts. */
const maxRevalidationMs = 60_000;

/** Revalidations in the background: one at a time for a stored response. */
export function createRevalidations(now: () => number) {
  const startedAt = new Map<string, number>();
  return {
    start(key: string): boolean {
      const nowMs = now();
      for (const [other, atMs] of startedAt) if (nowMs - atMs > maxRevalidationMs) startedAt.delete(other);
      if (startedAt.has(key) || startedAt.size >= maxRevalidations) return false;
      startedAt.set(key, nowMs);
      return true;
    },
    end: (key: string): void => void startedAt.delete(key),
  };
}

/** The request of a client again, for a response that no client waits for. */
export function copyExchange(call: Exchange): Exchange {
  const copy: Exchange = Object.assign(Object.create(Exchange.prototype), call);
  return Object.assign(copy, {
    headers: new HeaderList(call.headers.flat.slice()),
    body: noBody(),
    isRecorded: false,
    background: undefined,
    onDisconnect: undefined,
    response: undefined,
  });
}
