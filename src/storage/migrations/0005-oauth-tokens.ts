import { createIndex, createTable, type Migration } from '../migration.ts';

/** Codes and tokens issued by the gateway as an OAuth provider, looked up by digest. */
export const oauthTokens: Migration = {
  name: 'oauth tokens',
  async up(schema) {
    const issued = {
      org_id: 'text not null',
      api_id: 'text not null',
      client_id: 'text not null',
      digest: 'text not null unique',
      grant_id: 'text not null',
      created_at: 'number not null',
      expires_at: 'number not null',
      used_at: 'number not null',
      body: 'text not null',
    };
    await createTable(schema, 'oauth_tokens', {
      id: 'text primary key',
      ...issued,
      kind: 'text not null',
      owner: 'text not null',
      scope: 'text not null',
      sealed: 'text not null',
    });
    await createIndex(schema, 'oauth_tokens', 'client', 'api_id, client_id, kind, created_at desc, id desc');
    await createIndex(schema, 'oauth_tokens', 'grant', 'grant_id');
    await createIndex(schema, 'oauth_tokens', 'owner', 'owner, client_id');
    await createIndex(schema, 'oauth_tokens', 'expiry', 'expires_at');
    await createTable(schema, 'oauth_codes', { id: 'text primary key', ...issued });
    await createIndex(schema, 'oauth_codes', 'client', 'api_id, client_id');
    await createIndex(schema, 'oauth_codes', 'expiry', 'expires_at');
  },
};
