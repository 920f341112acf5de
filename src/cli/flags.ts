import type { CommandFlags } from './command.ts';

/** Flags of the client commands, declared apart from their code: the shell completion and the help load no command. */

const help = { type: 'boolean', short: 'h', about: 'shows this text' } as const;
const output = {
  type: 'string',
  short: 'o',
  value: 'json',
  about: 'output for scripts',
  choices: ['json'],
} as const;

/** Flags that name a running gateway and the credential for it. */
const connectionFlags = {
  url: {
    type: 'string',
    value: 'URL',
    about: 'the gateway; default: GW_URL, the gw that runs on the data directory, or http://127.0.0.1:3000',
  },
  secret: {
    type: 'string',
    value: 'TEXT',
    about: 'the credential; default: from the environment, or credentials.json. Process lists show --secret',
  },
  'data-dir': { type: 'string', value: 'PATH', about: 'the data directory; default: GW_DATA_DIR, or gw.yaml' },
  output,
  help,
} as const satisfies CommandFlags;

const file = {
  type: 'string',
  short: 'f',
  multiple: true,
  value: 'FILE',
  about: 'a file; - is standard input',
} as const;

/** Flags of an import of a plain OpenAPI document. */
const documentFlags = {
  id: { type: 'string', value: 'ID', about: 'the id of the API; default: from domain and listen path' },
  upstream: { type: 'string', value: 'URL', about: 'the upstream; default: the first server of the document' },
  'listen-path': { type: 'string', value: 'PATH', about: 'the listen path of the API; default: from the title' },
  domain: { type: 'string', value: 'HOST', about: 'the custom domain of the API' },
  authentication: { type: 'boolean', about: 'enables the authentication that the document requires' },
  'allow-list': { type: 'boolean', about: 'allows only the operations of the document' },
  validate: { type: 'boolean', about: 'validates requests against the document' },
  mock: { type: 'boolean', about: 'responds with the examples of the document' },
} as const satisfies CommandFlags;

export const pluginActions = ['new', 'check', 'test', 'bundle'] as const;

/** Flags of `gw plugin`. */
export const pluginFlags = {
  driver: {
    type: 'string',
    value: 'NAME',
    about: 'the language of a new plugin; default: typescript',
    choices: ['typescript', 'javascript'],
  },
  hook: { type: 'string', value: 'NAME', about: 'the hook to test: an export, or a plugin object; default: pre' },
  exchange: {
    type: 'string',
    value: 'FILE.json',
    about: 'the exchange of a test: request, response, session, config, responses (of other servers)',
  },
  out: { type: 'string', short: 'o', value: 'FILE.zip', about: 'the bundle to write' },
  key: { type: 'string', value: 'FILE.pem', about: 'the private key that signs a bundle' },
  help,
} as const satisfies CommandFlags;

export const themeActions = ['new', 'check', 'pack'] as const;

/** Flags of `gw theme`. */
export const themeFlags = {
  out: { type: 'string', short: 'o', value: 'FILE.zip', about: 'the archive to write' },
  help,
} as const satisfies CommandFlags;

/** Flags of `gw apis|keys|policies|certs`. */
export const resourceFlags = {
  ...connectionFlags,
  file,
  filter: { type: 'string', value: 'TEXT', about: 'keys whose id begins with it, or of this organisation' },
  api: { type: 'string', value: 'ID', about: 'keys with access to this API' },
  ...documentFlags,
} as const satisfies CommandFlags;

/** Flags of `gw users`. */
export const usersFlags = {
  ...connectionFlags,
  org: { type: 'string', value: 'ID', about: 'the organisation, if the address has accounts in several' },
} as const satisfies CommandFlags;

/** Formats that `gw import` converts. */
const importFormats = ['auto', 'openapi', 'swagger', 'blueprint', 'curl', 'har', 'postman', 'asyncapi'] as const;

/** Flags of `gw import`. */
export const importFlags = {
  ...connectionFlags,
  format: { type: 'string', value: 'NAME', about: 'the format of the file; default: auto', choices: importFormats },
  ...documentFlags,
  'dry-run': { type: 'boolean', about: 'prints the document that would be stored, and stores nothing' },
} as const satisfies CommandFlags;

/** Flags of `gw export`. */
export const exportFlags = {
  ...connectionFlags,
  format: { type: 'string', value: 'NAME', about: 'the format of new files; default: yaml', choices: ['yaml', 'json'] },
} as const satisfies CommandFlags;

const prune = { type: 'boolean', about: 'deletes objects of the kinds in DIR that have no file' } as const;

const force = { type: 'boolean', about: 'with --prune, deletes objects that others depend on' } as const;

/** Flags of `gw diff`. */
export const diffFlags = { ...connectionFlags, prune, force } as const satisfies CommandFlags;

/** Flags of `gw apply`. */
export const applyFlags = {
  ...connectionFlags,
  prune,
  force,
  'dry-run': { type: 'boolean', about: 'shows what would be changed, and changes nothing' },
  watch: { type: 'boolean', about: 'applies again whenever files change' },
} as const satisfies CommandFlags;

/** Flags of `gw migrate-from`. */
export const migrateFlags = {
  ...connectionFlags,
  org: { type: 'string', value: 'ID', about: 'the organisation that gets everything; default: those of the export' },
  'dry-run': { type: 'boolean', about: 'prints what would be moved, and writes nothing' },
} as const satisfies CommandFlags;

/** Flags of `gw status`. */
export const statusFlags = connectionFlags;

/** Flags of `gw explain`. */
export const explainFlags = {
  ...connectionFlags,
  gateway: {
    type: 'string',
    value: 'URL',
    about: 'the traffic listener; default: GW_GATEWAY_URL, or the gw that runs on the data directory',
  },
  request: { type: 'string', short: 'X', value: 'METHOD', about: 'the method; default: GET, with --data POST' },
  header: { type: 'string', short: 'H', multiple: true, value: 'NAME:VALUE', about: 'a header of the request' },
  data: { type: 'string', short: 'd', value: 'TEXT', about: 'the body of the request; @FILE reads a file' },
} as const satisfies CommandFlags;

/** Flags of `gw logs`. */
export const logsFlags = {
  ...connectionFlags,
  follow: { type: 'boolean', about: 'prints requests as they are recorded, until it is interrupted' },
  api: { type: 'string', value: 'ID', about: 'requests of this API' },
  status: { type: 'string', value: 'CODE', about: 'requests with this status' },
  errors: { type: 'boolean', about: 'failed requests only' },
  limit: {
    type: 'string',
    value: 'NUMBER',
    about: 'ends after this number of requests; default: 100, with --follow none',
  },
} as const satisfies CommandFlags;

/** Kinds of objects with revisions, as in paths. */
export const historyKinds = [
  'apis',
  'policies',
  'hooks',
  'certs',
  'users',
  'usergroups',
  'assets',
  'profiles',
] as const;

/** Flags of `gw history` and `gw restore`. */
export const historyFlags = connectionFlags;
