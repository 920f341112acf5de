/** What one round of tests says about one host of an API. */
export interface UptimeResult {
  readonly apiId: string;
  readonly orgId: string;
  readonly apiName: string;
  /** `host:port`. */
  readonly host: string;
  readonly atMs: number;
  /** Whether the host counts as up after the round. */
  readonly up: boolean;
  /** Of the test that speaks for the host: one that found it down, or failed, or the first. */
  readonly url: string;
  /** 0 where no answer came. */
  readonly status: number;
  readonly latencyMs: number;
  /** Why there was no answer; empty where there was one. */
  readonly failure: string;
  /** Of all its tests in the round. */
  readonly tests: number;
  readonly passed: number;
  /** What those that passed took together. */
  readonly passedMs: number;
  /** 0 keeps results as long as the settings say. */
  readonly retentionSeconds: number;
}

/** As a traffic thread sends them. */
export interface UptimeResults {
  readonly hosts: readonly UptimeResult[];
  /** Those that found no room. */
  readonly dropped: number;
}
