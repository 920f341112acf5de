import { z } from 'zod';
import { zeroTime } from '#base/clock.ts';
import { legacyMembers } from '#base/members.ts';
import {
  type FullObject,
  fillZeros,
  nullableList,
  nullableMap,
  nullableObject,
  wireFlag,
  wireInt,
  wireMember,
  wireNumber,
  wireObject,
  wireText,
} from './schema-fields.ts';
import { KeyAccessRight, noSmoothing, rightsWarnings, Smoothing, smoothingWarnings } from './schema-rights.ts';

export * from './schema-rights.ts';

/** Members of every response, in wire order. */
const keyMembers = {
  access_rights: wireMember(
    nullableMap(KeyAccessRight),
    {},
    'What the key may call, by API id. Empty means every API, where the settings allow that.',
  ),
  alias: wireMember(wireText, '', 'A label for people; copied to analytics and logs.'),
  allowance: wireMember(wireNumber, 0, 'Kept for clients that set it equal to the rate; limits do not read it.'),
  apply_policies: wireMember(nullableList(wireText), [], 'Ids of the policies that govern the key, in order.'),
  apply_policy_id: wireMember(wireText, '', 'One policy id, read only when apply_policies is empty. Deprecated.'),
  basic_auth_data: wireMember(
    nullableObject({ hash_type: wireText, password: wireText, user: wireText }),
    { hash_type: '', password: '', user: '' },
    'Password of a basic-auth user: sent in clear, kept hashed, never shown.',
  ),
  certificate: wireMember(wireText, '', 'Id of the client certificate the key is bound to.'),
  data_expires: wireMember(wireInt, 0, 'On organisation keys: seconds analytics are kept.'),
  date_created: wireMember(wireText, zeroTime, 'When the key was made; set by the server.'),
  enable_detailed_recording: wireMember(wireFlag, false, 'Records whole requests and responses of this key.'),
  expires: wireMember(wireInt, 0, 'Unix time after which the key is refused; 0 or less is never.'),
  hmac_enabled: wireMember(wireFlag, false, 'Lets the key sign requests with hmac_string.'),
  hmac_string: wireMember(wireText, '', 'Shared secret of signed requests.'),
  id_extractor_deadline: wireMember(
    wireInt,
    0,
    'Unix time until which a custom plugin need not check the caller again.',
  ),
  is_inactive: wireMember(wireFlag, false, 'Refuses the key. Policies, where there are any, decide instead.'),
  jwt_data: wireMember(
    nullableObject({ secret: wireText }),
    { secret: '' },
    'Secret or public key that verifies the tokens of this key.',
  ),
  key_id: wireMember(wireText, '', 'The id of the key; set by the server.'),
  last_check: wireMember(wireInt, 0, 'Kept for old clients.'),
  last_updated: wireMember(wireText, '0', 'Unix time of the last change, as text; set by the server.'),
  max_query_depth: wireMember(wireInt, 0, 'Deepest GraphQL query allowed; 0 or less is any.'),
  meta_data: wireMember(z.unknown(), {}, 'Free data, readable in templates; policies add theirs.'),
  monitor: wireMember(
    nullableObject({ trigger_limits: nullableList(wireNumber) }),
    { trigger_limits: [] },
    'Percentages of quota use that raise an event, highest first.',
  ),
  oauth_client_id: wireMember(wireText, '', 'OAuth client that obtained the token.'),
  oauth_keys: wireMember(nullableMap(wireText), {}, 'Current token of a basic-auth user, by OAuth client id.'),
  org_id: wireMember(wireText, '', 'Organisation that owns the key.'),
  per: wireMember(wireNumber, 0, 'Seconds of the rate window.'),
  quota_max: wireMember(wireInt, 0, 'Requests per quota period; 0 or less is any number.'),
  quota_remaining: wireMember(wireInt, 0, 'Requests left in this period; counted by the server.'),
  quota_renewal_rate: wireMember(wireInt, 0, 'Seconds of the quota period; 0 or less never renews.'),
  quota_renews: wireMember(wireInt, 0, 'Unix time of the next renewal; kept by the server.'),
  rate: wireMember(wireNumber, 0, 'Requests allowed in each rate window; 0 or less is any number.'),
  session_lifetime: wireMember(wireInt, 0, 'Seconds the record is kept; 0 leaves that to the API.'),
  smoothing: wireMember(
    Smoothing.nullable(),
    noSmoothing,
    'Moves the rate in steps between a threshold and its maximum.',
  ),
  tags: wireMember(nullableList(wireText), [], 'Tags added to the analytics of this key.'),
  throttle_interval: wireMember(wireNumber, 0, 'Seconds between two tries of a request held back.'),
  throttle_retry_limit: wireMember(wireInt, 0, 'Tries of a request held back; 0 or less refuses at once.'),
};

/** Members present only where set. */
const optionalMembers = {
  enable_detail_recording: wireMember(wireFlag, false, 'Old spelling of enable_detailed_recording.'),
  enable_http_signature_validation: wireMember(wireFlag, false, 'Lets the key sign requests with a certificate.'),
  rsa_certificate_id: wireMember(wireText, '', 'Certificate that verifies the signatures of this key.'),
  mtls_static_certificate_bindings: wireMember(
    nullableList(wireText),
    [],
    'Client certificates that may present this key.',
  ),
  post_expiry_action: wireMember(
    z.enum(['', 'retain', 'delete']),
    '',
    'What becomes of the record once the key expired.',
  ),
  post_expiry_grace_period: wireMember(wireInt, 0, 'Seconds an expired record is retained; -1 is for ever.'),
};

/** A key as callers send it: everything may be left out. */
export const Key = legacyMembers(wireObject({ ...keyMembers, ...optionalMembers }), [
  'quota_reset',
  'quota_used',
  'access_rights_array',
]);
export type Key = z.infer<typeof Key>;

/** A key in responses. */
export type FullKey = FullObject<typeof keyMembers>;

/** Every documented member, with its zero value where unset; never the password. */
export function fullKey(key: Key): FullKey {
  const full = fillZeros(keyMembers, key);
  const zero = keyMembers.basic_auth_data.zero as object;
  full.basic_auth_data = { ...zero, ...full.basic_auth_data, password: '' };
  full.jwt_data = { secret: '', ...full.jwt_data };
  full.monitor = { ...full.monitor, trigger_limits: full.monitor.trigger_limits ?? [] };
  return full;
}

/** Accepted settings that have no effect. */
export function keyWarnings(key: Key): string[] {
  return [...smoothingWarnings(key), ...rightsWarnings(key.access_rights)];
}

/** A key with its id and hash, as returned by create and list operations. */
export const KeyEnvelope = z.looseObject({
  api_model: z.looseObject({}),
  data: Key,
  key_hash: wireText,
  key_id: wireText,
});
export type KeyEnvelope = z.infer<typeof KeyEnvelope>;

const valueSource = z.object({
  kind: z.enum(['key', 'policy']),
  id: z.string().describe('Id of the policy; empty for the key'),
});

/** A previewed key with the origin of its effective values. */
export const ExplainedKeyEnvelope = KeyEnvelope.extend({
  explanation: z
    .object({
      values: z
        .array(
          z.object({
            pointer: z.string().describe('JSON pointer of the value in `data`'),
            value: z.unknown(),
            sources: z
              .array(valueSource)
              .readonly()
              .describe('Origins of the value; empty where policies set it for single APIs only'),
            overridden: z
              .array(valueSource.extend({ value: z.unknown() }))
              .readonly()
              .describe('Values of others that do not apply'),
          }),
        )
        .readonly(),
      is_complete: z.boolean().describe('False where a bound left values out'),
    })
    .optional()
    .describe('Only with explain=1. Members that are not listed are those of the key'),
});

/** The body of a write: a key, or the envelope that reads return around it. */
export const keyBody = { body: Key, envelope: { body: 'data', beside: ['api_model', 'key_hash', 'key_id'] } } as const;

export function keyEnvelope(key: Key, keyId: string, keyHash: string) {
  return { api_model: {}, data: fullKey({ ...key, key_id: keyId }), key_hash: keyHash, key_id: keyId };
}
