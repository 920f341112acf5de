import { parseArgs } from 'node:util';
import { Problem } from '#base/problems.ts';
import { type Control, reach } from './control.ts';
import { readText } from './documents.ts';
import { openLocalInstallation } from './local-installation.ts';
import { json, table, yaml } from './output.ts';
import { problem } from './problems.ts';
import { type Kind, kinds } from './resources.ts';

/** `gw apis|keys|policies|certs …`: a gateway run from a terminal, by what its control interface says and nothing else. */

export interface Around {
  readonly environment: Readonly<Record<string, string | undefined>>;
  print(text: string): void;
}

export const clientCommandNames: readonly string[] = [...kinds.keys()];
export const isClientCommand = (name: string | undefined): boolean => name !== undefined && kinds.has(name);

const defaultUrl = 'http://127.0.0.1:3000';

const options = {
  url: { type: 'string' },
  secret: { type: 'string' },
  'data-dir': { type: 'string' },
  output: { type: 'string', short: 'o' },
  file: { type: 'string', short: 'f', multiple: true },
  filter: { type: 'string' },
  api: { type: 'string' },
  id: { type: 'string' },
  upstream: { type: 'string' },
  'listen-path': { type: 'string' },
  domain: { type: 'string' },
  authentication: { type: 'boolean' },
  'allow-list': { type: 'boolean' },
  validate: { type: 'boolean' },
  mock: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

const help = (name: string, { noun }: Kind) => `gw ${name}: through the control interface of a running gateway

Usage
  gw ${name} ls                    lists them${name === 'keys' ? '; --filter TEXT and --api ID narrow the list' : ''}
  gw ${name} get ID                shows one
  gw ${name} apply -f FILE         ${applyHelp(name, noun)}
  gw ${name} rm ID …               removes them
${name === 'apis' ? importHelp : ''}
Options
  --url URL        the control interface; else GW_URL, the gw that runs on the data directory, or ${defaultUrl}
  --secret TEXT    the gateway secret; else GW_SECRET, or credentials.json of the data directory. A process list
                   shows --secret
  --data-dir PATH  the data directory; else GW_DATA_DIR, or gw.yaml
  -o json          output for scripts
  -f -             reads standard input
`;

const importHelp = `  gw apis import -f FILE        makes an API of a plain OpenAPI document, or brings it a newer one

Options of import
  --upstream URL       the service behind the API; else the first server of the document
  --listen-path PATH   where the gateway answers for it; else made of the title
  --domain HOST        the host it has for itself
  --id ID              its id; else made of domain and listen path
  --authentication     asks callers for what the document asks for
  --allow-list         allows the operations of the document and nothing else
  --validate           checks calls against the document
  --mock               answers from the examples of the document
`;

const applyHelp = (name: string, noun: string) =>
  name === 'certs'
    ? 'adds what a PEM file holds'
    : `makes or replaces each ${noun} of a JSON or YAML file, one or several documents`;

type Flags = ReturnType<typeof parsed>['values'];

function parsed(name: string, args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  } catch (cause) {
    const [reason] = (cause as Error).message.split('. ') as [string];
    throw problem.usage({ detail: { reason, kind: name }, cause });
  }
}

export async function clientCommand([name = '', ...rest]: readonly string[], around: Around): Promise<void> {
  const kind = kinds.get(name)!;
  const { positionals, values } = parsed(name, rest);
  const [action = '', ...ids] = positionals;
  if (values.help || action === 'help' || positionals.length === 0) return around.print(help(name, kind));
  const known = [...actions.keys()].filter(it => it !== 'import' || kind.import);
  const run = known.includes(action) ? actions.get(action) : undefined;
  if (!run) throw problem.unknown_action({ detail: { kind: name, action, known: known.join(', ') } });
  checkFlags(name, action, values);
  if (values.output !== undefined && values.output !== 'json')
    throw problem.usage({ detail: { reason: '-o takes json', kind: name } });
  const { GW_URL, GW_SECRET } = around.environment;
  const local = openLocalInstallation({ environment: around.environment, dataDir: values['data-dir'] });
  const url = values.url || GW_URL || local.url || defaultUrl;
  const misused = (reason: string) => problem.usage({ detail: { reason, kind: name } });
  const control = () => reach({ url, secret: values.secret ?? GW_SECRET ?? local.secretFor(url) ?? '' });
  await run({ name, kind, ids, flags: values, print: around.print, control, misused });
}

const flagsOfAll = ['url', 'secret', 'data-dir', 'output'];
const flagsOf: Readonly<Record<string, readonly string[]>> = {
  apply: ['file'],
  import: ['file', 'id', 'upstream', 'listen-path', 'domain', 'authentication', 'allow-list', 'validate', 'mock'],
};

/** A flag that an action does not look at is refused. */
function checkFlags(name: string, action: string, flags: Flags): void {
  const own = name === 'keys' && action === 'ls' ? ['filter', 'api'] : (flagsOf[action] ?? []);
  const other = Object.keys(flags).find(flag => !flagsOfAll.includes(flag) && !own.includes(flag));
  if (other) throw problem.usage({ detail: { reason: `${action} takes no --${other}`, kind: name } });
}

interface Asked {
  readonly name: string;
  readonly kind: Kind;
  readonly ids: readonly string[];
  readonly flags: Flags;
  readonly print: (text: string) => void;
  readonly control: () => Control;
  readonly misused: (reason: string) => Problem;
}

const forScripts = ({ output }: Flags) => output === 'json';

async function ls({ name, kind, ids, flags, print, control, misused }: Asked): Promise<void> {
  if (ids.length > 0) throw misused('ls takes no id');
  const items = await kind.list(control(), { filter: flags.filter, api: flags.api });
  if (forScripts(flags)) return print(json(items));
  if (items.length === 0) return print(`There are no ${name}.\n`);
  print(table(kind.columns, (await kind.describe?.(control(), items)) ?? items));
}

async function get({ kind, ids, flags, print, control, misused }: Asked): Promise<void> {
  const [id, ...more] = ids;
  if (id === undefined || more.length > 0) throw misused('get takes one id');
  const item = await kind.get(control(), id);
  print(forScripts(flags) ? json(item) : yaml(item));
}

const apply = (asked: Asked) => applyFiles(asked, 'apply', asked.kind.apply);

const importDocuments = (asked: Asked) => {
  const { kind, flags } = asked;
  return applyFiles(asked, 'import', (call, document) => kind.import!(call, document, flags));
};

async function applyFiles(asked: Asked, action: string, applyOne: Kind['apply']): Promise<void> {
  const { kind, ids, flags, print, control, misused } = asked;
  const paths = flags.file ?? [];
  if (paths.length === 0 || ids.length > 0) throw misused(`${action} needs -f FILE`);
  const call = control();
  // Everything is read before anything is changed: a file that cannot be read changes nothing.
  const read = paths.map(path => ({ path, documents: kind.read(readText(path), path) }));
  const done = [];
  for (const { path, documents } of read)
    for (const [index, document] of documents.entries()) {
      const applied = await placed(path, index + 1, applyOne(call, document));
      if (forScripts(flags)) done.push(applied);
      else {
        print(`${kind.noun} ${applied.key} ${applied.action}\n`);
        for (const warning of applied.warnings ?? []) print(`warning: ${path}, document ${index + 1}: ${warning}\n`);
      }
    }
  if (forScripts(flags)) print(json(done));
}

/** Which of several documents the gateway refused. */
async function placed<T>(path: string, number: number, applying: Promise<T>): Promise<T> {
  try {
    return await applying;
  } catch (cause) {
    if (!(cause instanceof Problem) || cause.code !== problem.refused.code) throw cause;
    throw problem.not_applied({ detail: { path, number, message: cause.message }, cause });
  }
}

async function rm({ kind, ids, flags, print, control, misused }: Asked): Promise<void> {
  if (ids.length === 0) throw misused('rm needs at least one id');
  const call = control();
  const done = [];
  for (const id of ids) {
    const removed = await kind.remove(call, id);
    if (forScripts(flags)) done.push(removed);
    else print(`${kind.noun} ${id} deleted\n`);
  }
  if (forScripts(flags)) print(json(done));
}

const actions: ReadonlyMap<string, (asked: Asked) => Promise<void>> = new Map(
  Object.entries({ ls, get, apply, rm, import: importDocuments }),
);
