import type { Exchange } from './exchange.ts';

/** Matches requests against a list of endpoints. The first matching entry wins. */
export interface EndpointMatcher<T> {
  find(call: Exchange, normalize?: (path: string) => string): T | undefined;
  /** Every matching entry, in order. */
  all(call: Exchange, normalize?: (path: string) => string): T[];
}

export interface Endpoint {
  readonly path: string;
  /** Empty for any method. */
  readonly method: string;
  readonly ignoreCase?: boolean;
}
