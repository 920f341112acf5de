/**
 * Error catalogue of the gateway. The messages are a contract: clients match on them. The codes are stable; analytics
 * records and docs/reference/refusals.md have them.
 */
export interface Refusal {
  readonly status: number;
  readonly message: string;
  /** Event emitted beside the response. */
  readonly event?: string;
  readonly about: string;
}

export const refusalsTable = {
  session_missing: {
    status: 400,
    message: 'Session state is missing or unset! Please make sure that auth headers are properly applied',
    about: 'No authentication method set a session.',
  },
  auth_field_missing: {
    status: 401,
    message: 'Authorization field missing',
    about: 'No key was sent.',
  },
  key_not_found: {
    status: 403,
    message: 'Access to this API has been disallowed',
    event: 'AuthFailure',
    about: 'The key is unknown, too short, or cannot be used.',
  },
  cert_required: {
    status: 401,
    message: 'Client certificate required',
    about: 'The API knows callers by their certificate, and none was shown.',
  },
  cert_expired: {
    status: 403,
    message: 'Certificate has expired',
    about: 'The client certificate is no longer valid.',
  },
  cert_mismatch: {
    status: 401,
    message: 'Access to this API has been disallowed',
    event: 'AuthFailure',
    about: 'No key goes with the certificate, or the key is bound to another one.',
  },
  cert_not_found: {
    status: 403,
    message: 'Access to this API has been disallowed',
    event: 'AuthFailure',
    about: 'The client certificate is not in the store.',
  },
  signature_invalid: {
    status: 401,
    message: 'Request signature verification failed',
    about: 'The signature beside the key is missing or wrong; a definition may choose status and words.',
  },
  signature_algorithm_unknown: {
    status: 500,
    message: 'internal server error',
    about: 'The definition names a signature algorithm that does not exist.',
  },
  basic_field_missing: {
    status: 401,
    message: 'Authorization field missing',
    about: 'No user name and password were sent.',
  },
  basic_malformed: {
    status: 400,
    message: 'Attempted access with malformed header, header not in basic auth format',
    about: 'The header is not of the form `Basic …`.',
  },
  basic_not_encoded: {
    status: 400,
    message: 'Attempted access with malformed header, auth data not encoded correctly',
    about: 'What follows `Basic` is not base64.',
  },
  basic_values_malformed: {
    status: 400,
    message: 'Attempted access with malformed header, values not in basic auth format',
    about: 'There is no colon between user name and password.',
  },
  body_user_missing: {
    status: 400,
    message: 'Body do not contain username',
    about: 'The expression for the user name finds nothing in the body.',
  },
  body_user_group_missing: {
    status: 400,
    message: 'username should be inside regexp match group',
    about: 'The expression for the user name has no group.',
  },
  body_password_missing: {
    status: 400,
    message: 'Body do not contain password',
    about: 'The expression for the password finds nothing in the body.',
  },
  body_password_group_missing: {
    status: 400,
    message: 'password should be inside regexp match group',
    about: 'The expression for the password has no group.',
  },
  basic_refused: {
    status: 401,
    message: 'User not authorised',
    event: 'AuthFailure',
    about: 'The user is unknown or the password wrong.',
  },
  basic_limited: {
    status: 429,
    message: 'Too many wrong passwords, try again later',
    event: 'AuthFailure',
    about:
      'The address has sent too many wrong passwords for the user, or for many users; passwords are not checked for a while.',
  },
  hmac_refused: {
    status: 400,
    message: 'Authorization field missing, malformed or invalid',
    event: 'AuthFailure',
    about: 'The signature is missing, malformed, too old, of an algorithm that is not allowed, or wrong.',
  },
  signature_certificate_missing: {
    status: 500,
    message: 'Certificate not found',
    about: 'The certificate that verifies the signatures of the key is not in the store.',
  },
  signature_certificate_not_rsa: {
    status: 500,
    message: "Certificate doesn't contain RSA Public key",
    about: 'The certificate that verifies the signatures of the key is of another kind.',
  },
  jwt_field_missing: {
    status: 400,
    message: 'Authorization field missing',
    event: 'AuthFailure',
    about: 'No JSON Web Token was sent.',
  },
  jwt_refused: {
    status: 403,
    message: 'Key not authorized',
    event: 'AuthFailure',
    about: 'The token is malformed, signed by an unknown key or somebody else, or says what the API does not accept.',
  },
  jwt_algorithm_unexpected: {
    status: 403,
    message: 'Key not authorized: Unexpected signing method',
    event: 'AuthFailure',
    about: 'The token is signed in another way than the definition asks for.',
  },
  jwt_expired: {
    status: 401,
    message: 'Key not authorized: token has expired',
    about: 'The end of the token has passed.',
  },
  jwt_before_issued: {
    status: 401,
    message: 'Key not authorized: token used before issued',
    about: 'The token says it was issued in the future.',
  },
  jwt_not_yet_valid: {
    status: 401,
    message: 'Key not authorized: token is not valid yet',
    about: 'The token is for later.',
  },
  jwt_no_identity: {
    status: 403,
    message: 'no suitable claims for user ID were found',
    event: 'AuthFailure',
    about: 'No claim of the token names the caller.',
  },
  jwt_empty_subject: {
    status: 403,
    message: 'found an empty user ID in sub claim',
    event: 'AuthFailure',
    about: 'The subject of the token is empty.',
  },
  jwt_empty_identity: {
    status: 403,
    message: 'found an empty user ID in predefined base claim, claim: {claim}',
    event: 'AuthFailure',
    about: 'The claim that should name the caller is empty.',
  },
  jwt_policy_unknown: {
    status: 403,
    message: 'key not authorized: no matching policy',
    event: 'AuthFailure',
    about: 'The token names a policy that does not exist or grants nothing.',
  },
  jwt_policy_missing: {
    status: 403,
    message: 'key not authorized: no matching policy found',
    event: 'AuthFailure',
    about: 'The token names no policy and the API has no default.',
  },
  jwt_scope_unmatched: {
    status: 403,
    message: 'key not authorized: no matching policy found in scope claim',
    event: 'AuthFailure',
    about: 'None of the token’s scopes gives a policy, and there is no other.',
  },
  jwt_no_policy_or_scope: {
    status: 403,
    message: 'key not authorized: no scope or policy in token',
    event: 'AuthFailure',
    about: 'The token has neither scopes nor a policy, and the API has no default.',
  },
  jwt_policy_not_applicable: {
    status: 403,
    message: 'key not authorized: could not apply new policy',
    event: 'AuthFailure',
    about: 'The policy of the token cannot be applied to the key kept for its caller.',
  },
  jwt_policies_not_applicable: {
    status: 403,
    message: 'key not authorized: could not apply several policies',
    event: 'AuthFailure',
    about: 'The policies of the token cannot stand together.',
  },
  oidc_refused: {
    status: 401,
    message: 'Key not authorised',
    event: 'AuthFailure',
    about: 'The ID token is missing, wrong, or of an unknown issuer or client.',
  },
  oidc_policy_unknown: {
    status: 403,
    message: 'Key not authorized: no matching policy',
    event: 'AuthFailure',
    about: 'The policy of the client does not exist.',
  },
  oidc_policy_not_applicable: {
    status: 403,
    message: 'Key not authorized: could not apply new policy',
    about: 'The policy of the client cannot be applied.',
  },
  external_field_missing: {
    status: 400,
    message: 'authorization field missing',
    about: 'No access token of the other server was sent.',
  },
  external_no_provider: {
    status: 404,
    message: 'there should be at least one provider configured',
    about: 'The definition names no server that issues tokens.',
  },
  external_no_method: {
    status: 500,
    message: 'access token validation method is not specified',
    about: 'The definition says not how tokens are checked.',
  },
  external_refused: {
    status: 401,
    message: 'token verification failed: {reason}',
    about: 'The access token is malformed or not signed by the server trusted.',
  },
  external_token_not_valid_now: {
    status: 401,
    message: 'key not authorized: {reason}',
    about: 'This is not the time to use the access token.',
  },
  external_inactive: {
    status: 401,
    message: 'access token is not valid',
    about: 'The server that issued the access token no longer stands by it.',
  },
  external_failed: {
    status: 500,
    message: 'error happened during the access token validation',
    about: 'The authorisation server could not be reached, or its response has no subject.',
  },
  oauth_field_missing: {
    status: 400,
    message: 'Authorization field missing',
    about: 'No access token was sent.',
  },
  oauth_malformed: {
    status: 400,
    message: 'Bearer token malformed',
    about: 'The credential is not of the form `Bearer …`.',
  },
  oauth_unknown: {
    status: 403,
    message: 'Key not authorised',
    event: 'AuthFailure',
    about: 'The access token is unknown, revoked or expired.',
  },
  oauth_client_revoked: {
    status: 403,
    message: 'Key not authorised. OAuth client access was revoked',
    about: 'The client that obtained the access token is gone.',
  },
  security_scheme_unconfigured: {
    status: 500,
    message: 'security scheme {name} is not configured',
    about: 'The last of several requirements names a scheme that the definition does not switch on.',
  },
  bearer_missing: {
    status: 401,
    message: 'Authorization field missing',
    about: 'Scopes are asked for, or tokens exchanged, and no bearer token was sent.',
  },
  bearer_unverified: {
    status: 401,
    message: 'The bearer token was not verified',
    about: 'The bearer token is not the one by which the caller was let in.',
  },
  scope_insufficient: {
    status: 403,
    message: 'insufficient_scope',
    event: 'OAuth2ScopeCheckFailed',
    about: 'The token lacks scopes that the document asks for. Said as `{"error","error_description","scope"}`.',
  },
  exchange_issuer_unknown: {
    status: 403,
    message: 'Tokens of this issuer cannot be exchanged',
    event: 'OAuth2ExchangeFailed',
    about: 'No provider takes tokens of the issuer.',
  },
  exchange_refused: {
    status: 403,
    message: 'The token was not exchanged',
    event: 'OAuth2ExchangeFailed',
    about: 'The provider did not exchange the token of the client for one for the upstream.',
  },
  exchange_failed: {
    status: 502,
    message: 'Token exchange failed',
    event: 'OAuth2ExchangeFailed',
    about: 'The provider does not answer, not in time, or not as it should.',
  },
  mtls_without_tls: {
    status: 403,
    message: 'TLS not enabled',
    about: 'The API asks for client certificates, and the call did not come over TLS.',
  },
  mtls_certificate_required: {
    status: 403,
    message: 'Client TLS certificate is required',
    about: 'The API asks for client certificates, and none was shown.',
  },
  mtls_not_allowed: {
    status: 403,
    message: 'Certificate with SHA256 {hash} not allowed',
    about: 'The certificate is neither listed nor signed by a listed authority.',
  },
  request_misdirected: {
    status: 421,
    message: 'Misdirected Request',
    about: 'The connection was made to another host than the call is for.',
  },
  key_inactive: {
    status: 403,
    message: 'Key is inactive, please renew',
    event: 'KeyExpired',
    about: 'The key, or one of its policies, is switched off.',
  },
  key_expired: {
    status: 401,
    message: 'Key has expired, please renew',
    event: 'KeyExpired',
    about: 'The expiry of the key has passed.',
  },
  api_not_granted: {
    status: 403,
    message: 'Access to this API has been disallowed',
    about: 'The key has no right to this API or version.',
  },
  url_not_granted: {
    status: 403,
    message: 'Access to this resource has been disallowed',
    about: 'The key has rights to other endpoints or methods only.',
  },
  address_refused: {
    status: 403,
    message: 'access from this IP has been disallowed',
    event: 'AuthFailure',
    about: 'An IP list keeps the caller out.',
  },
  rate_exceeded: {
    status: 429,
    message: 'Rate Limit Exceeded',
    event: 'RatelimitExceeded',
    about: 'The key has used up its rate, or that of the endpoint.',
  },
  quota_exceeded: {
    status: 403,
    message: 'Quota exceeded',
    event: 'QuotaExceeded',
    about: 'The key has used up its quota.',
  },
  api_rate_exceeded: {
    status: 429,
    message: 'API Rate Limit Exceeded',
    event: 'RatelimitExceeded',
    about: 'All callers together have used up the rate of the API or the endpoint.',
  },
  organisation_rate_exceeded: {
    status: 403,
    message: 'This organisation rate limit has been exceeded, please contact your API administrator',
    event: 'OrgRateLimitExceeded',
    about: 'All calls to APIs of the organisation together have used up its rate.',
  },
  organisation_quota_exceeded: {
    status: 403,
    message: 'This organisation quota has been exceeded, please contact your API administrator',
    event: 'OrgQuotaExceeded',
    about: 'All calls to APIs of the organisation together have used up its quota.',
  },
  organisation_inactive: {
    status: 403,
    message: 'this organisation access has been disabled, please contact your API administrator',
    about: 'The key of the organisation’s limits is switched off.',
  },
  route_unknown: {
    status: 404,
    message: 'Not Found',
    about: 'No API listens at the path. Said in plain text.',
  },
  api_unavailable: {
    status: 503,
    message: 'This API is not available',
    about:
      'The definition needs something that is missing; the log, the status of the API and an explanation say what.',
  },
  api_expired: {
    status: 403,
    message: 'API has expired, please check documentation or contact administrator',
    event: 'VersionFailure',
    about: 'The expiration of the API has passed.',
  },
  version_missing: {
    status: 403,
    message: 'Version information not found',
    event: 'VersionFailure',
    about: 'The call names no version and there is no default.',
  },
  version_unknown: {
    status: 403,
    message: 'This API version does not seem to exist',
    event: 'VersionFailure',
    about: 'The definition has no such version.',
  },
  version_api_unknown: {
    status: 404,
    message: 'This API version does not seem to exist',
    about: 'No API serves this version.',
  },
  version_default_unavailable: {
    status: 500,
    message: 'Internal Server Error',
    about: 'The default version names an API that is not served.',
  },
  version_ambiguous: {
    status: 403,
    message: 'Ambiguous default API version for this non-versioned API',
    event: 'VersionFailure',
    about: 'Several versions could be the default.',
  },
  version_no_default: {
    status: 403,
    message: 'No default API version for this non-versioned API found',
    event: 'VersionFailure',
    about: 'None of the versions is the default.',
  },
  version_expired: {
    status: 403,
    message: 'Api Version has expired, please check documentation or contact administrator',
    event: 'VersionFailure',
    about: 'The version’s expiry has passed.',
  },
  endpoint_forbidden: {
    status: 403,
    message: 'Requested endpoint is forbidden',
    event: 'VersionFailure',
    about: 'A block or allow list keeps the endpoint closed.',
  },
  batch_malformed: {
    status: 400,
    message: 'Batch request malformed',
    about: 'Several calls in one request could not be read. Said as `{"status":"error","message":…}`.',
  },
  batch_nested: {
    status: 400,
    message: 'A batch request cannot hold another one',
    about: 'One of several calls in one request is itself such a request, or a gw:// target leads to one.',
  },
  batch_too_long: {
    status: 400,
    message: 'A batch request holds at most {limit} requests',
    about: 'More calls in one request than `gateway.max_batch_requests`.',
  },
  path_ambiguous: {
    status: 400,
    message: 'The path can be read in two ways',
    about:
      'The path has `;` in it, and rules differ on it with and without what follows. See `gateway.path_parameters`.',
  },
  length_required: {
    status: 411,
    message: 'Content length is required for this request',
    about: 'The endpoint limits the size of bodies, and the call does not say how large its body is.',
  },
  length_invalid: {
    status: 400,
    message: 'content length is not a valid Integer',
    about: 'The call says in no number how large its body is.',
  },
  request_too_large: {
    status: 400,
    message: 'Request is too large',
    about: 'The body is larger than the definition allows, for the API or for the endpoint.',
  },
  json_unreadable: {
    status: 400,
    message: 'JSON parsing error: {detail}',
    about: 'The endpoint checks bodies against a schema, and the body is not JSON.',
  },
  json_invalid: {
    status: 422,
    message: '{detail}',
    about: 'The body does not match the schema of the endpoint; lists every error. A definition may choose the status.',
  },
  schema_missing: {
    status: 500,
    message: 'no schemas to validate against',
    about: 'The endpoint checks bodies against a schema, and the definition has none.',
  },
  request_invalid: {
    status: 422,
    message: 'request validation error: {detail}',
    about: 'The request does not match the OpenAPI document; lists every error. A definition may choose the status.',
  },
  mock_code_invalid: {
    status: 400,
    message: 'mock: the example code is not a number',
    about: 'X-Gw-Accept-Example-Code of a call to a mock holds no status.',
  },
  mock_unknown: {
    status: 404,
    message: 'mock: there is no example response for the {what}',
    about: 'The document has no response of the status, the media type or the name that a call to a mock asks for.',
  },
  cache_entry_missing: {
    status: 504,
    message: 'No cached response',
    about:
      'The request has `Cache-Control: only-if-cached`, and no response is cached. See `cache.honour_request_cache_control`.',
  },
  loop_unknown: {
    status: 500,
    message: "Couldn't detect target",
    about: 'A gw:// target names no API that is served.',
  },
  rewrite_loop_unknown: {
    status: 500,
    message: "Can't detect loop target",
    about: 'A rewrite sends the call to an API that is not served.',
  },
  rewrite_refused: {
    status: 400,
    message: 'The address cannot be rewritten: {fault}',
    about: 'What the caller sent would make the rewritten address climb out of its path, or no address at all.',
  },
  method_unknown: {
    status: 405,
    message: 'Method not allowed',
    about: 'The definition turns the method into one that is not GET, POST, PUT, DELETE, OPTIONS or PATCH.',
  },
  loop_too_deep: {
    status: 500,
    message: 'Loop level too deep. Found more than {limit} loops in single request',
    about: 'The call was handed on too often.',
  },
  circuit_breaker_open: {
    status: 503,
    message: 'Service temporarily unavailable.',
    about: 'The circuit breaker of the endpoint is open: the upstream failed too often.',
  },
  upstream_hosts_down: {
    status: 503,
    message: 'all hosts are down',
    about: 'Tests found every target down, or no registry names one. Said in plain text.',
  },
  signing_fields_missing: {
    status: 500,
    message: 'Fields required for signing the request are missing',
    about: 'The definition asks for signed calls, and says not with which key.',
  },
  signing_algorithm_unknown: {
    status: 500,
    message: 'Request signing algorithm is not supported',
    about: 'The definition asks for signatures of a kind that does not exist, or that it does not allow.',
  },
  upstream_token_missing: {
    status: 500,
    message: 'There was a problem proxying the request',
    event: 'UpstreamOAuthError',
    about: 'The authorisation server gives no token for the upstream.',
  },
  upstream_timeout: {
    status: 504,
    message: 'Upstream service reached hard timeout.',
    about: 'The upstream did not answer in time.',
  },
  upstream_dns_failed: {
    status: 500,
    message: 'Upstream host lookup failed',
    about: 'The upstream’s name has no address.',
  },
  upstream_address_refused: {
    status: 502,
    message: 'The upstream address is not allowed',
    about:
      'The upstream resolves to an address that nothing may connect to (unspecified, link-local, cloud metadata, a management listener), or one outside the networks of the organisation. The log has the reason.',
  },
  upstream_busy: {
    status: 503,
    message: 'The upstream is busy, try again later',
    about:
      'Too many requests wait for a connection to the upstream (`upstream.max_queued_requests`), or the client, its key or its organisation has its share of those, or none was free in time (`upstream.queue_timeout_ms`). With `Retry-After`.',
  },
  upstream_failed: {
    status: 500,
    message: 'There was a problem proxying the request',
    about:
      'The connection to the upstream failed: refused, reset, or TLS could not be set up (an untrusted certificate, for example). The log has the reason.',
  },
  response_too_large: {
    status: 500,
    message: 'Response body too large',
    about: 'The upstream’s answer is larger than `gateway.max_response_body_bytes`.',
  },
  request_body_unreadable: {
    status: 400,
    message: 'Request body cannot be read: {detail}',
    about: 'The endpoint transforms request bodies, and this one is not JSON or XML, or packed in an unknown coding.',
  },
  request_values_exceeded: {
    status: 413,
    message: 'Request body is too large: {detail}',
    about:
      'The endpoint transforms request bodies, and this one holds more values (`gateway.max_body_values`), levels or digits than are read.',
  },
  request_transform_failed: {
    status: 500,
    message: 'Request body transform failed',
    about: 'The template or filter of a request body failed on it; the log has the reason.',
  },
  response_transform_failed: {
    status: 500,
    message: 'Response body transform failed',
    about: 'The template or filter of a response body failed on it; the log has the reason.',
  },
  response_body_unreadable: {
    status: 502,
    message: 'Response body cannot be read',
    about:
      'The endpoint transforms response bodies, and the upstream’s is not JSON or XML, or packed in an unknown coding. An error of the upstream keeps its status.',
  },
  request_transform_limit: {
    status: 500,
    message: 'Request body transform exceeded its limits',
    about: 'The template or filter of a request body asked for more steps, text or depth than it may.',
  },
  response_transform_limit: {
    status: 500,
    message: 'Response body transform exceeded its limits',
    about:
      'The template or filter of a response body asked for more steps, text or depth than it may, or the body holds more values (`gateway.max_body_values`), levels or digits than are read.',
  },
  body_too_slow: {
    status: 408,
    message: 'Request body arrives too slowly',
    about: 'The client sends the body more slowly than `gateway.min_body_bytes_per_second`. Its connection ends.',
  },
  body_too_large: {
    status: 413,
    message: 'Request Entity Too Large',
    about: 'The body of the call is larger than the gateway, or a step that reads it, takes. Said in plain text.',
  },
  database_unavailable: {
    status: 503,
    message: 'The gateway cannot check this call at the moment, please try again',
    about: 'Deciding about the call takes the database, which does not answer.',
  },
  client_disconnected: {
    status: 499,
    message: 'Client closed request',
    about: 'The caller did not wait for the answer.',
  },
  internal: { status: 500, message: 'Internal Server Error', about: 'A fault of ours; the log has its cause.' },
} as const satisfies Record<string, Refusal>;

export type RefusalCode = keyof typeof refusalsTable;
