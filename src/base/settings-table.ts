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
  role: choice(['all', 'gateway', 'dashboard', 'portal'], 'all', 'Which parts this process runs.'),
  data_dir: text('./data', 'Directory of the embedded database, the master key and `credentials.json`.'),
  threads: count(0, 'Traffic threads; 0 means one for each processor core.', { max: 256 }),
  production: flag(false, 'Refuses to start with secrets that are short or well known.'),

  'gateway.host': text('0.0.0.0', 'Address the gateway listens on for API traffic.'),
  'gateway.port': port(8080, 'Port for API traffic. 0 takes any free port.'),
  'gateway.secret': secret(
    'Secret of the `/gw/*` interface, sent as `X-Gw-Authorization`. Made at first start if unset.',
  ),
  'gateway.trusted_proxies': list('Addresses or networks whose `X-Forwarded-For` is trusted for API traffic.'),
  'gateway.listen_path_match': choice(
    ['strict', 'prefix'],
    'strict',
    'Whether `/app` answers only `/app` and what is below it, or `/apple` too.',
  ),
  'gateway.endpoint_match': choice(
    ['strict', 'prefix', 'suffix', 'loose'],
    'strict',
    'How patterns of endpoint lists fit a path: as a whole, from its beginning, up to its end, or anywhere in it.',
  ),
  'gateway.endpoint_ignore_case': flag(false, 'Lets patterns of endpoint lists fit in any case.'),
  'gateway.allowed_urls_whole_path': flag(
    false,
    'Lets `allowed_urls` of keys fit the whole path too, listen path included, and not only what is below it.',
  ),
  'gateway.api_id_paths': flag(false, 'Lets APIs answer at `/` and their id too, where no API has that listen path.'),
  'gateway.encoded_slashes': choice(
    ['refuse', 'keep'],
    'refuse',
    'What happens to requests with `%2F` or `%5C` in the path.',
  ),
  'gateway.double_encoding': choice(
    ['refuse', 'pass'],
    'refuse',
    'What happens to requests with `%25` before two hexadecimal digits in the path, which is another path to an upstream that decodes twice.',
  ),
  'gateway.client_claim_headers': list(
    'Headers about the client that are dropped unless a trusted proxy sends them, beside the usual ones: names, or beginnings of names with `*` behind. A name with `!` in front is passed on as it is.',
  ),
  'gateway.path_parameters': choice(
    ['check', 'pass', 'refuse'],
    'check',
    'What happens to requests with `;` in the path, behind which some upstreams see parameters: they are refused where a rule says something else without them, passed as written, or always refused.',
  ),
  'gateway.max_header_bytes': count(65_536, 'Largest head of a request.', { min: 4096, max: 1_048_576 }),
  'gateway.headers_timeout_ms': count(20_000, 'How long a client may take to send the head of a request.', {
    min: 1000,
  }),
  'gateway.request_timeout_ms': count(300_000, 'How long a client may take to send a whole request. 0 is for ever.'),
  'gateway.min_body_bytes_per_second': count(
    500,
    'How fast a client sends the body of a request at least, while the gateway waits for it; a slower one gets 408. Streams of gRPC to HTTP/2 upstreams may pause. 0 sets no minimum.',
    { max: 1_000_000 },
  ),
  'gateway.min_body_rate_window_ms': count(
    15_000,
    'How much waiting for a body that minimum is measured over, and so how long a client may pause.',
    { min: 100, max: 600_000 },
  ),
  'gateway.max_wrong_passwords_per_minute': count(
    30,
    'Wrong passwords of one user from one client address in a minute; then they get 429 unchecked. All users of an address together have ten times as many. 0 switches the limit off.',
    { max: 1_000_000 },
  ),
  'gateway.max_headers': count(200, 'Largest number of headers of a request.', { min: 10, max: 2000 }),
  'gateway.keep_alive_timeout_ms': count(75_000, 'How long a connection may be idle between two requests.', {
    min: 1000,
  }),
  'gateway.write_timeout_ms': count(60_000, 'How long a response may wait for a client that reads nothing.', {
    min: 1000,
  }),
  'gateway.max_connections': count(20_000, 'Client connections of one traffic thread on one port.', {
    min: 1,
  }),
  'gateway.extra_ports': list(
    'Ports, or ranges such as `9000-9010`, that APIs may have for themselves. None: every API answers on the gateway’s port.',
  ),
  'gateway.max_batch_requests': count(100, 'Largest number of requests in one batch.', { min: 1, max: 10_000 }),
  'gateway.max_batch_bytes': count(10_485_760, 'Largest batch request, and most bytes of all its responses together.', {
    min: 1024,
  }),
  'gateway.batch_timeout_ms': count(
    30_000,
    'How long a batch request may take; requests that are not answered by then fail.',
    {
      min: 1,
    },
  ),
  'gateway.http2': flag(
    true,
    'Takes requests over HTTP/2 too: over TLS by agreement, in the clear from clients that begin in it.',
  ),
  'gateway.http1_engine': choice(
    ['native', 'node'],
    'native',
    'Implementation of HTTP/1.1 on the traffic path: the gateway’s own, or that of Node. `node` will be removed with the next release.',
  ),
  'gateway.tls.enabled': flag(false, 'Takes requests on the gateway’s port over TLS only.'),
  'gateway.tls.certificate_file': text(
    '',
    'PEM file of the certificate, with its chain, for server names no API has a certificate for. Read again when it changes.',
  ),
  'gateway.tls.key_file': text('', 'PEM file of the private key of that certificate.'),
  'gateway.tls.min_version': choice(['1.2', '1.3'], '1.2', 'Oldest TLS version clients may speak.'),
  'gateway.websockets': flag(true, 'Passes WebSocket upgrades on.'),
  'gateway.close_connections': flag(false, 'Closes the connection of a client after every response.'),
  'gateway.generator_header': flag(
    true,
    'Names the product in `X-Generator` where the gateway itself refuses a request.',
  ),
  'gateway.error_messages': messageOverrides(
    'Status and words of refusals in place of the usual ones, by the codes of [refusals.md](refusals.md).',
  ),
  'gateway.error_overrides': {
    ...objectLists('Error overrides for every API: the same rules by status that definitions may have.'),
    secret: false,
  },
  'gateway.version_header': headerName(
    'Response header with the name of the version where the default version was used. Empty: no header.',
  ),
  'gateway.health_name': pathSegment('hello', 'Name of the path on the gateway’s listener that says how each part is.'),
  'gateway.ready_name': pathSegment(
    'ready',
    'Name of the path on the gateway’s listener that says whether it can serve.',
  ),
  'gateway.segments': list(
    'Tags of which an API needs one to be reachable on this gateway. None: every API is, tagged or not.',
  ),
  'gateway.max_request_body_bytes': count(0, 'Largest body of a request; a larger one gets 413. 0 sets no limit.'),
  'gateway.max_response_body_bytes': count(
    0,
    'Largest body of an upstream response; a larger one becomes a 500, or is aborted once it has begun. 0 sets no limit.',
  ),
  'gateway.max_buffered_body_bytes': count(
    10_485_760,
    'Largest body that is buffered to transform or validate it. A larger request gets 413, a larger response 500.',
    { min: 1024 },
  ),
  'gateway.max_body_values': count(
    200_000,
    'Most values of a JSON body, or elements and attributes of an XML body, that is checked or transformed. A request with more gets 413, or 400 where it is checked; a response with more becomes a 500.',
    { min: 100, max: 100_000_000 },
  ),
  'gateway.max_decompression_ratio': count(
    200,
    'How many times its packed size a body may have unpacked, where it has more than a MiB. A larger request gets 413, a larger response becomes a 500.',
    { min: 1, max: 1_000_000 },
  ),
  'gateway.require_content_length': flag(
    true,
    'Refuses requests without `Content-Length` where a definition limits the size of bodies. Otherwise the limit is enforced as the body arrives.',
  ),
  'gateway.classic_mocks_first': flag(
    false,
    'Answers mocks of classic definitions before authentication, and records no analytics for them.',
  ),
  'gateway.max_loops': count(5, 'How often one request may loop from API to API inside the gateway.', {
    min: 1,
    max: 100,
  }),
  'upstream.timeout_ms': count(
    30_000,
    'How long an upstream may take until its response begins, and then until a buffered response is complete.',
    { min: 1 },
  ),
  'upstream.http2': flag(false, 'Lets upstreams behind TLS choose HTTP/2, which gRPC needs.'),
  'upstream.connect_timeout_ms': count(10_000, 'How long connecting to an upstream may take.', { min: 1 }),
  'upstream.max_connections': count(512, 'Connections one traffic thread keeps to one upstream.', {
    min: 1,
    max: 100_000,
  }),
  'upstream.max_streams': count(
    1000,
    'Requests one traffic thread has under way at once to one upstream over HTTP/2. An upstream may announce a smaller number.',
    { min: 1, max: 100_000 },
  ),
  'upstream.max_queued_requests': count(
    1000,
    'Requests of one traffic thread that may wait for a connection to one upstream; more get 503.',
    { min: 1, max: 100_000 },
  ),
  'upstream.queue_timeout_ms': count(
    10_000,
    'How long a request may wait for a connection to an upstream before it gets 503.',
    { min: 1 },
  ),
  'upstream.max_share_percent': count(
    50,
    'How many of the connections to one upstream, and of the places to wait for one, a single client address (of IPv6 its /64), key or, beside others, organisation may hold.',
    { min: 1, max: 100 },
  ),
  'upstream.body_preread_bytes': count(
    65_536,
    'How much of a request body arrives before the request gets a connection to an HTTP/1.1 upstream; a smaller body arrives whole. 0 forwards at once.',
    { max: 16_777_216 },
  ),
  'upstream.body_preread_total_bytes': count(
    67_108_864,
    'Bytes of request bodies that one traffic thread holds this way; where they are used up bodies are forwarded at once.',
    { max: 17_179_869_184 },
  ),
  'outbound.refused_addresses': listWithCheck(
    validateRefusedAddresses,
    'Addresses or networks, with or without a port (`10.0.0.5`, `10.0.0.0/8`, `10.0.0.5:3000`, `[fd00::5]:3000`), that nothing connects to: no upstream, no webhook, no key set. Unspecified, link-local and cloud metadata addresses and the management listeners of the process are refused anyway.',
  ),
  'uptime.interval_ms': count(10_000, 'How often upstream hosts are tested, where a definition asks for it.', {
    min: 50,
    max: 600_000,
  }),
  'uptime.failures': count(3, 'Tests in a row that fail before a host counts as down, or pass before it is up again.', {
    min: 1,
    max: 100,
  }),
  'discovery.cache_ttl_seconds': count(
    120,
    'How long the response of a service registry is cached where the definition does not say.',
    { min: 1, max: 86_400 },
  ),
  'gateway.control_port': port(8081, 'Port of `/gw/*` when the role is `gateway` alone.'),
  'gateway.control_on_traffic_port': flag(
    false,
    'Answers `/gw/*` on the port for API traffic too, for requests with the gateway secret. For the roles `all` and `gateway`.',
  ),
  'gateway.url': text(
    '',
    'Address clients use for API traffic, as shown in responses. Empty: built from host and port.',
  ),

  'dashboard.host': text('127.0.0.1', 'Address the dashboard listens on. Loopback unless you say otherwise.'),
  'dashboard.port': port(3000, 'Port of `/api/*`, `/admin/*`, `/gw/*`, and `/docs`. 0 takes any free port.'),
  'admin.secret': secret('Secret of the `/admin/*` interface, sent as `Admin-Auth`. Made at first start if unset.'),

  'portal.host': text('127.0.0.1', 'Address the developer portal listens on. Loopback unless you say otherwise.'),
  'portal.port': port(3001, 'Port of `/portal-api/*` and `/docs`. 0 takes any free port.'),
  'portal.token': secret(
    'Token of the `/portal-api/*` interface, sent as `Authorization`. Made at first start if unset.',
  ),

  'database.url': secret('PostgreSQL as `postgres://user:password@host/name`. Unset: SQLite in the data directory.'),
  'database.max_connections': count(10, 'Connections to PostgreSQL this process may hold.', { min: 1, max: 1000 }),
  'database.config_backup': flag(
    true,
    'With PostgreSQL: keeps a sealed backup of the configuration in the data directory, for a start while the database is unavailable.',
  ),
  'redis.url': secret(
    'Redis as `redis://host:port`, for several gateways that share limits and cached responses. Unset: this process alone.',
  ),
  'redis.prefix': text('gw:', 'Put before every Redis name, so that two installations can share one Redis.'),
  'redis.timeout_ms': count(
    100,
    'How long a request waits for Redis. A slower Redis counts as unavailable, and limits are counted in this process.',
    { min: 10, max: 60_000 },
  ),
  node_id: text(
    '',
    'Names this process among several on one database, for what it keeps there. Unset: made and kept in the data directory.',
  ),
  'secrets.values': secretMap('What `$secret_conf.NAME` stands for in definitions.'),
  'secrets.directory': text('', 'Directory of files of which each is a secret: `$secret_file.NAME` in definitions.'),
  master_key: secret(
    'Key that protects secrets at rest, at least 32 characters. Unset: made and kept in the data directory.',
  ),

  'bootstrap.organisation': text('Default organisation', 'Name of the organisation made at first start.'),
  'bootstrap.email': text('admin@example.org', 'E-mail address of the administrator made at first start.'),
  'bootstrap.password': secret('Password of that administrator. Made at first start if unset.'),
  'bootstrap.access_key': secret('Access key of that administrator for `/api/*`. Made at first start if unset.'),

  'keys.at_rest': choice(
    ['encrypted', 'hashed'],
    'encrypted',
    'Whether key ids can be read back, or only their hashes.',
  ),
  'keys.hash_function': choice(
    ['murmur32', 'murmur64', 'murmur128', 'sha256'],
    'murmur64',
    'How `key_hash` is made from a key id.',
  ),
  'keys.allow_master_keys': flag(false, 'Lets a key without access rights reach every API of its organisation.'),
  'keys.token_for_certificate': flag(
    false,
    'Lets clients present the id of a key in place of the client certificate it is bound to. Unsafe: that id is no secret.',
  ),
  'keys.cache_size': count(
    200_000,
    'Keys a traffic thread holds in memory, about 2 KiB each. Those in use beyond that are read again and again.',
    { min: 100, max: 10_000_000 },
  ),
  'keys.min_length': count(3, 'Shortest key that is accepted, and shortest custom name of one.', {
    min: 1,
    max: 64,
  }),

  'keys.lifetime_seconds': count(
    0,
    'How long after it was made a key is known where neither the key nor its APIs say. 0 keeps it.',
  ),
  'keys.force_lifetime': flag(false, 'Lets `keys.lifetime_seconds` count for every key, whatever it and its APIs say.'),
  'keys.lifetime_respects_expiry': flag(false, 'Keeps every key with a lifetime at least until it expires.'),
  'keys.actions_by_username': flag(true, 'Lets management requests name a basic-auth user with `username=true`.'),

  'limits.rate_algorithm': choice(
    ['window', 'sliding', 'fixed'],
    'window',
    'How rates are counted: in windows that the first request opens, over the time just past, or in windows by the clock.',
  ),
  'limits.organisations': flag(false, 'Counts all requests of an organisation against the limits of its own key.'),
  'limits.response_headers': choice(
    ['quota', 'rate', 'none', 'quota_or_zero'],
    'quota',
    'What `X-RateLimit-*` shows clients: their quota, their rate, or nothing. Left out where there is no such limit; `quota_or_zero` says `0` there.',
  ),
  'limits.ietf_headers': flag(false, 'Sends limits in `RateLimit` and `RateLimit-Policy` too.'),
  'limits.max_throttled_requests': count(
    1000,
    'Requests one traffic thread may queue for throttled keys; more are refused.',
    {
      max: 1_000_000,
    },
  ),
  'limits.max_throttle_seconds': count(300, 'How long one request may be throttled in all.', { max: 3600 }),
  'limits.monitor_keys': flag(false, 'Tells handlers when a key has used so much of its quota.'),
  'limits.monitor_organisations': flag(false, 'Tells handlers when an organisation has used so much of its quota.'),
  'limits.monitor_percent': count(
    0,
    'The share of every quota at which an event is emitted. 0: only where a key says.',
    {
      max: 100,
    },
  ),

  'jwks.cache_ttl_seconds': count(240, 'How long the key set of a token issuer is cached before it is read again.', {
    min: 1,
    max: 604_800,
  }),
  'jwks.min_refresh_seconds': count(
    10,
    'Shortest time between two reads of a key set, after an unknown key or a failed read.',
    { max: 3600 },
  ),
  'oauth.code_ttl_seconds': count(250, 'How long an authorization code can be exchanged for a token.', {
    min: 1,
    max: 3600,
  }),
  'oauth.token_ttl_seconds': count(3600, 'How long an access token is valid.', { min: 1, max: 315_360_000 }),
  'oauth.refresh_token_ttl_seconds': count(1_209_600, 'How long a refresh token is valid.', {
    min: 1,
    max: 315_360_000,
  }),
  'oauth.error_status': count(403, 'Status of refusals by the OAuth routes.', { min: 400, max: 499 }),
  'oauth.notification_retry_seconds': count(10, 'How long a notice of a new token waits before it is sent again.', {
    max: 3600,
  }),

  'tenants.grants': jsonObject(
    'What organisations other than the first may use unless their own grants say otherwise: `domains`, `paths`, `secrets`, `networks`, `max_apis`, `max_keys`, `max_policies`, `max_hooks`.',
  ),

  'policies.allow_unsafe_ids': flag(false, 'Accepts policy ids with characters outside letters, digits and `._-~`.'),
  'apis.owners_only': flag(
    true,
    'Shows APIs that have owners, and their keys, policies and analytics, to these owners and administrators only.',
  ),
  'apis.allow_duplicate_paths': flag(false, 'Accepts two APIs with the same domain and listen path.'),
  'apis.examples_index': text(
    '',
    'Address of an index of example APIs, which `GET /api/examples` lists. Empty: none, unless a request of a user with `apis:write` names a public one.',
  ),
  'apis.allow_classic_update_of_oas': flag(false, 'Lets the classic update replace an OpenAPI-based definition.'),

  'debug.timeout_ms': count(10_000, 'How long one test of a definition may take.', { min: 1, max: 50_000 }),

  'management.page_size': count(10, 'Items on a page of a management list.', { min: 1, max: 1000 }),
  'management.max_body_bytes': count(5_242_880, 'Largest request body the management interfaces read.', {
    min: 1024,
    max: 104_857_600,
  }),
  'management.max_auth_failures_per_minute': count(
    600,
    'Wrong credentials of one address on one surface in a minute that get 401; more get 429. Right ones always pass. 0 switches the limit off.',
    { max: 1_000_000 },
  ),
  'management.trusted_proxies': list(
    'Addresses or networks whose `X-Forwarded-For` is trusted on the management listeners.',
  ),
  'management.unknown_members': choice(
    ['refuse', 'warn'],
    'refuse',
    'What becomes of members that a request body may not have: `refuse` answers 400 and names them, `warn` accepts the body and lists them as `warnings`.',
  ),
  'management.validate_responses': flag(
    false,
    'Validates every response against its declared shape. For tests and development.',
  ),
  'users.password_min_length': count(6, 'Shortest password of a dashboard user.', { min: 6, max: 128 }),
  'users.hide_access_keys': flag(false, 'Shows the access keys of other users as empty text, also to administrators.'),
  'users.renew_own_access_key_only': flag(false, 'Keeps administrators from renewing the access keys of other users.'),
  'audit.retention_days': count(90, 'Days an audit record is kept. 0 keeps it for ever.', { max: 36_500 }),
  'analytics.enabled': flag(true, 'Records one analytics row for each request of a managed API.'),
  'analytics.retention_days': count(
    30,
    'Days that usage, logged requests and results of uptime tests are kept. 0 keeps them for ever.',
    {
      max: 36_500,
    },
  ),
  'analytics.max_rows_per_minute': count(
    1000,
    'Combinations of key, version, path and status counted apart per API and minute; more count as the path `other`.',
    { min: 1, max: 100_000 },
  ),
  'analytics.normalise_paths': flag(
    false,
    'Counts paths with numbers, UUIDs and ULIDs in them as one: `/orders/17` as `/orders/{id}`.',
  ),
  'analytics.ignored_addresses': list('Addresses or networks whose requests are not recorded.'),
  'analytics.raw_log': flag(true, 'Stores single requests beside their counts, for `GET /api/logs`.'),
  'analytics.max_log_rows': count(100_000, 'Single requests stored; the oldest are deleted first.', {
    max: 100_000_000,
  }),
  'transforms.on_failure': choice(
    ['refuse', 'pass'],
    'refuse',
    'What becomes of a body that a template or jq filter fails on: `refuse` answers with an error, `pass` logs it and sends the body on untransformed. A body or transform beyond its bounds is refused in either case. `pass` also serves APIs that name an unknown response processor.',
  ),
  'templates.directory': text(
    '',
    'Directory of the template files that definitions may name. Empty: they may name none.',
  ),
  'templates.max_steps': count(
    200_000,
    'Steps a body template or a jq filter may take for one body; then the request is refused.',
    {
      min: 1000,
      max: 100_000_000,
    },
  ),
  'events.handlers': objectLists(
    'Handlers of the operator, by event: what `event_handlers.events` is in a classic definition. They hear of every API, and of keys that are made, changed and removed.',
  ),
  'events.max_queued': count(
    1000,
    'Webhook deliveries of one organisation that may wait; events beyond that are dropped and counted.',
    { min: 1, max: 1_000_000 },
  ),
  'events.timeout_ms': count(10_000, 'How long a webhook may take to answer.', { min: 10, max: 60_000 }),
  'events.max_attempts': count(8, 'Attempts of a webhook delivery before it becomes a dead letter.', {
    min: 1,
    max: 50,
  }),
  'events.retry_interval_ms': count(
    5000,
    'How long a failed webhook delivery waits before its next attempt; doubled each time, up to an hour.',
    { min: 10, max: 3_600_000 },
  ),
  'events.max_log_rows': count(
    10_000,
    'Finished webhook deliveries kept for each organisation; the oldest are deleted first.',
    {
      max: 1_000_000,
    },
  ),
  'events.retention_days': count(14, 'Days a finished webhook delivery is kept, delivered or dead letter.', {
    min: 1,
    max: 3650,
  }),
  'events.certificate_expiry_days': count(30, 'How many days before its expiry an event warns of a certificate.', {
    max: 3650,
  }),
  'cache.max_memory_bytes': count(
    67_108_864,
    'Memory of the response cache without Redis, divided evenly among the traffic threads; each has its own. 0 disables it.',
  ),
  'cache.max_entry_bytes': count(1_048_576, 'Largest response body that is cached.'),
  'cache.honour_request_cache_control': flag(
    false,
    'Honours `Cache-Control` of requests to the response cache (`no-cache`, `max-age`, `min-fresh`, `only-if-cached`). `no-store` is always honoured.',
  ),
  'metrics.public': flag(false, 'Serves `/metrics` on the dashboard’s listener to every client that can reach it.'),
  'shutdown.delay_seconds': count(
    0,
    'How long `/ready` says 503 after SIGTERM while requests are still taken, so that balancers send no more. The grace time begins after it.',
    { max: 3600 },
  ),
  'shutdown.grace_seconds': count(30, 'How long requests under way may take to finish after SIGTERM.', { max: 3600 }),

  'log.level': choice(['debug', 'info', 'warn', 'error', 'silent'], 'info', 'Least serious log line that is written.'),
  'log.format': choice(['json', 'text'], 'json', 'JSON lines for machines, or text for people.'),
};

export type SettingName = keyof typeof settingsTable;
export type Settings = { readonly [K in SettingName]: ReturnType<(typeof settingsTable)[K]['read']> };
