import type { Generated } from 'kysely';

/** Analytics tables; see `tables.ts`. Durations are microseconds, so that their sums are integers. */
export interface AnalyticsTables {
  usage: UsageRow;
  usage_latencies: LatencyRow;
  usage_tags: UsageTagRow;
  usage_losses: { minute: number; dropped: number };
  logs: {
    id: Generated<number>;
    org_id: string;
    api_id: string;
    key_hash: string;
    at: number;
    status: number;
    failed: number;
    /** Each between line breaks. */
    tags: string;
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
  /** 1 if the host is up after it. */
  up: number;
  url: string;
  status: number;
  latency_ms: number;
  /** Connection error; empty where a response came. */
  failure: string;
  /** 0: by the retention of the settings. */
  expires_at: number;
}

/** A host was first tested, went down, or came up. */
export interface UptimeChange extends UptimeResult {
  at: number;
}

/** Test rounds of one host in one hour, with the newest result. */
export interface UptimeHourRow extends UptimeResult {
  /** Start of the hour. */
  hour: number;
  api_name: string;
  /** Of the API, with its `org-` and `api-` tags, each between line breaks. */
  tags: string;
  rounds: number;
  /** Rounds after which the host was up. */
  rounds_up: number;
  tests: number;
  passed: number;
  /** Total duration of the passed tests. */
  passed_ms: number;
  first_at: number;
  last_at: number;
  /** Outcomes of the last rounds, one character each, in the order of time. */
  checks: string;
}

/** Requests of a row of `usage` in one bucket of the latency histogram. */
export interface LatencyRow {
  minute: number;
  /** Id of the row of `usage`. */
  id: string;
  bucket: number;
  hits: number;
  /** Expiry of the row of `usage`. */
  expires_at: number;
}

/** A tag of the requests of rows of `usage`. */
export interface UsageTagRow {
  /** `tag_set` of the rows. */
  tag_set: string;
  tag: string;
  org_id: string;
  /** Start of the last day with such a row, in UTC. */
  used_day: number;
}

/**
 * Requests of one minute with the same organisation, API, version, key, client, path, method, country, agent, status,
 * error code, JSON-RPC method and primitive, and tags.
 */
export interface UsageRow {
  /** Start of the minute. */
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
  method: string;
  /** ISO 3166-1; empty where unknown. */
  country: string;
  /** Product name without version. */
  user_agent: string;
  status: number;
  /** Error code of the gateway; empty where it proxied. */
  refusal: string;
  /** JSON-RPC method of a request to an MCP proxy; empty for other requests. */
  mcp_method: string;
  /** tool, resource or prompt; empty without one. */
  mcp_primitive_type: string;
  mcp_primitive_name: string;
  /** Digest of the tags; empty without any. */
  tag_set: string;
  hits: number;
  last_hit: number;
  total_us: number;
  min_us: number;
  max_us: number;
  /** Requests with an upstream response: the next three columns cover these alone. */
  upstream_hits: number;
  upstream_us: number;
  min_upstream_us: number;
  max_upstream_us: number;
  request_bytes: number;
  answer_bytes: number;
  /** 0: by the retention of the settings. */
  expires_at: number;
}
