import type { Generated } from 'kysely';
import type { AnalyticsTables } from './analytics-tables.ts';
import type { EventTables } from './event-tables.ts';
import type { HistoryTables } from './history-tables.ts';
import type { PortalTables } from './portal-tables.ts';
import type { SignInTables } from './sign-in-tables.ts';
import type { WorkspaceTables } from './workspace-tables.ts';

/**
 * Columns that are searched or sorted; the rest of a record is in `body`, as JSON. Times are milliseconds since the
 * epoch, booleans 0 or 1: the same on both engines.
 */
interface Record {
  id: string;
  org_id: string;
  created_at: number;
  body: string;
}

/** Token or code issued by the gateway, looked up by digest; `grant_id` groups everything that one consent led to. */
interface Issued extends Record {
  api_id: string;
  client_id: string;
  digest: string;
  grant_id: string;
  expires_at: number;
  used_at: number;
}

/** Samples of one day: of an organisation, or of the installation where `org_id` is empty. */
export interface DailyStatisticsRow {
  org_id: string;
  entity: string;
  /** `YYYY-MM-DD` in UTC. */
  day: string;
  /** Time of the last sample. */
  sampled_at: number;
  samples: number;
  /** Sum of all samples. */
  total: number;
  lowest: number;
  highest: number;
  active_total: number;
  active_lowest: number;
  active_highest: number;
}

export interface Tables
  extends PortalTables,
    AnalyticsTables,
    EventTables,
    SignInTables,
    WorkspaceTables,
    HistoryTables {
  meta: { name: string; value: string };
  /** Change log for gateways, by revision. An empty id means the whole topic. */
  changes: { revision: number; topic: string; id: string };
  organisations: { id: string; name: string; created_at: number; body: string };
  organisation_grants: { org_id: string; body: string };
  users: Record & { email: string; access_digest: string; active: number; group_id: string };
  user_groups: Record & { name: string };
  apis: Record & {
    api_id: string;
    kind: string;
    name: string;
    name_fold: string;
    domain: string;
    listen_path: string;
    updated_at: number;
    /** 1 where the definition is active. */
    active: Generated<number>;
  };
  api_categories: { org_id: string; category: string; api: string };
  api_owners: { org_id: string; api: string; kind: string; owner: string };
  /** Types of an API by which lists are filtered: `kind` is `auth_type` or `api_type`. */
  api_labels: { org_id: string; kind: string; label: string; api: string };
  /** Versions that an API lists, by public id; `api` is the database id of the base. */
  api_versions: { org_id: string; version: string; api: string };
  /** Templates; `asset_id` is the chosen id. */
  assets: Record & { asset_id: string; kind: string };
  policies: Record & {
    policy_id: string;
    name: string;
    name_fold: string;
    state: string;
    auth_type: string;
  };
  policy_apis: { org_id: string; api_id: string; policy: string };
  keys: Record & {
    digest: string;
    key_hash: string;
    kind: string;
    sealed: string;
    /** Unix time in seconds; 0 for never. */
    expires_at: Generated<number>;
    /** 1 where the key itself is inactive; policies, where it has any, decide instead. */
    inactive: Generated<number>;
  };
  key_apis: { org_id: string; api_id: string; key: string };
  key_policies: { org_id: string; policy_id: string; key: string };
  oauth_clients: Record & { api_id: string; client_id: string; policy_id: Generated<string> };
  oauth_tokens: Issued & { kind: string; owner: string; scope: string; sealed: string };
  oauth_codes: Issued;
  certificates: Record & { has_private: number; not_after: number };
  hooks: Record & { webhook_id: string; name: string };
  /** Heartbeats: one row per process. */
  nodes: { id: string; hostname: string; started_at: number; heartbeat_at: number; body: string };
  daily_statistics: DailyStatisticsRow;
  /** Persisted counters of each process. */
  counters: { node: string; name: string; started_at: number; ends_at: number | null; used: number };
  audit: {
    id: Generated<number>;
    org_id: string;
    at: number;
    actor: string;
    action: string;
    method: string;
    url: string;
    status: number;
    ip: string;
    body: string;
  };
}

export type TableName = keyof Tables & string;
