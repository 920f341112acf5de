import type { Generated } from 'kysely';

/** Webhook deliveries and signing secrets; see `tables.ts`. */
export interface EventTables {
  deliveries: {
    id: Generated<number>;
    public_id: string;
    org_id: string;
    hook: string;
    api_id: string;
    event: string;
    state: string;
    attempts: number;
    status: number;
    created_at: number;
    updated_at: number;
    body: string;
  };
  delivery_lanes: { org_id: string; hook: string; due_at: number; lease_until: number; holder: string };
  delivery_marks: { mark: string; until: number };
  hook_secrets: { org_id: string; hook: string; sealed: string; previous: string; changed_at: number };
}
