import { problems } from '#base/problems.ts';

/** Problems of the client commands, one sentence each. */
export const problem = problems('cli', {
  unknown_action: { status: 400, message: 'gw {kind} has no action {action}: it has {known}' },
  usage: { status: 400, message: '{reason} (see gw {kind} --help)' },
  no_secret: {
    status: 400,
    message: 'The {secret} is missing: set {variable}, --secret, or the data directory with --data-dir',
  },
  bad_url: {
    status: 400,
    message: '{url} is not a gateway URL: --url and GW_URL must start with http:// or https://',
  },
  unreachable: { status: 503, message: '{url} is unreachable ({reason}): set GW_URL or --url' },
  wrong_surface: {
    status: 502,
    message: '{url} is not the {surface} of a gateway: {reason}',
  },
  refused: { status: 400, message: '{message}' },
  wrong_secret: { status: 403, message: '{url} rejects the secret: set {variable} or --secret' },
  unreadable: { status: 400, message: '{path} cannot be read ({reason})' },
  not_documents: { status: 400, message: '{path}: invalid JSON or YAML{where}' },
  not_object: { status: 400, message: '{path}: document {number} is not an object' },
  no_documents: { status: 400, message: '{path} contains no documents' },
  no_listen_path: {
    status: 400,
    message: 'The document has no title to derive a listen path from: set --listen-path',
  },
  no_identity: {
    status: 400,
    message: 'The document has no id, listen path or name, so applying it twice would create two APIs: add an id',
  },
  too_many_files: { status: 400, message: '{path} has more than {maxFiles} files' },
  partly_migrated: { status: 400, message: '{count} objects are not moved or not served: see the table' },
  unhealthy: { status: 503, message: 'The gateway is not healthy: {parts}' },
  no_gateway_url: { status: 400, message: 'The URL of the gateway is missing: set GW_GATEWAY_URL or --gateway' },
  foreign_url: {
    status: 400,
    message: '{url} is not the gateway {gateway}, and the secret is sent to the gateway only',
  },
  not_explained: {
    status: 502,
    message: '{url} did not explain the request: it is another server, or rejects the secret',
  },
  files_invalid: { status: 400, message: '{faults}' },
  client_certificate_incomplete: {
    status: 400,
    message: 'GW_CLIENT_CERTIFICATE_FILE and GW_CLIENT_KEY_FILE must both be set',
  },
  client_certificate_missing: {
    status: 400,
    message: '{url} requires a client certificate ({reason}): set GW_CLIENT_CERTIFICATE_FILE and GW_CLIENT_KEY_FILE',
  },
  client_certificate_rejected: {
    status: 400,
    message: '{url} rejects the certificate of GW_CLIENT_CERTIFICATE_FILE ({reason})',
  },
  not_pem: { status: 400, message: '{path} is not a PEM file' },
  not_applied: { status: 400, message: '{path}, document {number}: {message}' },
});
