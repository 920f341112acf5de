/** What the management interfaces may ask of the traffic of this process; whoever runs it supplies it. */
export interface DataPlaneControl {
  /** Resolves when every traffic thread serves what was committed before. */
  reload(): Promise<void>;
  /** Whether calls of an API are answered, and if not, why. */
  status(apiId: string): Promise<ApiStatus>;
  stats(apiId: string): Promise<ApiStats>;
  /** Has the key sets of others read anew: those an API names, or all. */
  clearJwksCache(apiId?: string): Promise<void>;
  purgeResponseCache(apiId: string): Promise<void>;
}

export interface ApiStatus {
  readonly served: boolean;
  readonly reason: string;
  /** What of its definition is not done although calls are answered; absent where there is nothing. */
  readonly warnings?: readonly string[];
}

/** How the calls of an API went in the time just past. */
export interface ApiStats {
  readonly seconds: number;
  readonly calls: number;
  readonly rateRefused: number;
  readonly quotaRefused: number;
  readonly keyRefused: number;
  readonly upstreamCalls: number;
  readonly upstreamMs: number;
}
