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
  plugin_failed: {
    status: 500,
    message: 'Internal Server Error',
    about: 'A plugin failed, exceeded its limits, or returned a result that cannot be applied; the log has the reason.',
  },
  plugin_call_failed: {
    status: 500,
    message: 'Middleware error',
    about: 'The gRPC server of plugins was unavailable, too slow, or returned an error; the log has the reason.',
  },
  plugin_auth_failed: {
    status: 403,
    message: 'Key not authorised',
    event: 'AuthFailure',
    about:
      'Authentication by plugin returned no session, no value that identifies the client, or a session that cannot be used; or the gRPC server of plugins failed.',
  },
  plugin_id_missing: {
    status: 400,
    message: 'Authorization field missing',
    event: 'AuthFailure',
    about: 'The id extractor of authentication by plugin found nothing in the request.',
  },
  response_plugin_failed: {
    status: 500,
    message: 'Middleware error',
    about: 'A response plugin failed, exceeded its limits, or returned a result that cannot be applied.',
  },
  virtual_endpoint_failed: {
    status: 500,
    message: 'Error during virtual endpoint execution. Contact Administrator for more details.',
    about: 'The script of a virtual endpoint failed, and the definition does not forward the request instead.',
  },
  session_missing: {
    status: 400,
    message: 'Session state is missing or unset! Please make sure that auth headers are properly applied',
    about: 'No authentication method set a session.',
  },
  auth_field_missing: {
    status: 401,
    message: 'Authorization field missing',
    about: 'The request has no key.',
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
    about: 'The API requires a client certificate, and the client sent none.',
  },
  cert_expired: {
    status: 403,
    message: 'Certificate has expired',
    about: 'The client certificate has expired.',
  },
  cert_mismatch: {
    status: 401,
    message: 'Access to this API has been disallowed',
    event: 'AuthFailure',
    about: 'No key is bound to the client certificate, or the key is bound to another one.',
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
    about: 'The signature of the key is missing or wrong; a definition may set status and message.',
  },
  signature_algorithm_unknown: {
    status: 500,
    message: 'internal server error',
    about: 'The definition has an unknown signature algorithm.',
  },
  basic_field_missing: {
    status: 401,
    message: 'Authorization field missing',
    about: 'The request has no user name and password.',
  },
  basic_malformed: {
    status: 400,
    message: 'Attempted access with malformed header, header not in basic auth format',
    about: 'The header is not of the form `Basic …`.',
  },
  basic_not_encoded: {
    status: 400,
    message: 'Attempted access with malformed header, auth data not encoded correctly',
    about: 'The text after `Basic` is not base64.',
  },
  basic_values_malformed: {
    status: 400,
    message: 'Attempted access with malformed header, values not in basic auth format',
    about: 'The decoded text has no colon between user name and password.',
  },
  body_user_missing: {
    status: 400,
    message: 'Body do not contain username',
    about: 'The expression for the user name matches nothing in the body.',
  },
  body_user_group_missing: {
    status: 400,
    message: 'username should be inside regexp match group',
    about: 'The expression for the user name has no group.',
  },
  body_password_missing: {
    status: 400,
    message: 'Body do not contain password',
    about: 'The expression for the password matches nothing in the body.',
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
    about: 'The user is unknown or the password is wrong.',
  },
  basic_limited: {
    status: 429,
    message: 'Too many wrong passwords, try again later',
    event: 'AuthFailure',
    about:
      'Too many wrong passwords from the client address, for the user or for many users; passwords are not checked for a while.',
  },
  hmac_refused: {
    status: 400,
    message: 'Authorization field missing, malformed or invalid',
    event: 'AuthFailure',
    about: 'The signature is missing, malformed, expired, wrong, or uses an algorithm that is not allowed.',
  },
  signature_certificate_missing: {
    status: 500,
    message: 'Certificate not found',
    about: 'The certificate that verifies the signatures of the key is not in the store.',
  },
  signature_certificate_not_rsa: {
    status: 500,
    message: "Certificate doesn't contain RSA Public key",
    about: 'The certificate that verifies the signatures of the key has no RSA key.',
  },
  jwt_field_missing: {
    status: 400,
    message: 'Authorization field missing',
    event: 'AuthFailure',
    about: 'The request has no JSON Web Token.',
  },
  jwt_refused: {
    status: 403,
    message: 'Key not authorized',
    event: 'AuthFailure',
    about:
      'The token is malformed, its signature is invalid or of an unknown key, or a claim is not accepted by the API.',
  },
  jwt_algorithm_unexpected: {
    status: 403,
    message: 'Key not authorized: Unexpected signing method',
    event: 'AuthFailure',
    about: 'The signing method of the token is not the one of the definition.',
  },
  jwt_expired: {
    status: 401,
    message: 'Key not authorized: token has expired',
    about: 'The token has expired (`exp`).',
  },
  jwt_before_issued: {
    status: 401,
    message: 'Key not authorized: token used before issued',
    about: 'The time of issue of the token (`iat`) is in the future.',
  },
  jwt_not_yet_valid: {
    status: 401,
    message: 'Key not authorized: token is not valid yet',
    about: 'The token is not valid yet (`nbf`).',
  },
  jwt_no_identity: {
    status: 403,
    message: 'no suitable claims for user ID were found',
    event: 'AuthFailure',
    about: 'No claim of the token identifies the client.',
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
    about: 'The claim that identifies the client is empty.',
  },
  jwt_policy_unknown: {
    status: 403,
    message: 'key not authorized: no matching policy',
    event: 'AuthFailure',
    about: 'The policy of the token does not exist or has no access rights.',
  },
  jwt_policy_missing: {
    status: 403,
    message: 'key not authorized: no matching policy found',
    event: 'AuthFailure',
    about: 'The token has no policy claim, and the API has no default policy.',
  },
  jwt_scope_unmatched: {
    status: 403,
    message: 'key not authorized: no matching policy found in scope claim',
    event: 'AuthFailure',
    about: 'No scope of the token is mapped to a policy, and there is no other policy.',
  },
  jwt_no_policy_or_scope: {
    status: 403,
    message: 'key not authorized: no scope or policy in token',
    event: 'AuthFailure',
    about: 'The token has neither scopes nor a policy, and the API has no default policy.',
  },
  jwt_policy_not_applicable: {
    status: 403,
    message: 'key not authorized: could not apply new policy',
    event: 'AuthFailure',
    about: 'The policy of the token cannot be applied to the stored key of the client.',
  },
  jwt_policies_not_applicable: {
    status: 403,
    message: 'key not authorized: could not apply several policies',
    event: 'AuthFailure',
    about: 'The policies of the token cannot be combined.',
  },
  oidc_refused: {
    status: 401,
    message: 'Key not authorised',
    event: 'AuthFailure',
    about: 'The ID token is missing, invalid, or of an unknown issuer or client.',
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
    about: 'The request has no access token.',
  },
  external_no_provider: {
    status: 404,
    message: 'there should be at least one provider configured',
    about: 'The definition has no external authorization server.',
  },
  external_no_method: {
    status: 500,
    message: 'access token validation method is not specified',
    about: 'The definition enables no validation method for access tokens.',
  },
  external_refused: {
    status: 401,
    message: 'token verification failed: {reason}',
    about: 'The access token is malformed, or not signed by the trusted server.',
  },
  external_token_not_valid_now: {
    status: 401,
    message: 'key not authorized: {reason}',
    about: 'The access token has expired or is not valid yet.',
  },
  external_inactive: {
    status: 401,
    message: 'access token is not valid',
    about: 'The authorization server reports the access token as inactive.',
  },
  external_failed: {
    status: 500,
    message: 'error happened during the access token validation',
    about: 'The authorization server is unavailable, or its response has no subject.',
  },
  oauth_field_missing: {
    status: 400,
    message: 'Authorization field missing',
    about: 'The request has no access token.',
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
    about: 'The client of the access token was deleted.',
  },
  security_scheme_unconfigured: {
    status: 500,
    message: 'security scheme {name} is not configured',
    about: 'The last of several requirements contains a scheme that the definition does not enable.',
  },
  bearer_missing: {
    status: 401,
    message: 'Authorization field missing',
    about: 'A scope check or token exchange requires a bearer token, and the request has none.',
  },
  bearer_unverified: {
    status: 401,
    message: 'The bearer token was not verified',
    about: 'The bearer token is not the one that authenticated the client.',
  },
  scope_insufficient: {
    status: 403,
    message: 'insufficient_scope',
    event: 'OAuth2ScopeCheckFailed',
    about: 'The token lacks scopes that the document requires. The body is `{"error","error_description","scope"}`.',
  },
  exchange_issuer_unknown: {
    status: 403,
    message: 'Tokens of this issuer cannot be exchanged',
    event: 'OAuth2ExchangeFailed',
    about: 'No provider accepts tokens of the issuer.',
  },
  exchange_refused: {
    status: 403,
    message: 'The token was not exchanged',
    event: 'OAuth2ExchangeFailed',
    about: 'The provider refused to exchange the token of the client for one for the upstream.',
  },
  exchange_failed: {
    status: 502,
    message: 'Token exchange failed',
    event: 'OAuth2ExchangeFailed',
    about: 'The provider is unavailable, timed out, or returned an invalid response.',
  },
  mtls_without_tls: {
    status: 403,
    message: 'TLS not enabled',
    about: 'The API requires client certificates, and the connection does not use TLS.',
  },
  mtls_certificate_required: {
    status: 403,
    message: 'Client TLS certificate is required',
    about: 'The API requires client certificates, and the client sent none.',
  },
  mtls_not_allowed: {
    status: 403,
    message: 'Certificate with SHA256 {hash} not allowed',
    about: 'The client certificate is neither listed nor signed by a listed authority.',
  },
  request_misdirected: {
    status: 421,
    message: 'Misdirected Request',
    about: 'The connection was opened for another host than that of the request.',
  },
  key_inactive: {
    status: 403,
    message: 'Key is inactive, please renew',
    event: 'KeyExpired',
    about: 'The key, or one of its policies, is inactive.',
  },
  key_expired: {
    status: 401,
    message: 'Key has expired, please renew',
    event: 'KeyExpired',
    about: 'The key has expired.',
  },
  access_changed: {
    status: 403,
    message: 'Access rights have changed, please subscribe again',
    about: 'The access rights of the key changed while a response was streamed; the gateway ended the stream.',
  },
  api_not_granted: {
    status: 403,
    message: 'Access to this API has been disallowed',
    about: 'The key has no access rights for this API or version.',
  },
  url_not_granted: {
    status: 403,
    message: 'Access to this resource has been disallowed',
    about: 'The key has access rights for other endpoints or methods only.',
  },
  address_refused: {
    status: 403,
    message: 'access from this IP has been disallowed',
    event: 'AuthFailure',
    about: 'The IP access control of the API or key refuses the client address.',
  },
  rate_exceeded: {
    status: 429,
    message: 'Rate Limit Exceeded',
    event: 'RatelimitExceeded',
    about: 'The rate limit of the key, or of the key at the endpoint, is exceeded.',
  },
  quota_exceeded: {
    status: 403,
    message: 'Quota exceeded',
    event: 'QuotaExceeded',
    about: 'The quota of the key is exceeded.',
  },
  api_rate_exceeded: {
    status: 429,
    message: 'API Rate Limit Exceeded',
    event: 'RatelimitExceeded',
    about: 'The rate limit of the API or endpoint, over all clients, is exceeded.',
  },
  organisation_rate_exceeded: {
    status: 403,
    message: 'This organisation rate limit has been exceeded, please contact your API administrator',
    event: 'OrgRateLimitExceeded',
    about: 'The rate limit of the organisation, over all its APIs, is exceeded.',
  },
  organisation_quota_exceeded: {
    status: 403,
    message: 'This organisation quota has been exceeded, please contact your API administrator',
    event: 'OrgQuotaExceeded',
    about: 'The quota of the organisation, over all its APIs, is exceeded.',
  },
  organisation_inactive: {
    status: 403,
    message: 'this organisation access has been disabled, please contact your API administrator',
    about: 'The key with the limits of the organisation is inactive.',
  },
  route_unknown: {
    status: 404,
    message: 'Not Found',
    about: 'No API is served at the path. The body is plain text.',
  },
  api_unavailable: {
    status: 503,
    message: 'This API is not available',
    about: 'The definition has a missing dependency; the log, the status of the API and an explanation contain it.',
  },
  api_expired: {
    status: 403,
    message: 'API has expired, please check documentation or contact administrator',
    event: 'VersionFailure',
    about: 'The API has expired.',
  },
  version_missing: {
    status: 403,
    message: 'Version information not found',
    event: 'VersionFailure',
    about: 'The request has no version, and there is no default.',
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
    about: 'No version is the default.',
  },
  version_expired: {
    status: 403,
    message: 'Api Version has expired, please check documentation or contact administrator',
    event: 'VersionFailure',
    about: 'The version has expired.',
  },
  endpoint_forbidden: {
    status: 403,
    message: 'Requested endpoint is forbidden',
    event: 'VersionFailure',
    about: 'A block or allow list forbids the endpoint.',
  },
  rpc_parse_failed: {
    status: 400,
    message: 'parse error',
    about: 'The body of a request to an MCP proxy is no JSON text in UTF-8.',
  },
  rpc_invalid: {
    status: 400,
    message: 'invalid request',
    about:
      'The message is no JSON-RPC 2.0 request, notification or response, is nested too deeply, or names a member twice.',
  },
  rpc_batch: {
    status: 400,
    message: 'invalid request: batches are not supported',
    about: 'The body is a batch of JSON-RPC messages.',
  },
  rpc_params_missing: {
    status: 400,
    message: 'missing required params object',
    about: 'The JSON-RPC method requires parameters, and the message has none.',
  },
  rpc_parameter_missing: {
    status: 400,
    message: 'missing required parameter: {name}',
    about: 'The message does not name the tool, prompt or resource.',
  },
  rpc_params_invalid: {
    status: 400,
    message: 'invalid params',
    about: 'The name of the tool or prompt, or the URI of the resource, is no text, too long, or ambiguous.',
  },
  rpc_headers_mismatch: {
    status: 400,
    message: 'the headers Mcp-Method and Mcp-Name must agree with the message',
    about: 'A header names another JSON-RPC method or primitive than the message, which upstreams may read instead.',
  },
  mcp_websockets_disallowed: {
    status: 400,
    message: 'websockets are not allowed',
    about: 'The request to an MCP proxy upgrades to a WebSocket, whose messages no rule would see.',
  },
  rpc_media_type: {
    status: 415,
    message: 'the content type must be application/json in UTF-8, without a content coding',
    about:
      'A body that the gateway cannot read was sent to an MCP proxy with rules, or by a key with rights to some primitives.',
  },
  rpc_method_not_granted: {
    status: 403,
    message: 'Access to this JSON-RPC method has been disallowed',
    about: 'The key has no right to the JSON-RPC method.',
  },
  mcp_primitive_not_granted: {
    status: 403,
    message: 'Access to this primitive has been disallowed',
    about: 'The key has no right to the tool, resource or prompt.',
  },
  mcp_virtual_path: {
    status: 404,
    message: 'Not Found',
    about: 'The path is one of those by which definitions name methods and primitives; no client can call it.',
  },
  mcp_response_unreadable: {
    status: 502,
    message: 'The list of the MCP server cannot be filtered',
    about: 'A response that must be filtered has a content coding or a form that the gateway cannot read.',
  },
  metadata_unavailable: {
    status: 502,
    message: 'The metadata of the MCP server are not available',
    about: 'The MCP server has no protected resource metadata that the gateway can mirror.',
  },
  batch_malformed: {
    status: 400,
    message: 'Batch request malformed',
    about: 'The batch request cannot be parsed. The body is `{"status":"error","message":…}`.',
  },
  batch_nested: {
    status: 400,
    message: 'A batch request cannot hold another one',
    about: 'A request of the batch is itself a batch request, or loops to one with a gw:// target.',
  },
  batch_too_long: {
    status: 400,
    message: 'A batch request holds at most {limit} requests',
    about: 'The batch has more requests than `gateway.max_batch_requests`.',
  },
  path_ambiguous: {
    status: 400,
    message: 'The path can be read in two ways',
    about:
      'The path contains `;`, and rules differ with and without the path parameters. See `gateway.path_parameters`.',
  },
  length_required: {
    status: 411,
    message: 'Content length is required for this request',
    about: 'The endpoint limits the size of bodies, and the request has no `Content-Length`.',
  },
  length_invalid: {
    status: 400,
    message: 'content length is not a valid Integer',
    about: 'The `Content-Length` of the request is not a number.',
  },
  request_too_large: {
    status: 400,
    message: 'Request is too large',
    about: 'The body exceeds the size limit of the API or of the endpoint.',
  },
  json_unreadable: {
    status: 400,
    message: 'JSON parsing error: {detail}',
    about: 'The endpoint validates bodies against a schema, and the body is not JSON.',
  },
  json_invalid: {
    status: 422,
    message: '{detail}',
    about:
      'The body does not match the schema of the endpoint; the message lists every error. A definition may set the status.',
  },
  schema_missing: {
    status: 500,
    message: 'no schemas to validate against',
    about: 'The endpoint validates bodies against a schema, and the definition has none.',
  },
  request_invalid: {
    status: 422,
    message: 'request validation error: {detail}',
    about:
      'The request does not match the OpenAPI document; the message lists every error. A definition may set the status.',
  },
  graphql_request_invalid: {
    status: 400,
    message: 'The GraphQL request is invalid: {detail}',
    about: 'The request to a GraphQL API is not JSON, has no document, or parameters of the wrong type.',
  },
  graphql_media_type_unsupported: {
    status: 415,
    message: 'A GraphQL request is application/json or application/graphql, in UTF-8',
    about: 'The body of a request to a GraphQL API has another media type or charset.',
  },
  graphql_upload_refused: {
    status: 415,
    message: 'File uploads (multipart/form-data) are not supported by this GraphQL API',
    about: 'The request to a GraphQL API is a form with files, whose operations the gateway cannot check.',
  },
  graphql_method_not_allowed: {
    status: 405,
    message: 'Method not allowed for this GraphQL request',
    about: 'A GraphQL request is neither GET nor POST, or a mutation with GET. With `Allow`.',
  },
  graphql_batch_refused: {
    status: 400,
    message: 'The GraphQL batch is refused: {detail}',
    about: 'The body is a list of operations: not allowed, or longer than `graphql.max_batch_operations`.',
  },
  graphql_invalid: {
    status: 400,
    message: 'The GraphQL document is invalid',
    about:
      'The document has a syntax error or is not valid for the schema, or a variable has the wrong type. The body is `{"errors":[…]}`; the status is 200 for clients that accept `application/json` alone, see `graphql.document_error_status`.',
  },
  graphql_limit_exceeded: {
    status: 400,
    message: 'The GraphQL document exceeds a limit',
    about:
      'The document has too many fields, aliases or directives, or the operation costs too much. The body is `{"errors":[…]}`.',
  },
  graphql_depth_exceeded: {
    status: 403,
    message: 'depth limit exceeded',
    about: 'The operation is nested deeper than the limit of the key, of a field, or of the gateway.',
  },
  graphql_introspection_disabled: {
    status: 403,
    message: 'introspection is disabled',
    about: 'The API or the key disables introspection, and the operation selects `__schema` or `__type`.',
  },
  graphql_field_restricted: {
    status: 400,
    message: 'field is restricted',
    about: 'The key may not read a field that the operation selects. The body is `{"errors":[…]}` with the field.',
  },
  graphql_document_unknown: {
    status: 400,
    message: 'PersistedQueryNotFound',
    about: 'The request names a document by a hash that the API has no trusted document for.',
  },
  graphql_document_untrusted: {
    status: 403,
    message: 'Only trusted documents are accepted',
    about: 'The API accepts trusted documents only, and the document of the request is none.',
  },
  graphql_websockets_disallowed: {
    status: 422,
    message: 'websockets are not allowed',
    about: 'The request upgrades to another protocol, or to a WebSocket of a GraphQL API with subscriptions by SSE.',
  },
  graphql_websocket_protocol_invalid: {
    status: 400,
    message: 'invalid websocket protocol for upgrading to a graphql websocket connection',
    about: 'A WebSocket of a GraphQL API needs the subprotocol `graphql-transport-ws` or `graphql-ws`.',
  },
  mock_code_invalid: {
    status: 400,
    message: 'mock: the example code is not a number',
    about: '`X-Gw-Accept-Example-Code` of a request to a mock is not a status code.',
  },
  mock_unknown: {
    status: 404,
    message: 'mock: there is no example response for the {what}',
    about: 'The document has no example response of the requested status, media type or name.',
  },
  cache_entry_missing: {
    status: 504,
    message: 'No cached response',
    about:
      'The request has `Cache-Control: only-if-cached`, and no response is cached. See `cache.honour_request_cache_control` and caching by the rules of HTTP.',
  },
  loop_unknown: {
    status: 500,
    message: "Couldn't detect target",
    about: 'A gw:// target refers to an API that is not served.',
  },
  rewrite_loop_unknown: {
    status: 500,
    message: "Can't detect loop target",
    about: 'A URL rewrite refers to an API that is not served.',
  },
  rewrite_refused: {
    status: 400,
    message: 'The address cannot be rewritten: {fault}',
    about: 'The rewritten URL, with parts of the request, leaves its path or is invalid.',
  },
  method_unknown: {
    status: 405,
    message: 'Method not allowed',
    about: 'The definition changes the method to one other than GET, POST, PUT, DELETE, OPTIONS or PATCH.',
  },
  loop_too_deep: {
    status: 500,
    message: 'Loop level too deep. Found more than {limit} loops in single request',
    about: 'The request exceeds `gateway.max_loops`.',
  },
  circuit_breaker_open: {
    status: 503,
    message: 'Service temporarily unavailable.',
    about: 'The circuit breaker of the endpoint is open after too many failures of the upstream.',
  },
  upstream_hosts_down: {
    status: 503,
    message: 'all hosts are down',
    about: 'Uptime tests report every target as down, or service discovery returned none. The body is plain text.',
  },
  signing_fields_missing: {
    status: 500,
    message: 'Fields required for signing the request are missing',
    about: 'The definition enables request signing without a key.',
  },
  signing_algorithm_unknown: {
    status: 500,
    message: 'Request signing algorithm is not supported',
    about: 'The signing algorithm of the definition is unknown or not allowed.',
  },
  upstream_token_missing: {
    status: 502,
    message: 'There was a problem proxying the request',
    event: 'UpstreamOAuthError',
    about: 'The authorization server returned no access token for the upstream.',
  },
  upstream_timeout: {
    status: 504,
    message: 'Upstream service reached hard timeout.',
    about: 'The upstream did not accept a connection, or did not respond, in time.',
  },
  upstream_dns_failed: {
    status: 502,
    message: 'Upstream host lookup failed',
    about: 'The host name of the upstream cannot be resolved.',
  },
  upstream_address_refused: {
    status: 502,
    message: 'The upstream address is not allowed',
    about:
      'The upstream resolves to an address that is always refused (unspecified, link-local, cloud metadata, a management listener), or to one outside the networks of the organisation. The log has the reason.',
  },
  upstream_busy: {
    status: 503,
    message: 'The upstream is busy, try again later',
    about:
      'Too many requests wait for a connection to the upstream (`upstream.max_queued_requests`), the client, its key or its organisation uses its whole share, or no connection was free in time (`upstream.queue_timeout_ms`). With `Retry-After`.',
  },
  upstream_failed: {
    status: 502,
    message: 'There was a problem proxying the request',
    about:
      'The upstream request failed: the connection was refused or reset, TLS failed (an untrusted certificate, for example), or the response is not valid. The log, the record of the request and an explanation have the reason.',
  },
  response_too_large: {
    status: 500,
    message: 'Response body too large',
    about: 'The upstream response exceeds `gateway.max_response_body_bytes`.',
  },
  request_body_unreadable: {
    status: 400,
    message: 'Request body cannot be read: {detail}',
    about: 'The endpoint transforms request bodies, and this one is not JSON or XML, or has an unknown content coding.',
  },
  request_values_exceeded: {
    status: 413,
    message: 'Request body is too large: {detail}',
    about:
      'The endpoint transforms request bodies, and this one exceeds the maximum number of values (`gateway.max_body_values`), levels or digits.',
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
      'The endpoint transforms response bodies, and that of the upstream is not JSON or XML, or has an unknown content coding. An error response of the upstream keeps its status.',
  },
  request_transform_limit: {
    status: 500,
    message: 'Request body transform exceeded its limits',
    about: 'The template or filter of a request body exceeded its maximum number of steps, text or depth.',
  },
  response_transform_limit: {
    status: 500,
    message: 'Response body transform exceeded its limits',
    about:
      'The template or filter of a response body exceeded its maximum number of steps, text or depth, or the body exceeds the maximum number of values (`gateway.max_body_values`), levels or digits.',
  },
  body_too_slow: {
    status: 408,
    message: 'Request body arrives too slowly',
    about: 'The client sends the body more slowly than `gateway.min_body_bytes_per_second`. The connection is closed.',
  },
  body_too_large: {
    status: 413,
    message: 'Request Entity Too Large',
    about:
      'The request body exceeds the maximum of the gateway, or of a step that buffers it. The body of the response is plain text.',
  },
  database_unavailable: {
    status: 503,
    message: 'The gateway cannot check this call at the moment, please try again',
    about: 'The gateway needs the database for the decision, and the database is unavailable.',
  },
  client_disconnected: {
    status: 499,
    message: 'Client closed request',
    about: 'The client closed the connection before the response.',
  },
  internal: {
    status: 500,
    message: 'Internal Server Error',
    about: 'Unexpected error of the gateway; the log has its cause.',
  },
} as const satisfies Record<string, Refusal>;

export type RefusalCode = keyof typeof refusalsTable;
