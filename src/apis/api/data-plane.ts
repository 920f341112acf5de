/** What the management interfaces may ask of the traffic of this process; whoever runs it supplies it. */
export interface TrafficControl {
  /** Resolves when every traffic thread serves what was committed before. */
  reload(): Promise<void>;
  /** Whether calls of an API are answered, and if not, why. */
  status(apiId: string): Promise<ApiServed>;
  vitals(apiId: string): Promise<ApiVitals>;
  /** Has the key sets of others read anew: those an API names, or all. */
  forgetKeySets(apiId?: string): Promise<void>;
  forgetResponses(apiId: string): Promise<void>;
}

export interface ApiServed {
  readonly served: boolean;
  readonly reason: string;
  /** What of its definition is not done although calls are answered; absent where there is nothing. */
  readonly warnings?: readonly string[];
}

/** How the calls of an API went in the time just past. */
export interface ApiVitals {
  readonly seconds: number;
  readonly calls: number;
  readonly rateRefused: number;
  readonly quotaRefused: number;
  readonly keyRefused: number;
  readonly upstreamCalls: number;
  readonly upstreamMs: number;
}
