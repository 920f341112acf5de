import type { catalogue } from '../catalogue.ts';
import { type CliEnvironment, formatCommandHelp, parseCommand, type Usage } from './command.ts';
import { resolveConnection } from './connection.ts';
import type { Document } from './documents.ts';
import { historyFlags, historyKinds } from './flags.ts';
import { formatJson, formatTable, formatYaml, replaceControlCharacters } from './output.ts';
import { problem } from './problems.ts';
import { createSurfaceClient } from './surface-client.ts';

/** `gw history` and `gw restore`: revisions of objects, through the dashboard API of a running gw. */

/** Path parameter of each kind. */
const params: Readonly<Record<string, string>> = {
  apis: 'apiId',
  policies: 'policyId',
  hooks: 'hookId',
  certs: 'certId',
  users: 'userId',
  usergroups: 'groupId',
  assets: 'assetId',
  profiles: 'profileId',
};
const knownKinds = historyKinds.join(', ');

const usage: readonly Usage[] = [
  ['history KIND ID', 'lists the revisions of an object, also of a deleted one, newest first'],
  ['history KIND ID REVISION', 'shows a revision, and what it changed'],
  ['history KIND ID FROM..TO', 'compares two revisions'],
  ['restore KIND ID REVISION', 'restores a revision; a deleted object is created with its ids'],
];

const help = (name: string) =>
  formatCommandHelp({ name, about: `the revisions of ${knownKinds}`, usage, flags: historyFlags });

type Flags = ReturnType<typeof parseCommand<typeof historyFlags>>['values'];
type RevisionOperations = readonly Extract<(typeof catalogue)[number], { path: `/api/revisions/${string}` }>[];

interface Change {
  readonly path: string;
  readonly before?: unknown;
  readonly after?: unknown;
}
interface Summary {
  readonly revision: number;
  readonly at: string;
  readonly action: string;
  readonly author: { readonly name: string; readonly surface: string; readonly address: string } | null;
}

/** Calls of one object; the kind is an argument, so that routes are put together. */
function createRevisionClient(kind: string, id: string, flags: Flags, environment: CliEnvironment['environment']) {
  const param = params[kind]!;
  const call = createSurfaceClient<RevisionOperations>('dashboard', resolveConnection('dashboard', flags, environment));
  const path = `/api/revisions/${kind}/{${param}}`;
  const send = (route: string, more: { params?: object; query?: object } = {}): Promise<unknown> =>
    call(route as never, { ...more, params: { [param]: id, ...more.params } } as never);
  return {
    list: () => send(`GET ${path}`, { query: { p: -1 } }) as Promise<{ revisions: (Summary & { paths: string[] })[] }>,
    get: (revision: string) =>
      send(`GET ${path}/{revision}`, { params: { revision } }) as Promise<
        Summary & { state: unknown; changes: Change[]; is_truncated: boolean }
      >,
    compare: (from: string, to: string) =>
      send(`GET ${path}/compare`, { query: { from, to } }) as Promise<{ changes: Change[]; is_truncated: boolean }>,
    restore: (revision: string) => send(`POST ${path}/{revision}/restore`, { params: { revision } }),
  };
}

export async function runHistoryCommand(
  [command = '', ...rest]: readonly string[],
  { environment, print }: CliEnvironment,
): Promise<void> {
  const { positionals, values } = parseCommand(command, historyFlags, rest);
  const [kind = '', id, revision, ...more] = positionals;
  const refuse = (reason: string) => problem.usage({ detail: { reason, kind: command } });
  if (values.help || kind === '' || kind === 'help') return print(help(command));
  if (!Object.hasOwn(params, kind)) throw refuse(`there is no kind ${kind}: use one of ${knownKinds}`);
  if (id === undefined || more.length > 0)
    throw refuse(
      `${command} needs ${command === 'restore' ? 'KIND ID REVISION' : 'KIND ID, then one revision or FROM..TO'}`,
    );
  if (values.output !== undefined && values.output !== 'json') throw refuse('-o takes json');
  const isJson = values.output === 'json';
  const client = createRevisionClient(kind, id, values, environment);
  if (command === 'restore') {
    if (!isRevision(revision)) throw refuse('restore takes the number of a revision');
    const restored = await client.restore(revision);
    return print(isJson ? formatJson(restored) : `revision ${revision} of ${replaceControlCharacters(id)} restored\n`);
  }
  if (revision === undefined) {
    const { revisions } = await client.list();
    return print(
      isJson
        ? formatJson(revisions)
        : formatTable(
            columns,
            revisions.map(it => ({ ...it })),
          ),
    );
  }
  const [from = '', to, ...others] = revision.split('..');
  if (![from, to ?? from].every(isRevision) || others.length > 0) throw refuse('a revision is a number, or FROM..TO');
  const found = to === undefined ? await client.get(from) : await client.compare(from, to);
  if (isJson) return print(formatJson(found));
  print(`${'state' in found ? `${formatYaml(found.state)}\n` : ''}${formatChanges(found)}`);
}

const isRevision = (text: string | undefined): text is string => /^[1-9]\d{0,8}$/.test(text ?? '');

const columns = {
  REVISION: (item: Document) => item.revision,
  AT: (item: Document) => item.at,
  ACTION: (item: Document) => item.action,
  BY: (item: Document) => (item.author as Summary['author'])?.name ?? '',
  FROM: (item: Document) => (item.author as Summary['author'])?.address ?? '',
  CHANGED: (item: Document) => (item.paths as readonly string[]).join(' '),
};

/** One line for each side of a change, as in a unified diff. */
function formatChanges({ changes, is_truncated }: { changes: readonly Change[]; is_truncated: boolean }): string {
  const toLine = (sign: string, path: string, value: unknown) =>
    replaceControlCharacters(`${sign} ${path === '' ? '/' : path}: ${JSON.stringify(value)}`);
  const lines = changes.flatMap(change => [
    ...('before' in change ? [toLine('-', change.path, change.before)] : []),
    ...('after' in change ? [toLine('+', change.path, change.after)] : []),
  ]);
  return `${[...lines, ...(is_truncated ? ['… more changes'] : [])].join('\n')}\n`;
}
