import { isoTime } from '#base/clock.ts';
import { databaseId, publicId, secretText } from '#base/ids.ts';
import type { OauthClientWrite, StoredClient } from './schema.ts';

/** A client nobody has yet. An id and a secret that are not sent are made. */
export function newClient(sent: OauthClientWrite, apiId: string, orgId: string, nowMs: number): StoredClient {
  return {
    ...sent,
    api_id: apiId,
    client_id: sent.client_id || publicId(),
    description: sent.description ?? '',
    meta_data: sent.meta_data ?? null,
    policy_id: sent.policy_id ?? '',
    redirect_uri: sent.redirect_uri ?? '',
    secret: sent.secret || secretText(),
    client_name: sent.client_name ?? '',
    id: databaseId(nowMs),
    org_id: orgId,
    created_at: isoTime(nowMs),
  };
}
