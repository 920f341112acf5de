/** Result of one round of uptime checks of one host of an API. */
export interface UptimeResult {
  readonly apiId: string;
  readonly orgId: string;
  readonly apiName: string;
  /** Tags of the API. */
  readonly tags: readonly string[];
  /** `host:port`. */
  readonly host: string;
  readonly atMs: number;
  /** State after the round. */
  readonly up: boolean;
  /** Of the representative check: one that found the host down, else a failed one, else the first. */
  readonly url: string;
  /** 0 without a response. */
  readonly status: number;
  readonly latencyMs: number;
  /** Error without a response; empty otherwise. */
  readonly failure: string;
  /** Checks in the round. */
  readonly tests: number;
  readonly passed: number;
  /** Total duration of passed checks. */
  readonly passedMs: number;
  /** 0 applies the retention of the settings. */
  readonly retentionSeconds: number;
}

/** Results as a traffic thread reports them. */
export interface UptimeResults {
  readonly hosts: readonly UptimeResult[];
  /** Results dropped for lack of room. */
  readonly dropped: number;
}
