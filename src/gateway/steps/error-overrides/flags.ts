/**
 * Error flags: short names of error classes, for rules that come from other gateways. A rule may also name a refusal
 * code, which is more specific.
 */
const flags: Readonly<Record<string, readonly string[]>> = {
  AMF: [
    'auth_field_missing',
    'basic_field_missing',
    'jwt_field_missing',
    'oauth_field_missing',
    'external_field_missing',
    'session_missing',
  ],
  AKI: ['key_not_found', 'key_inactive', 'basic_refused', 'hmac_refused', 'signature_invalid', 'oauth_client_revoked'],
  IHD: ['basic_malformed', 'basic_not_encoded', 'basic_values_malformed', 'oauth_malformed', 'length_invalid'],
  TKE: ['key_expired', 'jwt_expired', 'external_token_not_valid_now'],
  TKI: [
    'jwt_refused',
    'jwt_algorithm_unexpected',
    'jwt_before_issued',
    'jwt_not_yet_valid',
    'oidc_refused',
    'oauth_unknown',
    'external_refused',
    'external_inactive',
    'external_failed',
  ],
  TCV: [
    'jwt_no_identity',
    'jwt_empty_subject',
    'jwt_empty_identity',
    'jwt_policy_unknown',
    'jwt_policy_missing',
    'jwt_scope_unmatched',
    'jwt_no_policy_or_scope',
    'jwt_policy_not_applicable',
    'jwt_policies_not_applicable',
    'oidc_policy_unknown',
    'oidc_policy_not_applicable',
  ],
  CRQ: ['cert_required', 'mtls_without_tls', 'mtls_certificate_required'],
  CMM: ['cert_mismatch', 'cert_not_found', 'cert_expired', 'mtls_not_allowed'],
  EAD: ['api_not_granted', 'url_not_granted', 'endpoint_forbidden', 'address_refused', 'organisation_inactive'],
  RLT: ['rate_exceeded', 'api_rate_exceeded', 'organisation_rate_exceeded'],
  QEX: ['quota_exceeded', 'organisation_quota_exceeded'],
  BTL: ['body_too_large', 'request_too_large'],
  CLM: ['length_required'],
  BIV: ['json_unreadable', 'json_invalid', 'request_invalid'],
  CBO: ['circuit_breaker_open'],
  NHU: ['upstream_hosts_down'],
  URT: ['upstream_timeout'],
  DNS: ['upstream_dns_failed'],
  UCF: ['upstream_failed', 'upstream_address_refused'],
  UPE: ['response_too_large'],
  CDC: ['client_disconnected'],
};

const byCode = new Map(Object.entries(flags).flatMap(([flag, codes]) => codes.map(code => [code, flag] as const)));

export const findFlag = (code: string): string => byCode.get(code) ?? '';

/** Any upstream error. */
export const upstreamFlag = 'URS';
