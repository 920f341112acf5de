import { Problem } from '#base/problems.ts';
import { type CliEnvironment, parseCommand } from './command.ts';
import { type ControlClient, createControlClient } from './control.ts';
import { readText } from './documents.ts';
import { resourceFlags } from './flags.ts';
import { openLocalInstallation } from './local-installation.ts';
import { formatJson, formatTable, formatYaml } from './output.ts';
import { problem } from './problems.ts';
import { type Resource, resources } from './resources.ts';

/** `gw apis|keys|policies|certs …`: manages a gateway from a terminal, through its control API only. */

export const clientCommandNames: readonly string[] = [...resources.keys()];

const defaultUrl = 'http://127.0.0.1:3000';

const formatHelp = (
  name: string,
  { noun }: Resource,
) => `gw ${name}: manages ${noun.replace(/y$/, 'ie')}s through the control interface of a running gateway

Usage
  gw ${name} ls                    lists them${name === 'keys' ? '; --filter TEXT and --api ID narrow the list' : ''}
  gw ${name} get ID                shows one
  gw ${name} apply -f FILE         ${formatApplyHelp(name, noun)}
  gw ${name} rm ID …               removes them
${name === 'apis' ? importHelp : ''}
Options
  --url URL        the control interface; default: GW_URL, the gw that runs on the data directory, or ${defaultUrl}
  --secret TEXT    the gateway secret; default: GW_SECRET, GW_GATEWAY_SECRET, or credentials.json of the data directory. Process
                   lists show --secret
  --data-dir PATH  the data directory; default: GW_DATA_DIR, or gw.yaml
  -o json          output for scripts
  -f -             reads standard input
`;

const importHelp = `  gw apis import -f FILE        creates an API from a plain OpenAPI document, or updates it

Options of import
  --upstream URL       the upstream service; default: the first server of the document
  --listen-path PATH   the listen path of the API; default: from the title
  --domain HOST        the custom domain of the API
  --id ID              the id of the API; default: from domain and listen path
  --authentication     enables the authentication that the document requires
  --allow-list         allows only the operations of the document
  --validate           validates requests against the document
  --mock               responds with the examples of the document
`;

const formatApplyHelp = (name: string, noun: string) =>
  name === 'certs'
    ? 'adds the certificates of a PEM file'
    : `creates or replaces each ${noun} of a JSON or YAML file (one or more documents)`;

const parseFlags = (name: string, args: readonly string[]) => parseCommand(name, resourceFlags, args);
type Flags = ReturnType<typeof parseFlags>['values'];

export async function runClientCommand([name = '', ...rest]: readonly string[], cli: CliEnvironment): Promise<void> {
  const resource = resources.get(name)!;
  const { positionals, values } = parseFlags(name, rest);
  const [action = '', ...ids] = positionals;
  if (values.help || action === 'help' || positionals.length === 0) return cli.print(formatHelp(name, resource));
  const knownActions = [...actions.keys()].filter(it => it !== 'import' || resource.import);
  const run = knownActions.includes(action) ? actions.get(action) : undefined;
  if (!run) throw problem.unknown_action({ detail: { kind: name, action, known: knownActions.join(', ') } });
  checkFlags(name, action, values);
  if (values.output !== undefined && values.output !== 'json')
    throw problem.usage({ detail: { reason: '-o takes json', kind: name } });
  const { GW_URL, GW_SECRET } = cli.environment;
  const local = openLocalInstallation({ environment: cli.environment, dataDir: values['data-dir'] });
  const url = values.url || GW_URL || local.url || defaultUrl;
  const createUsageProblem = (reason: string) => problem.usage({ detail: { reason, kind: name } });
  const connect = () =>
    createControlClient({
      url,
      secret: values.secret ?? GW_SECRET ?? local.secretFor(url) ?? '',
      fetch: local.fetchFor(url),
    });
  await run({ name, resource, ids, flags: values, print: cli.print, connect, createUsageProblem });
}

const commonFlags = ['url', 'secret', 'data-dir', 'output'];
const actionFlags: Readonly<Record<string, readonly string[]>> = {
  apply: ['file'],
  import: ['file', 'id', 'upstream', 'listen-path', 'domain', 'authentication', 'allow-list', 'validate', 'mock'],
};

/** Rejects flags that the action does not use. */
function checkFlags(name: string, action: string, flags: Flags): void {
  const own = name === 'keys' && action === 'ls' ? ['filter', 'api'] : (actionFlags[action] ?? []);
  const other = Object.keys(flags).find(flag => !commonFlags.includes(flag) && !own.includes(flag));
  if (other) throw problem.usage({ detail: { reason: `${action} takes no --${other}`, kind: name } });
}

interface ActionContext {
  readonly name: string;
  readonly resource: Resource;
  readonly ids: readonly string[];
  readonly flags: Flags;
  readonly print: (text: string) => void;
  readonly connect: () => ControlClient;
  readonly createUsageProblem: (reason: string) => Problem;
}

const isJsonOutput = ({ output }: Flags) => output === 'json';

async function ls({ name, resource, ids, flags, print, connect, createUsageProblem }: ActionContext): Promise<void> {
  if (ids.length > 0) throw createUsageProblem('ls takes no id');
  const items = await resource.list(connect(), { filter: flags.filter, api: flags.api });
  if (isJsonOutput(flags)) return print(formatJson(items));
  if (items.length === 0) return print(`There are no ${name}.\n`);
  print(formatTable(resource.columns, (await resource.describe?.(connect(), items)) ?? items));
}

async function get({ resource, ids, flags, print, connect, createUsageProblem }: ActionContext): Promise<void> {
  const [id, ...more] = ids;
  if (id === undefined || more.length > 0) throw createUsageProblem('get takes one id');
  const item = await resource.get(connect(), id);
  print(isJsonOutput(flags) ? formatJson(item) : formatYaml(item));
}

const apply = (context: ActionContext) => applyFiles(context, 'apply', context.resource.apply);

const importDocuments = (context: ActionContext) => {
  const { resource, flags } = context;
  return applyFiles(context, 'import', (call, document) => resource.import!(call, document, flags));
};

async function applyFiles(context: ActionContext, action: string, applyOne: Resource['apply']): Promise<void> {
  const { resource, ids, flags, print, connect, createUsageProblem } = context;
  const paths = flags.file ?? [];
  if (paths.length === 0 || ids.length > 0) throw createUsageProblem(`${action} needs -f FILE`);
  const call = connect();
  // Reads every file first: an unreadable one changes nothing.
  const files = paths.map(path => ({ path, documents: resource.read(readText(path), path) }));
  const results = [];
  for (const { path, documents } of files)
    for (const [index, document] of documents.entries()) {
      const applied = await withDocumentNumber(path, index + 1, applyOne(call, document));
      if (isJsonOutput(flags)) results.push(applied);
      else {
        print(`${resource.noun} ${applied.key} ${applied.action}\n`);
        for (const warning of applied.warnings ?? []) print(`warning: ${path}, document ${index + 1}: ${warning}\n`);
      }
    }
  if (isJsonOutput(flags)) print(formatJson(results));
}

/** Adds the number of the rejected document to the error. */
async function withDocumentNumber<T>(path: string, number: number, applying: Promise<T>): Promise<T> {
  try {
    return await applying;
  } catch (cause) {
    if (!(cause instanceof Problem) || cause.code !== problem.refused.code) throw cause;
    throw problem.not_applied({ detail: { path, number, message: cause.message }, cause });
  }
}

async function rm({ resource, ids, flags, print, connect, createUsageProblem }: ActionContext): Promise<void> {
  if (ids.length === 0) throw createUsageProblem('rm needs at least one id');
  const call = connect();
  const results = [];
  for (const id of ids) {
    const removed = await resource.remove(call, id);
    if (isJsonOutput(flags)) results.push(removed);
    else print(`${resource.noun} ${id} deleted\n`);
  }
  if (isJsonOutput(flags)) print(formatJson(results));
}

const actions: ReadonlyMap<string, (context: ActionContext) => Promise<void>> = new Map(
  Object.entries({ ls, get, apply, rm, import: importDocuments }),
);
