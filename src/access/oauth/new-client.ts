import { formatIsoTime } from '#base/clock.ts';
import { createDatabaseId, createPublicId, createSecretText } from '#base/ids.ts';
import type { OauthClientWrite, StoredClient } from './schema.ts';

/** Builds a new client; generates the id and secret that were not sent. */
export function newClient(sent: OauthClientWrite, apiId: string, orgId: string, nowMs: number): StoredClient {
  return {
    ...sent,
    api_id: apiId,
    client_id: sent.client_id || createPublicId(),
    description: sent.description ?? '',
    meta_data: sent.meta_data ?? null,
    policy_id: sent.policy_id ?? '',
    redirect_uri: sent.redirect_uri ?? '',
    secret: sent.secret || createSecretText(),
    client_name: sent.client_name ?? '',
    id: createDatabaseId(nowMs),
    org_id: orgId,
    created_at: formatIsoTime(nowMs),
  };
}
