/** Data plane as the management operations see it; `application.ts` supplies it. */
export interface DataPlaneControl {
  /** Resolves when every traffic thread serves everything committed before the call. */
  reload(): Promise<void>;
  /** Status of the API: served, or the reason why not. */
  status(apiId: string): Promise<ApiStatus>;
  /** Status of every traffic thread of this process. */
  threads(): Promise<readonly ThreadStatus[]>;
  /** Active APIs of an organisation that are not served, at most 100. */
  listUnavailable(orgId: string): Promise<UnavailableApi[]>;
  stats(apiId: string): Promise<ApiStats>;
  /** Clears cached JWKS: those an API references, or all. */
  clearJwksCache(apiId?: string): Promise<void>;
  purgeResponseCache(apiId: string): Promise<void>;
}

export interface ApiStatus {
  readonly served: boolean;
  readonly reason: string;
  /** Parts of the definition without effect although the API is served; absent where there are none. */
  readonly warnings?: readonly string[];
}

/** Status of a traffic thread. */
export interface ThreadStatus {
  /** Revision of the configuration that it serves. */
  readonly revision: number;
  readonly apis: number;
  readonly notServed: number;
  /** APIs that are not served, with the reason; bounded. */
  readonly unavailable: readonly { readonly apiId: string; readonly name: string; readonly reason: string }[];
}

/** Active API that serves no requests. */
export interface UnavailableApi {
  readonly apiId: string;
  readonly reason: string;
}

/** Request statistics of an API over the last minute. */
export interface ApiStats {
  readonly seconds: number;
  readonly calls: number;
  readonly rateRefused: number;
  readonly quotaRefused: number;
  readonly keyRefused: number;
  readonly upstreamCalls: number;
  readonly upstreamMs: number;
}
