import { createIndex, createTable, type Migration } from '../migration.ts';

/** Responses that a repeated create gets again. */
export const idempotentResponses: Migration = {
  name: 'idempotent-responses',
  async up(schema) {
    await createTable(schema, 'idempotent_responses', {
      digest: 'text primary key',
      caller: 'text not null',
      fingerprint: 'text not null',
      created_at: 'number not null',
      expires_at: 'number not null',
      sealed: 'text not null',
    });
    await createIndex(schema, 'idempotent_responses', 'caller', 'caller, created_at');
    await createIndex(schema, 'idempotent_responses', 'expiry', 'expires_at');
  },
};
