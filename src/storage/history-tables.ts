import type { Generated } from 'kysely';

/** Tables that make changes repeatable and reversible. */
export interface HistoryTables {
  /** Responses of creates by idempotency key; `digest` names caller and key, `caller` bounds the number of keys. */
  idempotent_responses: {
    digest: string;
    caller: string;
    /** Keyed hash of the request. */
    fingerprint: string;
    created_at: number;
    expires_at: number;
    /** Empty while the create is in progress. */
    sealed: string;
  };
  /** States of objects, one row for each change. */
  revisions: {
    id: Generated<number>;
    /** Table of the object. */
    kind: string;
    org_id: string;
    /** Database id of the object. */
    object_id: string;
    public_id: string;
    /** From 1, for each object. */
    revision: number;
    at: number;
    action: string;
    /** JSON of the author. */
    author: string;
    /** Row of the object, as stored; empty for a removal. */
    body: string;
    /** Length of `body`. */
    bytes: number;
  };
}
