import { validateRefusedAddresses } from './address-policy.ts';
import {
  choice,
  count,
  flag,
  headerName,
  jsonObject,
  list,
  listWithCheck,
  messageOverrides,
  objectLists,
  pathSegment,
  port,
  secret,
  secretMap,
  text,
} from './settings-rows.ts';

/**
 * Every setting, declared once. The name is its place in `gw.yaml` (`gateway.port` is `port` under `gateway`), its
 * environment name is the same in capitals behind `GW_` with `_` for `.`, its flag the same behind `--`.
 */
export const settingsTable = {
  role: choice(['all', 'gateway', 'dashboard', 'portal'], 'all', 'Role of this process; `all` runs every part.'),
  from: text(
    '',
    'Directory of configuration files that a process with the role `gateway` serves, in place of a database.',
  ),
  data_dir: text('./data', 'Directory of the embedded database, the master key and `credentials.json`.'),
  threads: count(0, 'Number of traffic threads; 0 for one per processor core.', { max: 256 }),
  production: flag(false, 'Refuses to start with short or well-known secrets.'),

  'gateway.host': text('0.0.0.0', 'Listen address for API traffic.'),
  'gateway.port': port(8080, 'Port for API traffic; 0 for any free port.'),
  'gateway.secret': secret(
    'Secret of the `/gw/*` interface, sent as `X-Gw-Authorization`. Generated at first start if unset.',
  ),
  'gateway.trusted_proxies': list(
    'Addresses or networks of proxies whose `X-Forwarded-For` is trusted for API traffic.',
  ),
  'gateway.listen_path_match': choice(
    ['strict', 'prefix'],
    'strict',
    'Matching of listen paths: `strict` matches `/app` and `/app/…`, `prefix` matches `/apple` too.',
  ),
  'gateway.endpoint_match': choice(
    ['strict', 'prefix', 'suffix', 'loose'],
    'strict',
    'Matching of endpoint patterns against the path: the whole path, a prefix, a suffix, or any part of it.',
  ),
  'gateway.endpoint_ignore_case': flag(false, 'Matches endpoint patterns case-insensitively.'),
  'gateway.allowed_urls_whole_path': flag(
    false,
    'Matches `allowed_urls` of keys against the whole path too, and not only against the path below the listen path.',
  ),
  'gateway.api_id_paths': flag(false, 'Serves APIs at `/` and their id too, unless an API has that listen path.'),
  'gateway.encoded_slashes': choice(
    ['refuse', 'keep'],
    'refuse',
    'Handling of requests with `%2F` or `%5C` in the path.',
  ),
  'gateway.double_encoding': choice(
    ['refuse', 'pass'],
    'refuse',
    'Handling of requests with `%25` before two hexadecimal digits in the path, which an upstream may decode twice.',
  ),
  'gateway.client_claim_headers': list(
    'Additional headers about the client that are removed unless a trusted proxy sends them: names, or prefixes with `*` at the end. A name with a leading `!` is forwarded unchanged.',
  ),
  'gateway.path_parameters': choice(
    ['check', 'pass', 'refuse'],
    'check',
    'Handling of requests with `;` in the path, which some upstreams parse as parameters: `check` refuses them if rules differ without the parameters, `pass` forwards them, `refuse` always refuses them.',
  ),
  'gateway.max_header_bytes': count(65_536, 'Maximum size of a request head in bytes.', { min: 4096, max: 1_048_576 }),
  'gateway.headers_timeout_ms': count(
    20_000,
    'Time in milliseconds in which a client must send the head of a request.',
    {
      min: 1000,
    },
  ),
  'gateway.request_timeout_ms': count(
    300_000,
    'Time in milliseconds in which a client must send a whole request; 0 for no limit.',
  ),
  'gateway.min_body_bytes_per_second': count(
    500,
    'Minimum rate at which a client must send a request body while the gateway reads it; a slower client gets 408. Streams of gRPC to HTTP/2 upstreams may pause. 0 for no minimum.',
    { max: 1_000_000 },
  ),
  'gateway.min_body_rate_window_ms': count(
    15_000,
    'Time in milliseconds over which that rate is measured; the maximum pause of a client.',
    { min: 100, max: 600_000 },
  ),
  'gateway.max_wrong_passwords_per_minute': count(
    30,
    'Maximum number of wrong passwords of one user from one client address per minute; further requests get 429 without a check. The maximum for all users of one address is ten times as high. 0 disables the limit.',
    { max: 1_000_000 },
  ),
  'gateway.max_headers': count(200, 'Maximum number of headers of a request.', { min: 10, max: 2000 }),
  'gateway.keep_alive_timeout_ms': count(
    75_000,
    'Time in milliseconds after which an idle client connection is closed.',
    {
      min: 1000,
    },
  ),
  'gateway.write_timeout_ms': count(
    60_000,
    'Time in milliseconds after which a response to a client that reads nothing is aborted.',
    {
      min: 1000,
    },
  ),
  'gateway.half_close_timeout_ms': count(
    5000,
    'Time in milliseconds for the response to a client that has ended its side of an HTTP/1.1 connection after its request. A client that has disconnected is recognised then at the latest; 0 counts both as disconnected at once.',
    { max: 600_000 },
  ),
  'gateway.max_connections': count(20_000, 'Maximum number of client connections per traffic thread and port.', {
    min: 1,
  }),
  'gateway.extra_ports': list(
    'Ports, or ranges such as `9000-9010`, available as dedicated ports of APIs. Empty: every API is served on the port of the gateway.',
  ),
  'gateway.max_batch_requests': count(100, 'Maximum number of requests in one batch.', { min: 1, max: 10_000 }),
  'gateway.max_batch_bytes': count(
    10_485_760,
    'Maximum size in bytes of a batch request, and of all its responses together.',
    {
      min: 1024,
    },
  ),
  'gateway.batch_timeout_ms': count(
    30_000,
    'Time in milliseconds after which the unfinished requests of a batch fail.',
    {
      min: 1,
    },
  ),
  'gateway.http2': flag(true, 'Enables HTTP/2 for clients: by ALPN over TLS, with prior knowledge in clear text.'),
  'gateway.http1_engine': choice(
    ['native', 'node'],
    'native',
    'Implementation of HTTP/1.1 on the traffic path: the gateway’s own, or that of Node. `node` will be removed with the next release.',
  ),
  'gateway.tls.enabled': flag(false, 'Enables TLS on the port of the gateway; requests in clear text are refused.'),
  'gateway.tls.certificate_file': text(
    '',
    'PEM file of the certificate, with its chain, for server names without a certificate of an API. Reloaded when it changes.',
  ),
  'gateway.tls.key_file': text('', 'PEM file of the private key of that certificate.'),
  'gateway.tls.min_version': choice(['1.2', '1.3'], '1.2', 'Minimum TLS version of clients.'),
  'gateway.websockets': flag(true, 'Enables WebSocket upgrades.'),
  'gateway.close_connections': flag(false, 'Closes the client connection after every response.'),
  'gateway.generator_header': flag(
    true,
    'Sends the name of the product in `X-Generator` with error responses of the gateway.',
  ),
  'gateway.error_messages': messageOverrides(
    'Status and message of refusals in place of the defaults, by the codes of [refusals.md](refusals.md).',
  ),
  'gateway.error_overrides': {
    ...objectLists('Error overrides for every API, by status, with the same rules as in definitions.'),
    secret: false,
  },
  'gateway.version_header': headerName(
    'Name of the response header with the version where the default version was used. Empty: no header.',
  ),
  'gateway.health_name': pathSegment('hello', 'Path segment of the health endpoint on the listener of the gateway.'),
  'gateway.ready_name': pathSegment('ready', 'Path segment of the readiness endpoint on the listener of the gateway.'),
  'gateway.segments': list(
    'Tags of this gateway: it serves APIs with at least one of them. Empty: it serves every API, tagged or not.',
  ),
  'gateway.max_request_body_bytes': count(
    0,
    'Maximum size of a request body in bytes; a larger one gets 413. 0 for no limit.',
  ),
  'gateway.max_response_body_bytes': count(
    0,
    'Maximum size of an upstream response body in bytes; a larger one becomes a 500, or is aborted once it has begun. 0 for no limit.',
  ),
  'gateway.max_buffered_body_bytes': count(
    10_485_760,
    'Maximum size in bytes of a body that is buffered for a transform or validation. A larger request gets 413, a larger response 500.',
    { min: 1024 },
  ),
  'gateway.max_body_values': count(
    200_000,
    'Maximum number of values of a JSON body, or of elements and attributes of an XML body, for validation and transforms. A request with more gets 413, or 400 from validation; a response with more becomes a 500.',
    { min: 100, max: 100_000_000 },
  ),
  'gateway.max_decompression_ratio': count(
    200,
    'Maximum ratio of decompressed to compressed size of a body above 1 MiB. A larger request gets 413, a larger response becomes a 500.',
    { min: 1, max: 1_000_000 },
  ),
  'gateway.require_content_length': flag(
    true,
    'Refuses requests without `Content-Length` where a definition limits the size of bodies. Otherwise the limit is enforced while the body is read.',
  ),
  'gateway.classic_mocks_first': flag(
    false,
    'Returns mock responses of classic definitions before authentication, without analytics records.',
  ),
  'gateway.max_loops': count(5, 'Maximum number of loops of one request from API to API inside the gateway.', {
    min: 1,
    max: 100,
  }),
  'upstream.timeout_ms': count(
    30_000,
    'Time in milliseconds after which a request to an upstream is aborted: until the response begins, and again until a buffered response is complete.',
    { min: 1 },
  ),
  'upstream.http2': flag(false, 'Enables HTTP/2 to upstreams over TLS, by ALPN; required for gRPC.'),
  'upstream.connect_timeout_ms': count(
    10_000,
    'Time in milliseconds after which an attempt to connect to an upstream is aborted.',
    { min: 1 },
  ),
  'upstream.max_response_header_bytes': count(
    65_536,
    'Maximum size in bytes of the head of an upstream response; a larger one becomes a 500.',
    { min: 1024, max: 1_048_576 },
  ),
  'upstream.max_response_headers': count(
    1000,
    'Maximum number of headers of an upstream response; one with more becomes a 500.',
    { min: 10, max: 10_000 },
  ),
  'upstream.max_connections': count(512, 'Maximum number of connections per traffic thread and upstream.', {
    min: 1,
    max: 100_000,
  }),
  'upstream.max_streams': count(
    1000,
    'Maximum number of concurrent HTTP/2 streams per traffic thread and upstream. An upstream may announce a smaller number.',
    { min: 1, max: 100_000 },
  ),
  'upstream.max_queued_requests': count(
    1000,
    'Maximum number of requests per traffic thread in the queue for a connection to one upstream; more get 503.',
    { min: 1, max: 100_000 },
  ),
  'upstream.queue_timeout_ms': count(
    10_000,
    'Time in milliseconds after which a request in the queue for an upstream connection gets 503.',
    { min: 1 },
  ),
  'upstream.max_share_percent': count(
    50,
    'Maximum share, in percent, of the connections to one upstream and of their queue for a single client address (for IPv6 its /64), a key or, while others use it, an organisation.',
    { min: 1, max: 100 },
  ),
  'upstream.body_preread_bytes': count(
    65_536,
    'Number of bytes of a request body that are read before the request gets a connection to an HTTP/1.1 upstream; a smaller body is read completely. 0 forwards at once.',
    { max: 16_777_216 },
  ),
  'upstream.body_preread_total_bytes': count(
    67_108_864,
    'Maximum number of bytes of request bodies that one traffic thread buffers this way; beyond it bodies are forwarded at once.',
    { max: 17_179_869_184 },
  ),
  'outbound.refused_addresses': listWithCheck(
    validateRefusedAddresses,
    'Addresses or networks, with or without a port (`10.0.0.5`, `10.0.0.0/8`, `10.0.0.5:3000`, `[fd00::5]:3000`), that outbound connections to upstreams, webhooks and key sets must not use. Unspecified, link-local and cloud metadata addresses and the management listeners of the process are always refused.',
  ),
  'uptime.interval_ms': count(10_000, 'Interval of uptime tests of upstream hosts in milliseconds.', {
    min: 50,
    max: 600_000,
  }),
  'uptime.failures': count(
    3,
    'Number of consecutive failures after which a host is down, and of consecutive successes after which it is up again.',
    {
      min: 1,
      max: 100,
    },
  ),
  'discovery.cache_ttl_seconds': count(
    120,
    'Time in seconds for which the response of a service registry is cached, unless the definition sets one.',
    { min: 1, max: 86_400 },
  ),
  'gateway.control_port': port(8081, 'Port of `/gw/*` for the role `gateway`.'),
  'gateway.control_on_traffic_port': flag(
    false,
    'Serves `/gw/*` on the port for API traffic too, for requests with the gateway secret. For the roles `all` and `gateway`.',
  ),
  'gateway.url': text(
    '',
    'Base URL of API traffic for clients, as shown in responses. Empty: derived from host and port.',
  ),

  'dashboard.host': text('127.0.0.1', 'Listen address of the dashboard; loopback by default.'),
  'dashboard.port': port(3000, 'Port of `/api/*`, `/admin/*`, `/gw/*`, and `/docs`; 0 for any free port.'),
  'dashboard.url': text(
    '',
    'URL of the dashboard in browsers, for links. Session cookies are `Secure` if it begins with `https:`. Empty: `http://localhost` with the port of the dashboard.',
  ),
  'admin.secret': secret(
    'Secret of the `/admin/*` interface, sent as `Admin-Auth`. Generated at first start if unset.',
  ),

  'portal.host': text('127.0.0.1', 'Listen address of the developer portal; loopback by default.'),
  'portal.port': port(3001, 'Port of `/portal-api/*` and `/docs`; 0 for any free port.'),
  'portal.token': secret(
    'Token of the `/portal-api/*` interface, sent as `Authorization`. Generated at first start if unset.',
  ),

  'database.url': secret(
    'URL of PostgreSQL, `postgres://user:password@host/name`. Unset: SQLite in the data directory.',
  ),
  'database.max_connections': count(10, 'Maximum number of connections of this process to PostgreSQL.', {
    min: 1,
    max: 1000,
  }),
  'database.config_backup': flag(
    true,
    'With PostgreSQL: stores a sealed backup of the configuration in the data directory, for a start while the database is unavailable.',
  ),
  'redis.url': secret(
    'URL of Redis, `redis://host:port`, for limits and cached responses shared by several gateways. Unset: each process has its own.',
  ),
  'redis.prefix': text(
    'gw:',
    'Prefix of every Redis key; two installations with different prefixes can share one Redis.',
  ),
  'redis.timeout_ms': count(
    100,
    'Time in milliseconds after which Redis counts as unavailable for a request; limits are then counted in this process.',
    { min: 10, max: 60_000 },
  ),
  node_id: text(
    '',
    'Id of this process among several on one database. Unset: generated and stored in the data directory.',
  ),
  'secrets.values': secretMap('Values of `$secret_conf.NAME` in definitions, by name.'),
  'secrets.directory': text(
    '',
    'Directory of secret files: the file NAME is the value of `$secret_file.NAME` in definitions.',
  ),
  master_key: secret(
    'Key that encrypts secrets at rest, at least 32 characters. Unset: generated and stored in the data directory.',
  ),

  'bootstrap.organisation': text('Default organisation', 'Name of the organisation created at first start.'),
  'bootstrap.email': text('admin@example.org', 'E-mail address of the administrator created at first start.'),
  'bootstrap.password': secret('Password of that administrator. Generated at first start if unset.'),
  'bootstrap.access_key': secret('Access key of that administrator for `/api/*`. Generated at first start if unset.'),

  'keys.at_rest': choice(
    ['encrypted', 'hashed'],
    'encrypted',
    'Storage of key ids: `encrypted` ids can be read back, of `hashed` ones only the hash is stored.',
  ),
  'keys.hash_function': choice(
    ['murmur32', 'murmur64', 'murmur128', 'sha256'],
    'murmur64',
    'Hash function of `key_hash`.',
  ),
  'keys.allow_master_keys': flag(false, 'Accepts keys without access rights for every API of their organisation.'),
  'keys.token_for_certificate': flag(
    false,
    'Accepts the id of a key in place of the client certificate the key is bound to. Unsafe: that id is no secret.',
  ),
  'keys.cache_size': count(
    200_000,
    'Maximum number of keys cached per traffic thread, about 2 KiB each. Further keys in use are read from the database repeatedly.',
    { min: 100, max: 10_000_000 },
  ),
  'keys.min_length': count(3, 'Minimum length of keys, and of custom key names.', {
    min: 1,
    max: 64,
  }),

  'keys.lifetime_seconds': count(
    0,
    'Time in seconds for which a key is stored after its creation, unless the key or its APIs set one; 0 for ever.',
  ),
  'keys.force_lifetime': flag(false, 'Applies `keys.lifetime_seconds` to every key, overriding the key and its APIs.'),
  'keys.lifetime_respects_expiry': flag(false, 'Stores every key with a lifetime at least until it expires.'),
  'keys.actions_by_username': flag(
    true,
    'Accepts user names of basic authentication in place of key ids in management requests with `username=true`.',
  ),

  'limits.rate_algorithm': choice(
    ['window', 'sliding', 'fixed'],
    'window',
    'Algorithm of rate limits: `window` counts in windows that the first request opens, `sliding` over the preceding period, `fixed` in windows aligned to the clock.',
  ),
  'limits.organisations': flag(false, 'Counts all requests of an organisation against the limits of its own key.'),
  'limits.response_headers': choice(
    ['quota', 'rate', 'none', 'quota_or_zero'],
    'quota',
    'Content of the `X-RateLimit-*` response headers: the quota, the rate, or no headers. Omitted where there is no such limit; `quota_or_zero` sends `0` there.',
  ),
  'limits.ietf_headers': flag(false, 'Sends limits in `RateLimit` and `RateLimit-Policy` too.'),
  'limits.max_throttled_requests': count(
    1000,
    'Maximum number of requests of throttled keys in the queue of one traffic thread; more are refused.',
    {
      max: 1_000_000,
    },
  ),
  'limits.max_throttle_seconds': count(300, 'Maximum time in seconds for which one request is throttled in total.', {
    max: 3600,
  }),
  'limits.monitor_keys': flag(false, 'Emits an event when a key has used a share of its quota.'),
  'limits.monitor_organisations': flag(false, 'Emits an event when an organisation has used a share of its quota.'),
  'limits.monitor_percent': count(
    0,
    'Share of every quota, in percent, at which that event is emitted; 0 for the shares of the keys only.',
    {
      max: 100,
    },
  ),

  'jwks.cache_ttl_seconds': count(240, 'Time in seconds for which the key set of a token issuer is cached.', {
    min: 1,
    max: 604_800,
  }),
  'jwks.min_refresh_seconds': count(
    10,
    'Minimum time in seconds between two requests for a key set, after an unknown key or a failed request.',
    { max: 3600 },
  ),
  'oauth.code_ttl_seconds': count(250, 'Lifetime of an authorization code in seconds.', {
    min: 1,
    max: 3600,
  }),
  'oauth.token_ttl_seconds': count(3600, 'Lifetime of an access token in seconds.', { min: 1, max: 315_360_000 }),
  'oauth.refresh_token_ttl_seconds': count(1_209_600, 'Lifetime of a refresh token in seconds.', {
    min: 1,
    max: 315_360_000,
  }),
  'oauth.error_status': count(403, 'Status of error responses of the OAuth routes.', { min: 400, max: 499 }),
  'oauth.notification_retry_seconds': count(
    10,
    'Time in seconds after which a failed notification of a new token is sent again.',
    {
      max: 3600,
    },
  ),

  'tenants.grants': jsonObject(
    'Default grants of organisations other than the first, unless they have their own: `domains`, `paths`, `secrets`, `networks`, `max_apis`, `max_keys`, `max_policies`, `max_hooks`.',
  ),

  'policies.allow_unsafe_ids': flag(false, 'Accepts policy ids with characters outside letters, digits and `._-~`.'),
  'apis.owners_only': flag(
    true,
    'Restricts access to APIs with owners, and to their keys, policies and analytics, to these owners and administrators.',
  ),
  'apis.allow_duplicate_paths': flag(false, 'Accepts two APIs with the same domain and listen path.'),
  'apis.examples_index': text(
    '',
    'URL of an index of example APIs, which `GET /api/examples` lists. Empty: none, unless the request of a user with `apis:write` contains a public URL.',
  ),
  'apis.allow_classic_update_of_oas': flag(false, 'Accepts classic updates of OpenAPI-based definitions.'),

  'debug.timeout_ms': count(10_000, 'Time in milliseconds after which a test of a definition is aborted.', {
    min: 1,
    max: 50_000,
  }),

  'management.page_size': count(10, 'Number of items per page of a management list.', { min: 1, max: 1000 }),
  'management.max_body_bytes': count(
    5_242_880,
    'Maximum size in bytes of a request body of the management interfaces.',
    {
      min: 1024,
      max: 104_857_600,
    },
  ),
  'management.max_bulk_body_bytes': count(
    67_108_864,
    'Maximum size in bytes of a request body with many objects, such as that of `gw apply DIR`.',
    { min: 1024, max: 536_870_912 },
  ),
  'management.max_auth_failures_per_minute': count(
    600,
    'Maximum number of requests with wrong credentials per address, surface and minute that get 401; more get 429. Valid credentials are always accepted. 0 disables the limit.',
    { max: 1_000_000 },
  ),
  'management.trusted_proxies': list(
    'Addresses or networks of proxies whose `X-Forwarded-For` is trusted on the management listeners.',
  ),
  'management.unknown_members': choice(
    ['refuse', 'warn'],
    'refuse',
    'Handling of unknown members of a request body and unknown query parameters: `refuse` returns 400 with their names, `warn` accepts the request and lists them as `warnings`.',
  ),
  'management.max_event_streams': count(
    100,
    'Maximum number of open event streams (`GET /api/live`, `GET /api/logs/stream`) of the process; an organisation has at most 50, a user 10.',
    { max: 10_000 },
  ),
  'management.delete_requires_force': flag(
    false,
    'Refuses to delete an API, policy, certificate, webhook or user group that others depend on, unless the query has `force=true`. Without it only `force=false` refuses.',
  ),
  'management.idempotency_retention_seconds': count(
    86_400,
    'Number of seconds for which a create with the same `Idempotency-Key` gets the response of the first one.',
    { min: 1, max: 2_592_000 },
  ),
  'management.max_idempotency_keys': count(
    1000,
    'Maximum number of stored idempotency keys of one caller; the oldest are removed.',
    { min: 1, max: 100_000 },
  ),
  'management.validate_responses': flag(
    false,
    'Validates every response against its schema. For tests and development.',
  ),
  'users.password_min_length': count(6, 'Minimum length of passwords of dashboard users.', { min: 6, max: 128 }),
  'users.password_multi_case': flag(false, 'Requires both capital and small letters in passwords.'),
  'users.password_min_numeric': count(0, 'Minimum number of digits in passwords.', { max: 32 }),
  'users.password_min_special': count(
    0,
    'Minimum number of characters in passwords that are neither letters, digits nor blanks.',
    { max: 32 },
  ),
  'users.password_disable_sequential': flag(
    false,
    'Refuses passwords with three consecutive or equal characters, such as `abc` or `111`.',
  ),
  'users.password_history': count(0, 'Number of the last passwords of a user that cannot be set again.', { max: 24 }),
  'users.password_max_days': count(
    0,
    'Number of days after which passwords expire, for users whose own and whose group’s `password_max_days` is 0. 0 for never.',
    { max: 36_500 },
  ),
  'users.reset_first_password': flag(false, 'Requires a new password at the first sign-in of a user.'),
  'users.hide_access_keys': flag(false, 'Returns access keys of other users as empty text, also to administrators.'),
  'users.renew_own_access_key_only': flag(false, 'Forbids administrators to renew the access keys of other users.'),
  'sessions.idle_timeout_seconds': count(3600, 'Number of seconds without a request after which a session ends.', {
    min: 60,
    max: 2_592_000,
  }),
  'sessions.max_age_seconds': count(43_200, 'Number of seconds after the sign-in when a session ends in any case.', {
    min: 60,
    max: 31_536_000,
  }),
  'sessions.max_per_user': count(
    10,
    'Maximum number of sessions of one user; a further sign-in ends the oldest. 1 allows no parallel sessions.',
    { min: 1, max: 1000 },
  ),
  'sign_in.max_account_failures': count(
    10,
    'Maximum number of failed sign-ins of one account from one client address before it gets 429; ten times as many from all addresses together. 0 for no limit.',
    { max: 1_000_000 },
  ),
  'sign_in.max_address_failures': count(
    100,
    'Maximum number of failed sign-ins of one client address with any account before it gets 429. 0 for no limit.',
    { max: 1_000_000 },
  ),
  'sign_in.failure_window_seconds': count(900, 'Number of seconds for which failed sign-ins count.', {
    min: 1,
    max: 86_400,
  }),
  'sign_in.passkey_rp_id': text(
    '',
    'Domain that passkeys belong to (relying party id): the host of the dashboard, or a domain above it. Passkeys of another one do not work. Empty: the host of the first origin.',
  ),
  'sign_in.passkey_origins': list(
    'Origins of pages that may use passkeys, such as `https://dashboard.example.org`. Empty: that of `dashboard.url`.',
  ),
  'sign_in.hide_retry_after': flag(false, 'Omits the seconds after which a limited sign-in may be tried again.'),
  'sso.user_lookup': flag(
    false,
    'Account linking: a single sign-on whose verified e-mail address belongs to an account of the organisation opens a session of that account. Off: only for profiles with `SSOOnlyForRegisteredUsers`.',
  ),
  'sso.permission_defaults': jsonObject(
    'Permissions of every single sign-on without an account, name to level (`{"analytics":"read"}`); those of its user groups are added.',
  ),
  'sso.default_group_id': text('', 'User group of a single sign-on without an account that maps to no other.'),
  'rules.opa_url': text(
    '',
    'Base URL of an Open Policy Agent that evaluates the rules of organisations (`/api/org/opa`). Empty: this process evaluates them, in a subset of the language.',
  ),
  'rules.opa_token': secret('Bearer token for the Open Policy Agent.'),
  'rules.opa_timeout_ms': count(2000, 'Timeout of one request to the Open Policy Agent, in milliseconds.', {
    min: 1,
    max: 30_000,
  }),
  'sign_in.reset_ttl_seconds': count(1000, 'Number of seconds for which a mailed link to set a password is valid.', {
    min: 60,
    max: 86_400,
  }),
  'sign_in.link_ttl_seconds': count(
    86_400,
    'Number of seconds for which a link to set a password is valid that an administrator created.',
    { min: 60, max: 2_592_000 },
  ),
  'mail.smtp_url': secret(
    'Mail server as `smtp://user:password@host:port`, or `smtps://` for TLS from the start. Unset: no mail is sent.',
  ),
  'mail.from': text('', 'Sender of mails, such as `Gatewright <gw@example.org>`.'),
  'mail.require_tls': flag(true, 'Refuses a mail server on an `smtp:` URL that offers no STARTTLS.'),
  'mail.timeout_ms': count(10_000, 'Number of milliseconds that each step of sending a mail may take.', {
    min: 100,
    max: 60_000,
  }),
  'history.max_revisions': count(
    100,
    'Maximum number of stored revisions of an API, policy, webhook, certificate, user or user group; the oldest are removed.',
    { min: 1, max: 10_000 },
  ),
  'history.retention_days': count(
    365,
    'Number of days for which revisions are stored, the current state of an object excepted; 0 for ever.',
    { max: 36_500 },
  ),
  'audit.retention_days': count(90, 'Number of days for which audit records are stored; 0 for ever.', { max: 36_500 }),
  'analytics.enabled': flag(true, 'Records one analytics row for each request of a managed API.'),
  'analytics.retention_days': count(
    30,
    'Number of days for which usage, logged requests and results of uptime tests are stored; 0 for ever.',
    {
      max: 36_500,
    },
  ),
  'analytics.max_rows_per_minute': count(
    1000,
    'Maximum number of combinations of key, version, path, method, agent, country and status counted separately per API and minute. Beyond that requests are counted under the path, agent and country `other`, and beyond twice that under the key and method `other`.',
    { min: 1, max: 100_000 },
  ),
  'analytics.normalise_paths': flag(
    false,
    'Replaces numbers, UUIDs and ULIDs in counted paths: `/orders/17` counts as `/orders/{id}`.',
  ),
  'analytics.country_header': text(
    '',
    'Request header in which a trusted proxy (`gateway.trusted_proxies`) sends the country of the client, two letters of ISO 3166-1. Empty: no country is recorded.',
  ),
  'analytics.ignored_addresses': list('Addresses or networks whose requests are not recorded.'),
  'analytics.raw_log': flag(true, 'Stores single requests in addition to their counts, for `GET /api/logs`.'),
  'analytics.max_log_rows': count(100_000, 'Maximum number of single requests stored; the oldest are deleted first.', {
    max: 100_000_000,
  }),
  'transforms.on_failure': choice(
    ['refuse', 'pass'],
    'refuse',
    'Handling of a body on which a template or jq filter fails: `refuse` returns an error, `pass` logs it and forwards the body untransformed. A body or transform beyond its bounds is always refused. `pass` also serves APIs with an unknown response processor.',
  ),
  'templates.directory': text(
    '',
    'Directory of the template files of definitions. Empty: definitions cannot use template files.',
  ),
  'templates.max_steps': count(
    200_000,
    'Maximum number of steps of a body template or a jq filter per body; beyond it the request is refused.',
    {
      min: 1000,
      max: 100_000_000,
    },
  ),
  'events.handlers': objectLists(
    'Event handlers of the operator, by event, in the format of `event_handlers.events` of a classic definition. They receive the events of every API, and of created, changed and deleted keys.',
  ),
  'events.max_queued': count(
    1000,
    'Maximum number of webhook deliveries of one organisation in the queue; further events are dropped and counted.',
    { min: 1, max: 1_000_000 },
  ),
  'events.timeout_ms': count(10_000, 'Time in milliseconds after which a request to a webhook is aborted.', {
    min: 10,
    max: 60_000,
  }),
  'events.max_attempts': count(8, 'Maximum number of attempts of a webhook delivery before it becomes a dead letter.', {
    min: 1,
    max: 50,
  }),
  'events.retry_interval_ms': count(
    5000,
    'Time in milliseconds before the next attempt of a failed webhook delivery; doubled each time, up to an hour.',
    { min: 10, max: 3_600_000 },
  ),
  'events.max_log_rows': count(
    10_000,
    'Maximum number of finished webhook deliveries stored per organisation; the oldest are deleted first.',
    {
      max: 1_000_000,
    },
  ),
  'events.retention_days': count(
    14,
    'Number of days for which finished webhook deliveries, delivered or dead letter, are stored.',
    {
      min: 1,
      max: 3650,
    },
  ),
  'events.certificate_expiry_days': count(
    30,
    'Number of days before the expiry of a certificate at which an event is emitted.',
    {
      max: 3650,
    },
  ),
  'cache.max_memory_bytes': count(
    67_108_864,
    'Maximum memory of the response cache in bytes without Redis, divided evenly among the traffic threads; each has its own. 0 disables it.',
  ),
  'cache.max_entry_bytes': count(1_048_576, 'Maximum size in bytes of a response body that is cached.'),
  'cache.honour_request_cache_control': flag(
    false,
    'Honours `Cache-Control` of requests to the response cache (`no-cache`, `max-age`, `min-fresh`, `only-if-cached`). `no-store` is always honoured.',
  ),
  'metrics.public': flag(false, 'Serves `/metrics` on the listener of the dashboard without authentication.'),
  'shutdown.delay_seconds': count(
    0,
    'Time in seconds after SIGTERM for which `/ready` returns 503 while requests are still accepted, until load balancers have removed the gateway. The grace period begins after it.',
    { max: 3600 },
  ),
  'shutdown.grace_seconds': count(30, 'Time in seconds after SIGTERM after which unfinished requests are aborted.', {
    max: 3600,
  }),

  'log.level': choice(['debug', 'info', 'warn', 'error', 'silent'], 'info', 'Minimum level of log lines.'),
  'log.format': choice(['json', 'text'], 'json', 'Format of log lines: JSON, or human-readable text.'),
};

export type SettingName = keyof typeof settingsTable;
export type Settings = { readonly [K in SettingName]: ReturnType<(typeof settingsTable)[K]['read']> };
