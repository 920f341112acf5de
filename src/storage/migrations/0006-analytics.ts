import { createIndex, createTable, type Migration, type Schema } from '../migration.ts';

/** Partial index over the few rows that have a value. */
const partialIndex = (schema: Schema, table: string, name: string, columns: string, where: string) =>
  schema.run(`create index ${table}_${name} on ${table} (${columns}) where ${where}`);

/** Analytics: usage by the minute, single request logs, and counts of dropped records. */
export const analytics: Migration = {
  name: 'analytics',
  async up(schema) {
    await createTable(
      schema,
      'usage',
      {
        minute: 'number not null',
        /** Digest of every dimension of a row. */
        id: 'text not null',
        org_id: 'text not null',
        api_id: 'text not null',
        api_name: 'text not null',
        version: 'text not null',
        key_hash: 'text not null',
        alias: 'text not null',
        oauth_id: 'text not null',
        path: 'text not null',
        status: 'number not null',
        refusal: 'text not null',
        hits: 'number not null',
        last_hit: 'number not null',
        total_us: 'number not null',
        min_us: 'number not null',
        max_us: 'number not null',
        upstream_hits: 'number not null',
        upstream_us: 'number not null',
        min_upstream_us: 'number not null',
        max_upstream_us: 'number not null',
        request_bytes: 'number not null',
        answer_bytes: 'number not null',
        expires_at: 'number not null',
      },
      'primary key (minute, id)',
    );
    await createIndex(schema, 'usage', 'organisation', 'org_id, minute');
    await createIndex(schema, 'usage', 'api', 'org_id, api_id, minute');
    await createIndex(schema, 'usage', 'key', 'org_id, key_hash, minute');
    await partialIndex(schema, 'usage', 'oauth', 'org_id, oauth_id, minute', "oauth_id <> ''");
    await partialIndex(schema, 'usage', 'expiry', 'expires_at', 'expires_at > 0');

    await createTable(schema, 'usage_losses', { minute: 'number primary key', dropped: 'number not null' });

    await createTable(schema, 'logs', {
      id: 'serial',
      org_id: 'text not null',
      api_id: 'text not null',
      key_hash: 'text not null',
      at: 'number not null',
      status: 'number not null',
      failed: 'truth not null',
      expires_at: 'number not null',
      body: 'text not null',
    });
    await createIndex(schema, 'logs', 'newest', 'org_id, at desc, id desc');
    await createIndex(schema, 'logs', 'api', 'org_id, api_id, at desc, id desc');
    await createIndex(schema, 'logs', 'key', 'org_id, key_hash, at desc, id desc');
    await partialIndex(schema, 'logs', 'failures', 'org_id, at desc, id desc', 'failed = 1');
    await partialIndex(schema, 'logs', 'expiry', 'expires_at', 'expires_at > 0');
    await createIndex(schema, 'logs', 'age', 'at');
  },
};
