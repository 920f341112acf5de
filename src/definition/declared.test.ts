import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkClassic } from './classic.ts';

/**
 * The members of the published classic format, by type. A value of another type must be refused; members of our own are
 * in `tests/facets/wrong-values.test.ts`.
 */
const specified: Record<string, string> = {
  boolean: `active certificate_pinning_disabled config_data_disabled custom_middleware_bundle_disabled
    custom_plugin_auth_enabled detailed_tracing disable_quota disable_rate_limit do_not_track domain_disabled
    dont_set_quota_on_create enable_batch_request_support enable_context_vars enable_coprocess_auth
    enable_detailed_recording enable_ip_blacklisting enable_ip_whitelisting enable_jwt enable_proxy_protocol
    enable_signature_checking idp_client_id_mapping_disabled internal is_oas jwt_skip_kid
    session_lifetime_respects_key_expiration strip_auth_data tags_disabled upstream_certificates_disabled use_basic_auth
    use_go_plugin_auth use_keyless use_mutual_tls_auth use_oauth2 use_openid use_standard_auth
    CORS.allow_credentials CORS.debug CORS.enable CORS.options_passthrough analytics_plugin.enable auth.disable_header
    auth.use_certificate auth.use_cookie auth.use_param auth.validate_signature auth.signature.use_param
    basic_auth.disable_caching basic_auth.extract_from_body cache_options.cache_all_safe_requests
    cache_options.enable_cache cache_options.enable_upstream_cache_control custom_middleware.id_extractor.disabled
    custom_middleware.auth_check.disabled custom_middleware.auth_check.raw_body_only
    custom_middleware.auth_check.require_session custom_middleware.pre[].disabled custom_middleware.post[].raw_body_only
    custom_middleware.post_key_auth[].require_session custom_middleware.response[].disabled definition.enabled
    definition.fallback_to_default definition.strip_path definition.strip_versioning_data external_oauth.enabled
    external_oauth.providers[].introspection.cache.enabled external_oauth.providers[].introspection.enabled
    external_oauth.providers[].jwt.enabled global_rate_limit.disabled openid_options.segregate_by_client
    proxy.check_host_against_uptime_tests proxy.disable_strip_slash proxy.enable_load_balancing
    proxy.preserve_host_header proxy.strip_listen_path proxy.transport.ssl_force_common_name_check
    proxy.transport.ssl_insecure_skip_verify proxy.service_discovery.cache_disabled
    proxy.service_discovery.endpoint_returns_list proxy.service_discovery.use_discovery_service
    proxy.service_discovery.use_nested_query proxy.service_discovery.use_target_list request_signing.is_enabled
    uptime_tests.check_list[].enable_proxy_protocol uptime_tests.config.service_discovery.cache_disabled
    version_data.not_versioned graphql.enabled graphql.introspection.disabled graphql.playground.enabled
    graphql.engine.data_sources[].internal graphql.engine.field_configs[].disable_default_mapping
    graphql.proxy.features.use_immutable_headers graphql.proxy.use_response_extensions.on_error_forwarding
    graphql.supergraph.disable_query_batching graphql.type_field_configurations[].mapping.disabled`,
  text: `api_id base_identity_provided_by custom_middleware_bundle domain expiration id jwt_client_base_field
    jwt_identity_base_field jwt_policy_field_name jwt_scope_claim_name jwt_signing_method jwt_source name org_id protocol
    slug analytics_plugin.func_name analytics_plugin.plugin_path auth.auth_header_name auth.cookie_name auth.name
    auth.param_name auth.signature.algorithm auth.signature.error_message auth.signature.header auth.signature.param_name
    auth.signature.secret auth_provider.name auth_provider.storage_engine session_provider.name
    session_provider.storage_engine basic_auth.body_password_regexp basic_auth.body_user_regexp
    cache_options.cache_control_ttl_header custom_middleware.driver custom_middleware.id_extractor.extract_from
    custom_middleware.id_extractor.extract_with custom_middleware.auth_check.name custom_middleware.pre[].path
    definition.default definition.key definition.location definition.name definition.url_versioning_pattern
    external_oauth.providers[].introspection.client_id external_oauth.providers[].introspection.client_secret
    external_oauth.providers[].introspection.identity_base_field external_oauth.providers[].introspection.url
    external_oauth.providers[].jwt.identity_base_field external_oauth.providers[].jwt.signing_method
    external_oauth.providers[].jwt.source notifications.oauth_on_keychange_url notifications.shared_secret
    oauth_meta.auth_login_redirect openid_options.providers[].issuer proxy.listen_path proxy.target_url
    proxy.transport.proxy_url proxy.service_discovery.data_path proxy.service_discovery.parent_data_path
    proxy.service_discovery.port_data_path proxy.service_discovery.query_endpoint proxy.service_discovery.target_path
    request_signing.algorithm request_signing.certificate_id request_signing.key_id request_signing.secret
    request_signing.signature_header response_processors[].name scopes.jwt.scope_claim_name scopes.oidc.scope_claim_name
    uptime_tests.check_list[].body uptime_tests.check_list[].commands[].message
    uptime_tests.check_list[].commands[].name uptime_tests.check_list[].method uptime_tests.check_list[].protocol
    uptime_tests.check_list[].url version_data.default_version graphql.execution_mode graphql.last_schema_update
    graphql.playground.path graphql.schema graphql.version graphql.subgraph.sdl graphql.engine.data_sources[].kind
    graphql.engine.data_sources[].name graphql.engine.data_sources[].root_fields[].type
    graphql.engine.field_configs[].field_name graphql.engine.field_configs[].type_name
    graphql.engine.global_headers[].key graphql.engine.global_headers[].value graphql.proxy.subscription_type
    graphql.supergraph.merged_sdl graphql.supergraph.subgraphs[].api_id graphql.supergraph.subgraphs[].name
    graphql.supergraph.subgraphs[].sdl graphql.supergraph.subgraphs[].subscription_type
    graphql.supergraph.subgraphs[].url graphql.supergraph.updated_at
    graphql.type_field_configurations[].data_source.kind graphql.type_field_configurations[].field_name
    graphql.type_field_configurations[].mapping.path graphql.type_field_configurations[].type_name`,
  number: `expire_analytics_after hmac_allowed_clock_skew jwt_expires_at_validation_skew jwt_issued_at_validation_skew
    jwt_not_before_validation_skew listen_port session_lifetime CORS.max_age auth.signature.allowed_clock_skew
    auth.signature.error_code basic_auth.cache_ttl cache_options.cache_timeout
    external_oauth.providers[].introspection.cache.timeout
    external_oauth.providers[].jwt.expires_at_validation_skew external_oauth.providers[].jwt.issued_at_validation_skew
    external_oauth.providers[].jwt.not_before_validation_skew global_rate_limit.per global_rate_limit.rate
    proxy.transport.ssl_max_version proxy.transport.ssl_min_version proxy.service_discovery.cache_timeout
    uptime_tests.check_list[].timeout uptime_tests.config.expire_utime_after uptime_tests.config.recheck_wait`,
  container: `allowed_ips auth_configs blacklisted_ips certificates client_certificates config_data
    hmac_allowed_algorithms jwt_default_policies jwt_scope_to_policy_mapping pinned_public_keys tag_headers tags
    upstream_certificates CORS CORS.allowed_headers CORS.allowed_methods CORS.allowed_origins CORS.exposed_headers auth
    auth.signature auth_provider auth_provider.meta session_provider.meta basic_auth cache_options.cache_by_headers
    cache_options.cache_response_codes custom_middleware.id_extractor.extractor_config custom_middleware.pre
    custom_middleware.post custom_middleware.post_key_auth custom_middleware.response definition.versions
    event_handlers.events external_oauth.providers oauth_meta.allowed_access_types oauth_meta.allowed_authorize_types
    openid_options.providers openid_options.providers[].client_ids proxy proxy.target_list proxy.transport
    proxy.transport.ssl_ciphers request_signing.header_list response_processors scopes.jwt.scope_to_policy
    scopes.oidc.scope_to_policy uptime_tests.check_list uptime_tests.check_list[].headers
    uptime_tests.check_list[].commands uptime_tests.config.service_discovery version_data.versions graphql
    graphql.engine.data_sources graphql.engine.data_sources[].root_fields[].fields graphql.engine.field_configs[].path
    graphql.proxy.auth_headers graphql.proxy.request_headers graphql.proxy.request_headers_rewrite
    graphql.supergraph.global_headers graphql.supergraph.subgraphs[].headers graphql.type_field_configurations`,
};
const wrong: Record<string, unknown> = { boolean: 'true', text: 7, number: 'ten', container: 'x' };

/** `a.b[].c` with a value becomes `{a: {b: [{c: value}]}}`. */
function holding(path: string, value: unknown): unknown {
  const [first, ...rest] = path.split('.');
  const inner = rest.length === 0 ? value : holding(rest.join('.'), value);
  return first!.endsWith('[]') ? { [first!.slice(0, -2)]: [inner] } : { [first!]: inner };
}

for (const [kind, paths] of Object.entries(specified))
  test(`every member that must be a ${kind} is rejected when it is not`, () => {
    for (const path of paths.split(/\s+/)) {
      const checked = checkClassic(holding(path, wrong[kind]));
      assert.ok(!checked.ok, `${path} is not checked`);
      assert.equal(checked.errors[0]!.path, path.replaceAll('[]', '[0]'));
    }
  });

test('every specified container may be null', () => {
  for (const path of specified.container!.split(/\s+/)) assert.ok(checkClassic(holding(path, null)).ok, path);
});
