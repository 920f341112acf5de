import { validateRefusedAddresses } from './address-policy.ts';
import { checkOrigins, findRobotsFault } from './portal-setting-rules.ts';
import {
  choice,
  choiceList,
  collectorUrl,
  count,
  flag,
  headerName,
  hexColor,
  jsonObject,
  list,
  listWithCheck,
  messageOverrides,
  multilineText,
  objectList,
  objectLists,
  pathSegment,
  port,
  secret,
  secretMap,
  share,
  signInAddress,
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
  'gateway.upstream_error_status': choice(
    ['standard', 'legacy'],
    'standard',
    'Status of responses to requests whose upstream is unreachable or sends no valid response: 502, or 500 with `legacy`. Timeouts are 504, a busy upstream 503 in both.',
  ),
  'gateway.error_overrides': {
    ...objectLists('Error overrides for every API, by status, with the same rules as in definitions.'),
    secret: false,
  },
  'gateway.request_id_header': headerName(
    'Header with an id of each request, such as `X-Request-Id`: read from trusted proxies (`gateway.trusted_proxies`), generated otherwise, and sent to upstreams. Empty: the header of a client is forwarded like any other.',
  ),
  'gateway.request_id_in_response': flag(
    true,
    'Sends the header of `gateway.request_id_header` in responses too, in place of one of the upstream.',
  ),
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
  'graphql.max_document_bytes': count(
    262_144,
    'Maximum length of a GraphQL document in bytes; a longer one gets 400.',
    { min: 100, max: 10_485_760 },
  ),
  'graphql.max_tokens': count(5000, 'Maximum number of tokens of a GraphQL document.', { min: 10, max: 100_000 }),
  'graphql.max_fields': count(10_000, 'Maximum number of fields of a GraphQL document, with its fragments expanded.', {
    min: 1,
    max: 1_000_000,
  }),
  'graphql.max_aliases': count(
    100,
    'Maximum number of aliases of a GraphQL document, with its fragments expanded; 0 for no limit.',
  ),
  'graphql.max_directives': count(
    100,
    'Maximum number of directives of a GraphQL document, with its fragments expanded; 0 for no limit.',
  ),
  'graphql.max_query_depth': count(
    0,
    'Maximum depth of GraphQL operations of every client; a deeper one gets 403. 0 for no limit. Keys may have lower limits.',
  ),
  'graphql.max_cost': count(
    0,
    'Maximum cost of a GraphQL operation: its fields, those of a list once for each item. 0 for no limit.',
  ),
  'graphql.default_list_size': count(
    10,
    'Number of items of a list without a size argument, for the cost of a GraphQL operation.',
    { min: 1, max: 1_000_000 },
  ),
  'graphql.max_batch_operations': count(
    0,
    'Maximum number of operations of a GraphQL batch (a JSON list); 0 refuses batches.',
    { max: 1000 },
  ),
  'graphql.max_cached_document_bytes': count(
    16_777_216,
    'Memory of a traffic thread for validated GraphQL documents, in bytes; the least recently used are evicted.',
  ),
  'graphql.execution_timeout_ms': count(
    30_000,
    'Maximum time of an operation of a GraphQL data graph with all its requests to data sources, in milliseconds; an enforced timeout of the API has precedence.',
    { min: 1, max: 600_000 },
  ),
  'graphql.max_source_requests': count(
    100,
    'Maximum number of requests to data sources for one operation of a GraphQL data graph; equal ones count once.',
    { min: 1, max: 100_000 },
  ),
  'graphql.max_concurrent_source_requests': count(
    10,
    'Maximum number of requests to data sources that one operation of a GraphQL data graph has in progress; others wait.',
    { min: 1, max: 1000 },
  ),
  'graphql.max_socket_operations': count(
    100,
    'Maximum number of operations that one WebSocket of a GraphQL API has in progress; a further one gets an error message.',
    { min: 1, max: 100_000 },
  ),
  'graphql.max_kafka_consumers': count(
    100,
    'Maximum number of subscriptions at Kafka sources that one GraphQL data graph has in a traffic thread; a further one gets an error.',
    { min: 1, max: 10_000 },
  ),
  'graphql.socket_ping_interval_ms': count(
    30_000,
    'Interval of Ping frames in WebSockets of GraphQL clients, and of sources of subscriptions, in milliseconds. The end that sends nothing between two of them, no Pong frame either, is disconnected. 0 sends none.',
    { max: 3_600_000 },
  ),
  'graphql.schema_update_poll_seconds': count(
    60,
    'Interval in seconds at which one process looks for GraphQL APIs whose `schema_updates` are due; 0 updates none.',
    { max: 86_400 },
  ),
  'graphql.max_planned_selections': count(
    300,
    'Maximum number of selection sets of an operation of a GraphQL supergraph: one counts for each type that its value may have, and those below it for each of these again. The time of planning grows with its square.',
    { min: 1, max: 10_000 },
  ),
  'graphql.document_error_status': choice(
    ['negotiated', '400'],
    'negotiated',
    'Status of an invalid GraphQL document: `negotiated` is 200 for clients that accept `application/json` alone and 400 for others, as GraphQL over HTTP defines it.',
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
    'Maximum size in bytes of the head of an upstream response; a larger one becomes a 502.',
    { min: 1024, max: 1_048_576 },
  ),
  'upstream.max_response_headers': count(
    1000,
    'Maximum number of headers of an upstream response; one with more becomes a 502.',
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
  'upstream.ca_certificates': text(
    '',
    'Certificate authorities for upstreams with certificates of a private authority: the path of a PEM file, which is read again when it changes, or PEM. Definitions name further ones.',
  ),
  'upstream.ca_mode': choice(
    ['add', 'replace'],
    'add',
    'Whether `upstream.ca_certificates` are trusted in addition to the authorities of the system, or in their place.',
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
  'gateway.control_client_ca_file': text(
    '',
    'PEM file of authorities: clients of the port of `/gw/*` must present a certificate of one of them. For the role `gateway`, with `management.tls`. Reloaded when it changes.',
  ),
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
    'URL of the dashboard in browsers, for links. Session cookies are `Secure` if it begins with `https:`. Empty: `localhost` with the port of the dashboard.',
  ),
  'admin.secret': secret(
    'Secret of the `/admin/*` interface, sent as `Admin-Auth`. Generated at first start if unset.',
  ),

  'portal.host': text('127.0.0.1', 'Listen address of the developer portal; loopback by default.'),
  'portal.port': port(3001, 'Port of the developer portal, of `/portal-api/*` and `/docs`; 0 for any free port.'),
  'portal.url': text(
    '',
    'URL of the developer portal in browsers, for links in mails, feeds and the sitemap. Session cookies are `Secure` if it begins with `https:`. Empty: `localhost` with the port of the portal.',
  ),
  'portal.name': text(
    'Developer portal',
    'Name of the developer portal, in its header and in the titles of its pages.',
  ),
  'portal.accent_color': hexColor(
    'Accent colour of the developer portal; its lightness follows the theme, so that text stays readable. Empty: indigo.',
  ),
  'portal.visibility': choice(
    ['public', 'private', 'hidden'],
    'public',
    'Who can open pages of the developer portal: `public` everyone, `private` signed-in users, `hidden` its administrators. The sign-in pages stay open; search engines index `public` only, and `hidden` has no sign-up.',
  ),
  'portal.indexing': flag(
    false,
    'Lets search engines index public pages of the developer portal: `robots.txt` allows them and names the sitemap.',
  ),
  'portal.robots_txt': multilineText(
    'rules of RFC 9309',
    findRobotsFault,
    'Content of `/robots.txt` of a `public` developer portal, such as `User-agent: *` and `Disallow: /drafts`, each on a line. Empty: rules by `portal.indexing`. Without that setting pages stay marked as `noindex`.',
  ),
  'portal.embed_origins': listWithCheck(
    checkOrigins,
    'Origins such as `https://www.example.org` whose pages may show public pages of the developer portal in a frame: with `?embed=1`, without header and footer, as for signed-out visitors. Empty: no page is framed.',
  ),
  'portal.llms_txt': flag(false, 'Serves `/llms.txt`: links to public products as Markdown, for agents.'),
  'portal.try_it': choice(
    ['off', 'users', 'all'],
    'users',
    'Calls of operations from the API reference of the developer portal, through the server: `users` with credentials of the signed-in developer, `all` also by signed-out visitors where an API needs no credential.',
  ),
  'portal.secret_display': choice(
    ['once', 'reauthentication'],
    'once',
    'How the developer portal shows keys and client secrets: `once`, or each time after the developer has sent the password, and the code of a second factor. Users of single sign-on, who have no password, see them once.',
  ),
  'portal.second_factor': choice(
    ['optional', 'administrators', 'all'],
    'optional',
    'Users with a password who have to add an authenticator app on the profile page of the developer portal before any other private page, the admin app and `/portal-api` with their session: none, `administrators`, or `all`.',
  ),
  'portal.registration': choice(
    ['off', 'approval', 'open'],
    'off',
    'Sign-up of developers on the developer portal: `approval` leaves confirmed accounts inactive until an administrator activates them. Needs `mail.smtp_url`, for the confirmation of addresses.',
  ),
  'portal.max_rotation_overlap_seconds': count(
    7_776_000,
    'Maximum number of seconds for which an old key stays valid after a rotation on the developer portal; a longer overlap is refused. 0: old keys end at once.',
    { max: 7_776_000 },
  ),
  'portal.organisation_requests': choice(
    ['off', 'approval', 'open'],
    'approval',
    'Organisations that developers ask for on the developer portal: `approval` leaves the decision to an administrator, `open` creates them at once.',
  ),
  'portal.sso_creates_administrators': flag(
    false,
    'Creates an administrator (`provider-admin`) of the developer portal at the first sign-on through a profile for administrators. Otherwise only known administrators sign on.',
  ),
  'portal.sso_creates_developers': flag(
    true,
    'Creates a developer of the developer portal at the first sign-on through a profile for developers. Otherwise only accounts that exist sign on.',
  ),
  'portal.sso_custom_login_url': signInAddress(
    'Address that the sign-in page of the developer portal redirects to, such as the login URL of a single sign-on profile; `?local=1` shows the form all the same. A path that leads back to the sign-in page is refused. Empty: the form.',
  ),
  'portal.link_ttl_seconds': count(
    86_400,
    'Number of seconds for which mailed links of the developer portal are valid: to confirm an address, to set a password.',
    { min: 60, max: 2_592_000 },
  ),
  'portal.invitation_ttl_seconds': count(
    604_800,
    'Number of seconds for which the link of an invitation to the developer portal is valid.',
    { min: 60, max: 7_776_000 },
  ),
  'portal.expiry_notice_days': count(
    14,
    'Number of days before the expiry of a credential of the developer portal at which its owner is notified, and again when it has expired; 0 for no notices.',
    { min: 0, max: 365 },
  ),
  'portal.support': text('', 'Support address or URL of the developer portal, at the end of its mails.'),
  'portal.admin_mail': text(
    '',
    'Address that mails to administrators of the developer portal go to. Empty: to each active administrator.',
  ),
  'portal.max_queued_mails': count(10_000, 'Number of mails of the developer portal that may wait; more are dropped.', {
    min: 1,
    max: 1_000_000,
  }),
  'portal.mail_retention_days': count(30, 'Number of days that sent and failed mails stay in the outbox.', {
    min: 1,
    max: 3650,
  }),
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

  'bootstrap.enabled': flag(
    true,
    'Creates organisation, administrator and secrets in an empty database. `false`: this process waits a minute for another one to do so, then exits.',
  ),
  'bootstrap.organisation': text('Default organisation', 'Name of the organisation created at first start.'),
  'bootstrap.email': text('admin@example.org', 'E-mail address of the administrator created at first start.'),
  'bootstrap.password': secret(
    'Password of that administrator, at the first start and by `gw credentials --rotate`; generated if unset.',
  ),
  'bootstrap.access_key': secret(
    'Access key of that administrator for `/api/*`, at the first start and by `gw credentials --rotate`; generated if unset.',
  ),

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
    ['quota_or_rate', 'quota', 'rate', 'none', 'quota_or_zero'],
    'quota_or_rate',
    'Content of the `X-RateLimit-*` response headers: the quota, or the rate where there is none; the quota or the rate alone; or no headers. Omitted where there is no such limit; `quota_or_zero` sends `0` there.',
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
  'apis.max_routes_compared': count(
    100_000,
    'Maximum number of routes of other organisations that a new or moved route may be compared with; a route that more could overlap is refused.',
    { min: 1, max: 1_000_000 },
  ),
  'apis.fetch_timeout_ms': count(
    15_000,
    'Maximum time in milliseconds of fetching a file that a request names: documents to import, examples.',
    { min: 1, max: 60_000 },
  ),
  'apis.call_timeout_ms': count(
    30_000,
    'Maximum time in milliseconds of a request to the gateway through the dashboard (`POST /api/proxy`, `POST /api/explain`).',
    { min: 1, max: 60_000 },
  ),
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
  'management.plan_timeout_seconds': count(
    120,
    'Number of seconds after which a plan of configuration (`gw diff`) ends. It holds the lock for writes of configuration as long as an apply would.',
    { min: 1, max: 240 },
  ),
  'management.max_auth_failures_per_minute': count(
    600,
    'Maximum number of requests with wrong credentials per address, surface and minute that get 401; more get 429. Valid credentials are always accepted. 0 disables the limit.',
    { max: 1_000_000 },
  ),
  'management.trusted_proxies': list(
    'Addresses or networks of proxies whose `X-Forwarded-For` is trusted on the management listeners.',
  ),
  'management.tls.certificate_file': text(
    '',
    'PEM file of the certificate, with its chain, of the dashboard, the portal and the control interface, which then accept TLS only. Reloaded when it changes. Empty: no TLS.',
  ),
  'management.tls.key_file': text('', 'PEM file of the private key of that certificate.'),
  'management.tls.min_version': choice(['1.2', '1.3'], '1.2', 'Minimum TLS version of clients of these listeners.'),
  'management.tls.ca_file': text(
    '',
    'PEM file of authorities, besides the well-known ones, for requests of the management listeners: to gateways (`POST /api/proxy`, `POST /api/explain`), and to providers of the portal, dashboards of other installations. Read for each request.',
  ),
  'management.hsts_seconds': count(
    0,
    'Value of `max-age` in `Strict-Transport-Security`, sent with responses over TLS of the dashboard, the portal and the control interface, also where a trusted proxy terminates it. 0 sends none.',
    { max: 63_072_000 },
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
  'management.max_waiting_writes': count(
    50,
    'Maximum number of writes of one organisation that wait for traffic threads (`?wait=applied`) at one time; 0 refuses all.',
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
  'mcp.management.enabled': flag(
    false,
    'Serves `/mcp` on the dashboard listener: a Model Context Protocol server whose tools are the operations of the dashboard API.',
  ),
  'mcp.management.allow_writes': flag(false, 'Offers tools that change something at `/mcp`.'),
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
  'sso.allow_saml_rsa15': flag(
    false,
    'Accepts SAML assertions whose key is encrypted with RSA 1.5 (RSAES-PKCS1-v1_5), for identity providers without RSA-OAEP.',
  ),
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
    'Maximum number of stored revisions of an object (API, policy, webhook, certificate, user, user group, template, identity profile); the oldest are removed.',
    { min: 1, max: 10_000 },
  ),
  'history.max_bytes_per_organisation': count(
    1_073_741_824,
    'Maximum size in bytes of the stored revisions of an organisation; the oldest are removed, the current state of an object excepted. Checked every 10 minutes. 0 disables the limit.',
    { max: 1_099_511_627_776 },
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
    'Maximum number of combinations of key, version, path, method, agent, country and status counted separately per API and minute. Beyond that requests are counted under the path, agent and country `other`, and beyond twice that under the key, method and tag `other`.',
    { min: 1, max: 100_000 },
  ),
  'analytics.max_tags_per_hour': count(
    1000,
    'Maximum number of tags, and of combinations of them, counted separately per API and hour. Requests beyond that are counted under the tag `other`; 0 counts no tags separately.',
    { max: 100_000 },
  ),
  'analytics.max_waiting_reads': count(
    100,
    'Maximum number of usage queries of one organisation that wait for each other; one more gets 429.',
    { max: 10_000 },
  ),
  'analytics.max_percentile_rows': count(
    1_000_000,
    'Maximum number of stored counts that a usage query with percentiles reads; a range with more is refused.',
    { max: 100_000_000 },
  ),
  'analytics.normalise_paths': flag(
    false,
    'Replaces numbers, UUIDs and ULIDs in counted paths: `/orders/17` counts as `/orders/{id}`.',
  ),
  'analytics.country_header': text(
    '',
    'Request header in which a trusted proxy (`gateway.trusted_proxies`) sends the country of the client, two letters of ISO 3166-1. It wins over `analytics.geo_database`.',
  ),
  'analytics.geo_database': text(
    '',
    'Path of a MaxMind DB file (`.mmdb`, City or Country) by which the country and city of clients are recorded. Reloaded when it changes. Empty: addresses are not looked up.',
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
  'plugins.enabled': flag(
    true,
    'Runs plugins and virtual endpoints in JavaScript. Off: an API that has any is not served.',
  ),
  'plugins.run_on': choice(
    ['traffic_thread', 'worker'],
    'traffic_thread',
    'Threads that run plugins. `traffic_thread`: plugins load and start on workers; those whose calls take less than half a millisecond then run on the traffic thread, and a call that takes longer starts over on a worker. `worker`: all calls run on threads of their own, at three times the cost.',
  ),
  'plugins.directory': text(
    '',
    'Directory of the plugin files of definitions, and of plugins in the folders of APIs. Empty: definitions cannot use plugin files.',
  ),
  'plugins.trusted': list(
    'Plugin files in TypeScript, below `plugins.directory`, that run in the traffic thread without a sandbox: they may be asynchronous and use all of Node. Files of the folders of other organisations are never trusted.',
  ),
  'plugins.bundles.base_url': text(
    '',
    'URL (http, https or file) that names of plugin bundles are appended to; those of organisations other than the operator’s are below their id. Empty: definitions cannot use bundles.',
  ),
  'plugins.bundles.public_key_file': text(
    '',
    'PEM file of the public key that verifies signatures of plugin bundles. With a key an unsigned bundle is refused.',
  ),
  'plugins.bundles.refresh_seconds': count(
    60,
    'Interval in which plugin bundles are requested again; a changed one is loaded.',
    { min: 1, max: 86_400 },
  ),
  'plugins.library_file': text('', 'JavaScript file that is loaded before the plugins of every API.'),
  'plugins.timeout_ms': count(5000, 'Time limit of one call of a plugin, its requests included, in milliseconds.', {
    min: 10,
    max: 60_000,
  }),
  'plugins.max_memory_bytes': count(16_777_216, 'Memory limit of one call of a plugin.', {
    min: 1_048_576,
    max: 268_435_456,
  }),
  'plugins.max_output_bytes': count(8_388_608, 'Maximum size of the result of a plugin, bodies included.', {
    min: 1024,
    max: 268_435_456,
  }),
  'plugins.max_calls': count(
    10,
    'Maximum number of calls of functions that wait (requests, keys, storage) in one call of a plugin.',
    { max: 100 },
  ),
  'plugins.workers': count(
    2,
    'Workers of each traffic thread for plugins. While all are busy, one more takes a call of an API that has no other in progress.',
    {
      min: 1,
      max: 16,
    },
  ),
  'plugins.grpc.address': text(
    '',
    'Server of plugins of the driver `grpc`: `tcp://host:port`, or `tls://host:port` for TLS. Empty: an API with that driver is not served.',
  ),
  'plugins.grpc.organisations': list(
    'Ids of organisations whose APIs may use the driver `grpc`, in addition to that of the operator; `*` for all.',
  ),
  'plugins.grpc.authority': text('', 'Host in `:authority` of calls. Empty: host and port of the address.'),
  'plugins.grpc.ca_file': text(
    '',
    'Certificate authorities of the gRPC server (PEM). Empty: those of the system. Needs an address with `tls://`.',
  ),
  'plugins.grpc.certificate_file': text(
    '',
    'Client certificate for the gRPC server (PEM). Needs an address with `tls://`.',
  ),
  'plugins.grpc.key_file': text('', 'Private key of `plugins.grpc.certificate_file` (PEM).'),
  'plugins.grpc.timeout_ms': count(5000, 'Deadline of one call of the gRPC server in milliseconds.', {
    min: 10,
    max: 60_000,
  }),
  'plugins.grpc.max_send_bytes': count(4_194_304, 'Maximum size of a message to the gRPC server.', {
    min: 1024,
    max: 268_435_456,
  }),
  'plugins.grpc.max_receive_bytes': count(4_194_304, 'Maximum size of a message of the gRPC server.', {
    min: 1024,
    max: 268_435_456,
  }),
  'plugins.grpc.connections': count(
    1,
    'Connections of each traffic thread to the gRPC server. Calls take turns; several addresses of its host take turns too.',
    { min: 1, max: 32 },
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
    'Maximum memory of the response cache of the process in bytes, without Redis; all traffic threads share it. 0 disables it.',
    { max: 2 ** 33 },
  ),
  'cache.default_mode': choice(
    ['timed', 'http'],
    'timed',
    'Rules of response caching of APIs whose definition has no `mode`: `timed` caches for the time of the definition, `http` by the headers of requests and responses (RFC 9111).',
  ),
  'cache.status_header': flag(
    false,
    'Adds `Cache-Status` (RFC 9211) to responses of APIs that are cached by the rules of HTTP: hit or reason of the upstream request, remaining lifetime, whether the response was stored.',
  ),
  'cache.max_entry_bytes': count(1_048_576, 'Maximum size in bytes of a response body that is cached.'),
  'cache.honour_request_cache_control': flag(
    false,
    'Honours `Cache-Control` of requests to the response cache (`no-cache`, `max-age`, `min-fresh`, `only-if-cached`). `no-store` is always honoured.',
  ),
  'metrics.max_apis': count(
    100,
    'Maximum number of APIs with duration histograms and status codes of their own in `/metrics`; further ones are summed up under the API `other`.',
    { max: 1000 },
  ),
  'metrics.public': flag(false, 'Serves `/metrics` on the listener of the dashboard without authentication.'),
  'metrics.otlp.endpoint': collectorUrl(
    'URL of an OpenTelemetry collector that receives metrics over OTLP/HTTP, such as `http://127.0.0.1:4318/v1/metrics`; without a path `/v1/metrics` is added. Empty: metrics are not exported.',
  ),
  'metrics.otlp.protocol': choice(['protobuf', 'json'], 'protobuf', 'Encoding of exported metrics.'),
  'metrics.otlp.gzip': flag(false, 'Compresses exported metrics with gzip.'),
  'metrics.otlp.headers': secretMap('Headers of requests to the collector of metrics, name to value.'),
  'metrics.otlp.timeout_ms': count(
    10_000,
    'Time in milliseconds after which a request to the collector of metrics fails.',
    { min: 1, max: 60_000 },
  ),
  'metrics.otlp.interval_seconds': count(60, 'Number of seconds between two exports of metrics.', {
    min: 1,
    max: 3600,
  }),
  'metrics.otlp.temporality': choice(
    ['cumulative', 'delta'],
    'cumulative',
    'Values of exported counters and histograms: since the start of the process, or since the previous export.',
  ),
  'tracing.endpoint': collectorUrl(
    'URL of an OpenTelemetry collector that receives traces over OTLP/HTTP, such as `http://127.0.0.1:4318/v1/traces`; without a path `/v1/traces` is added. Empty: no traces are exported.',
  ),
  'tracing.protocol': choice(['protobuf', 'json'], 'protobuf', 'Encoding of exported traces.'),
  'tracing.gzip': flag(false, 'Compresses exported traces with gzip.'),
  'tracing.headers': secretMap('Headers of requests to the collector of traces, name to value.'),
  'tracing.timeout_ms': count(10_000, 'Time in milliseconds after which a request to the collector of traces fails.', {
    min: 1,
    max: 60_000,
  }),
  'tracing.interval_ms': count(1000, 'Time in milliseconds after which finished spans are exported.', {
    min: 10,
    max: 60_000,
  }),
  'tracing.max_queue_bytes': count(
    16_777_216,
    'Maximum size in bytes of encoded spans in the queue to the collector; further spans are dropped and counted.',
    { min: 65_536, max: 1_073_741_824 },
  ),
  'tracing.service_name': text('gatewright', '`service.name` of exported traces and metrics.'),
  'tracing.sample_share': share(
    1,
    'Share of traces that are exported, unless a rule or the trace of the client decides: 0.01 for one in a hundred.',
  ),
  'tracing.rules': objectList(
    'Sampling rules: `share` (1 by default) for requests with this `api` (id) and `path` (prefix). A rule with `status` (such as 404 or 5xx) or `min_duration_ms` decides at the end of a request, in addition. The first rule that matches applies.',
  ),
  'tracing.errors': flag(
    false,
    'Exports the trace of every response with a status of 500 or more, whatever the share.',
  ),
  'tracing.trust': choice(
    ['always', 'trusted_proxies', 'never'],
    'always',
    'Clients whose trace a request continues: all, those behind `gateway.trusted_proxies`, or none. The trace headers of others are removed.',
  ),
  'tracing.max_parent_sampled_per_second': count(
    100,
    'Maximum number of traces per second and traffic thread that are exported because the client has sampled them, counted apart for clients behind `gateway.trusted_proxies` and others; beyond that the share decides.',
    { max: 1_000_000 },
  ),
  'tracing.propagation': choiceList(
    ['w3c', 'b3', 'b3multi'],
    ['w3c'],
    'Trace headers that upstreams receive: `w3c` (`traceparent`), `b3` (one header), `b3multi` (`X-B3-…`). All of them are read.',
  ),
  'tracing.record_query': flag(
    false,
    'Exports the query of requests, with credentials masked; it may hold personal data.',
  ),
  'shutdown.delay_seconds': count(
    0,
    'Time in seconds after SIGTERM for which `/ready` returns 503 while requests are still accepted, until load balancers have removed the gateway. The grace period begins after it.',
    { max: 3600 },
  ),
  'shutdown.grace_seconds': count(30, 'Time in seconds after SIGTERM after which unfinished requests are aborted.', {
    max: 3600,
  }),

  'access_log.output': choice(
    ['off', 'stdout', 'file'],
    'off',
    'Access log: one line for each request of clients, to standard output or to `access_log.file`.',
  ),
  'access_log.file': text(
    '',
    'Path of the access log. It is appended to, and opened again after SIGHUP or when it was moved.',
  ),
  'access_log.format': choice(
    ['json', 'combined'],
    'json',
    'Format of the access log: JSON objects, or the combined format of NCSA with the seconds of the request at its end.',
  ),
  'access_log.sample_share': share(1, 'Share of requests that are logged: 0.01 for one in a hundred.'),
  'access_log.errors': flag(
    true,
    'Logs every request with a status from 400 or without a complete response, whatever the sample.',
  ),
  'access_log.query': flag(
    false,
    'Logs query strings of requests to APIs, without the parameters that an API reads credentials from.',
  ),
  'access_log.bodies': flag(
    false,
    'Logs the start of bodies that the gateway buffered for a step, with secrets masked; in JSON only.',
  ),
  'access_log.max_body_bytes': count(1024, 'Maximum number of bytes of a body in the access log.', {
    min: 1,
    max: 65_536,
  }),
  'access_log.max_buffer_bytes': count(
    4_194_304,
    'Maximum size in bytes of the lines that a traffic thread buffers until they are written; further lines are dropped and counted.',
    { min: 65_536, max: 1_073_741_824 },
  ),
  'log.level': choice(['debug', 'info', 'warn', 'error', 'silent'], 'info', 'Minimum level of log lines.'),
  'log.format': choice(['json', 'text'], 'json', 'Format of log lines: JSON, or human-readable text.'),
};

export type SettingName = keyof typeof settingsTable;
export type Settings = { readonly [K in SettingName]: ReturnType<(typeof settingsTable)[K]['read']> };
