import { parseArgs } from 'node:util';
import { Problem } from '#base/problems.ts';
import { type Control, reach } from './control.ts';
import { readText } from './documents.ts';
import { type Kind, kinds } from './kinds.ts';
import { openLocalInstallation } from './local-installation.ts';
import { json, table, yaml } from './output.ts';
import { problem } from './problems.ts';

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
  help: { type: 'boolean', short: 'h' },
} as const;

const help = (name: string, { noun }: Kind) => `gw ${name}: through the control interface of a running gateway

Usage
  gw ${name} ls                    lists them${name === 'keys' ? '; --filter TEXT and --api ID narrow the list' : ''}
  gw ${name} get ID                shows one
  gw ${name} apply -f FILE         ${applyHelp(name, noun)}
  gw ${name} rm ID …               removes them

Options
  --url URL        the control interface; else GW_URL, the gw that runs on the data directory, or ${defaultUrl}
  --secret TEXT    the gateway secret; else GW_SECRET, or credentials.json of the data directory. A process list
                   shows --secret
  --data-dir PATH  the data directory; else GW_DATA_DIR, or gw.yaml
  -o json          output for scripts
  -f -             reads standard input
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
  const run = actions.get(action);
  if (!run) throw problem.unknown_action({ detail: { kind: name, action } });
  if (values.output !== undefined && values.output !== 'json')
    throw problem.usage({ detail: { reason: '-o takes json', kind: name } });
  const { GW_URL, GW_SECRET } = around.environment;
  const local = openLocalInstallation({ environment: around.environment, dataDir: values['data-dir'] });
  const url = values.url || GW_URL || local.url || defaultUrl;
  const misused = (reason: string) => problem.usage({ detail: { reason, kind: name } });
  const control = () => reach({ url, secret: values.secret ?? GW_SECRET ?? local.secretFor(url) ?? '' });
  await run({ name, kind, ids, flags: values, print: around.print, control, misused });
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
  print(items.length > 0 ? table(kind.columns, items) : `There are no ${name}.\n`);
}

async function get({ kind, ids, flags, print, control, misused }: Asked): Promise<void> {
  const [id, ...more] = ids;
  if (id === undefined || more.length > 0) throw misused('get takes one id');
  const item = await kind.get(control(), id);
  print(forScripts(flags) ? json(item) : yaml(item));
}

async function apply({ kind, ids, flags, print, control, misused }: Asked): Promise<void> {
  const paths = flags.file ?? [];
  if (paths.length === 0 || ids.length > 0) throw misused('apply needs -f FILE');
  const call = control();
  // Everything is read before anything is changed: a file that cannot be read changes nothing.
  const read = paths.map(path => ({ path, documents: kind.read(readText(path), path) }));
  const done = [];
  for (const { path, documents } of read)
    for (const [index, document] of documents.entries()) {
      const applied = await placed(path, index + 1, kind.apply(call, document));
      if (forScripts(flags)) done.push(applied);
      else print(`${kind.noun} ${applied.key} ${applied.action}\n`);
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

const actions: ReadonlyMap<string, (asked: Asked) => Promise<void>> = new Map(Object.entries({ ls, get, apply, rm }));
