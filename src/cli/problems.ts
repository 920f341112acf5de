import { problems } from '#base/problems.ts';

/** Problems of the control API client, one sentence each. */
export const problem = problems('cli', {
  unknown_action: { status: 400, message: 'gw {kind} does not know {action}: it knows {known}' },
  usage: { status: 400, message: '{reason} (gw {kind} --help says more)' },
  no_secret: {
    status: 400,
    message: 'The gateway secret is missing: set GW_SECRET, give --secret, or name the data directory with --data-dir',
  },
  bad_url: {
    status: 400,
    message: '{url} is not the address of a gateway: --url and GW_URL take http://… or https://…',
  },
  unreachable: { status: 503, message: '{url} does not answer ({reason}): set GW_URL, or give --url' },
  not_control: { status: 502, message: '{url} is not the control interface of a gateway: it answered {status}' },
  refused: { status: 400, message: '{message}' },
  wrong_secret: { status: 403, message: '{url} refuses the secret: set GW_SECRET, or give --secret' },
  unreadable: { status: 400, message: '{path} cannot be read ({reason})' },
  not_documents: { status: 400, message: '{path}: cannot be read as JSON or YAML{where}' },
  not_object: { status: 400, message: '{path}: document {number} is not an object' },
  no_documents: { status: 400, message: '{path} holds nothing to apply' },
  no_listen_path: {
    status: 400,
    message: 'The document has no title to make a listen path of: give --listen-path with gw apis import',
  },
  no_identity: {
    status: 400,
    message:
      'The document has no id, listen path or name, so that applying it twice would make two APIs: give it an id',
  },
  not_pem: { status: 400, message: '{path} holds no certificate: certificates are applied as PEM' },
  not_applied: { status: 400, message: '{path}, document {number}: {message}' },
});
