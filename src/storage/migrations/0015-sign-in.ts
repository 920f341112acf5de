import { createIndex, createTable, type Migration } from '../migration.ts';

/** Browser sessions, one-time tokens and second factors of dashboard users. */
export const signInSchema: Migration = {
  name: 'sign-in',
  async up(schema) {
    const owned = { org_id: 'text not null', user_id: 'text not null', created_at: 'number not null' };
    await createTable(schema, 'sessions', {
      id: 'text primary key',
      ...owned,
      digest: 'text not null unique',
      seen_at: 'number not null',
      expires_at: 'number not null',
      address: 'text not null',
      user_agent: 'text not null',
    });
    await createIndex(schema, 'sessions', 'user', 'user_id, created_at');
    await createIndex(schema, 'sessions', 'expiry', 'expires_at');
    await createTable(schema, 'sign_in_tokens', {
      digest: 'text primary key',
      purpose: 'text not null',
      ...owned,
      expires_at: 'number not null',
      body: 'text not null',
    });
    await createIndex(schema, 'sign_in_tokens', 'user', 'user_id, purpose');
    await createIndex(schema, 'sign_in_tokens', 'expiry', 'expires_at');
    await createTable(
      schema,
      'user_factors',
      {
        id: 'text primary key',
        ...owned,
        kind: 'text not null',
        reference: 'text not null',
        used_at: 'number not null',
        body: 'text not null',
      },
      'unique (kind, reference)',
    );
    await createIndex(schema, 'user_factors', 'user', 'user_id, kind');
    /** A sign-in names no organisation. */
    await createIndex(schema, 'users', 'address', 'email');
  },
};
