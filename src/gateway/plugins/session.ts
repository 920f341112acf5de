import type { KeyLimits, Session } from '#access/keys/session.ts';
import type { Exchange } from '../pipeline/exchange.ts';

/** Encoded members of sessions that requests do not change. A session is immutable: a changed key has another. */
const encodedMembers = new WeakMap<Session, string>();
/** Longer texts are encoded for each request. */
const maxCachedLength = 4096;

/** Session as scripts see it: members of a key with its policies applied, without its secrets. */
export function encodeSession({ session, keyId, quota }: Exchange): string {
  if (!session) return '';
  const used = JSON.stringify({
    key_id: keyId,
    quota_remaining: quota?.remaining ?? session.limits.quota?.max ?? 0,
    quota_renews: quota ? Math.floor(quota.resetsAtMs / 1000) : 0,
  });
  // Both are objects with members.
  return `${encodeMembers(session).slice(0, -1)},${used.slice(1)}`;
}

function encodeMembers(session: Session): string {
  const known = encodedMembers.get(session);
  if (known !== undefined) return known;
  const text = JSON.stringify({
    org_id: session.orgId,
    alias: session.alias,
    apply_policies: session.policyIds,
    tags: session.tags,
    meta_data: session.metaData,
    expires: session.expires ?? 0,
    is_inactive: session.inactive,
    oauth_client_id: session.oauthClientId ?? '',
    ...toLimitMembers(session.limits),
    access_rights: Object.fromEntries([...session.rights].map(([apiId, { written }]) => [apiId, written])),
    certificate: session.certificate ?? '',
    hmac_enabled: session.hmacSecret !== undefined,
    enable_detailed_recording: session.detailedRecording,
    id_extractor_deadline: session.pluginDeadline,
    last_updated: session.lastUpdated,
    monitor: { trigger_limits: session.quotaAlertPercents },
    session_lifetime: session.lifetimeSeconds ?? 0,
  });
  if (text.length <= maxCachedLength) encodedMembers.set(session, text);
  return text;
}

const toLimitMembers = ({ rate, throttle, quota, queryDepth }: KeyLimits) => ({
  rate: rate?.rate ?? 0,
  per: rate?.perSeconds ?? 0,
  allowance: rate?.rate ?? 0,
  throttle_interval: throttle?.intervalSeconds ?? 0,
  throttle_retry_limit: throttle?.retries ?? 0,
  quota_max: quota?.max ?? 0,
  quota_renewal_rate: quota?.renewalSeconds ?? 0,
  max_query_depth: queryDepth ?? 0,
});
