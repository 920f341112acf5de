import type { Generated } from 'kysely';

/** What traffic did; see `tables.ts`. Durations are microseconds, so that their sums are whole numbers. */
export interface AnalyticsTables {
  usage: UsageRow;
  usage_losses: { minute: number; dropped: number };
  logs: {
    id: Generated<number>;
    org_id: string;
    api_id: string;
    key_hash: string;
    at: number;
    status: number;
    failed: number;
    expires_at: number;
    body: string;
  };
  uptime_hours: UptimeHourRow;
  uptime_changes: UptimeChange & { id: Generated<number> };
}

/** One result of tests of an upstream host. */
interface UptimeResult {
  org_id: string;
  api_id: string;
  host: string;
  /** Whether the host counts as up after it. */
  up: number;
  url: string;
  status: number;
  latency_ms: number;
  /** Why there was no answer; empty where there was one. */
  failure: string;
  /** 0: when the settings say. */
  expires_at: number;
}

/** The moment a host was first seen, went, or came back. */
export interface UptimeChange extends UptimeResult {
  at: number;
}

/** The rounds of tests of one host in one hour, with the newest result. */
export interface UptimeHourRow extends UptimeResult {
  /** When the hour begins. */
  hour: number;
  api_name: string;
  rounds: number;
  /** Those after which the host counted as up. */
  rounds_up: number;
  tests: number;
  passed: number;
  /** What the tests that passed took together. */
  passed_ms: number;
  first_at: number;
  last_at: number;
}

/** The calls of one minute that have the same organisation, API, version, key, client, path, status and refusal. */
export interface UsageRow {
  /** When the minute begins. */
  minute: number;
  id: string;
  org_id: string;
  api_id: string;
  api_name: string;
  version: string;
  key_hash: string;
  alias: string;
  oauth_id: string;
  path: string;
  status: number;
  /** Why the gateway said no; empty where it did not. */
  refusal: string;
  hits: number;
  last_hit: number;
  total_us: number;
  min_us: number;
  max_us: number;
  /** Those that were answered by an upstream: the next three are about them alone. */
  upstream_hits: number;
  upstream_us: number;
  min_upstream_us: number;
  max_upstream_us: number;
  request_bytes: number;
  answer_bytes: number;
  /** 0: when the settings say. */
  expires_at: number;
}
