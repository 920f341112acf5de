import { existsSync } from 'node:fs';
import {
  createObjectReader,
  formatFileFault,
  listObjectFiles,
  locateFaults,
  type ObjectFile,
} from '#base/object-files/object-directory.ts';
import { watchDirectory } from '#base/object-files/watch-directory.ts';
import { Problem } from '#base/problems.ts';
import { type CliEnvironment, type CommandFlags, formatCommandHelp, parseCommand } from './command.ts';
import {
  type FileFormat,
  fileKinds,
  formatObjectFile,
  kindDirectories,
  type ObjectExport,
  removeObjectFile,
  toFilePath,
  writeObjectFile,
} from './configuration-files.ts';
import { createPaint, emptyReport, formatChangeReport, type Report } from './configuration-report.ts';
import {
  type ConfigurationClient,
  type ConfigurationSet,
  fetchConfiguration,
  formatOf,
  isSameObject,
  readConfigurationSet,
} from './configuration-set.ts';
import { resolveConnection } from './connection.ts';
import { applyFlags, diffFlags, exportFlags } from './flags.ts';
import { formatJson, replaceControlCharacters, replaceLineControls } from './output.ts';
import { problem } from './problems.ts';
import { createSurfaceClient } from './surface-client.ts';

/** `gw export|diff|apply DIR`: the configuration of an organisation as a directory of files. */

/** An apply of thousands of objects takes minutes. */
const runTimeoutMs = 290_000;

/** Values of the flags of all three commands. */
interface ConfigurationFlags {
  readonly help?: boolean;
  readonly url?: string;
  readonly secret?: string;
  readonly 'data-dir'?: string;
  readonly output?: string;
  readonly format?: string;
  readonly prune?: boolean;
  readonly force?: boolean;
  readonly 'dry-run'?: boolean;
  readonly watch?: boolean;
}

interface CommandContext {
  readonly directory: string;
  readonly flags: ConfigurationFlags;
  readonly cli: CliEnvironment;
  readonly call: ConfigurationClient;
  readonly onProgress: (text: string) => void;
}

const abouts = {
  export:
    'writes groups, users, webhooks, certificates, templates, APIs and policies to DIR, one file for each, without secrets',
  diff: 'shows what apply would change. Exit code 0: nothing, 2: something, 1: an error',
  apply:
    'creates and replaces the objects of DIR in one transaction; one bad file, and nothing is changed. Texts may hold\n${env.NAME}, ${env.NAME:-default} and ${env.NAME|number} for names that begin with GW_VAR_. Exit codes of --dry-run are those of gw diff',
} as const;

/** Parses the arguments and connects; undefined where the help was printed. */
function openCommand(name: keyof typeof abouts, declared: CommandFlags, args: readonly string[], cli: CliEnvironment) {
  const { positionals, values } = parseCommand(name, declared, args);
  const flags = values as ConfigurationFlags;
  const [directory, ...more] = positionals;
  const createUsageProblem = (reason: string) => problem.usage({ detail: { reason, kind: name } });
  if (flags.help || directory === undefined) {
    const usage = [[`${name} DIR`, 'see docs/guide/configuration-as-code.md']] as const;
    cli.print(formatCommandHelp({ name, about: abouts[name], usage, flags: declared }));
    return undefined;
  }
  if (more.length > 0) throw createUsageProblem(`${name} takes one directory`);
  if (flags.output !== undefined && flags.output !== 'json') throw createUsageProblem('-o takes json');
  const connection = resolveConnection('dashboard', flags, cli.environment);
  const call: ConfigurationClient = createSurfaceClient('dashboard', { ...connection, timeoutMs: runTimeoutMs });
  const context: CommandContext = { directory, flags, cli, call, onProgress: cli.reportProgress ?? (() => undefined) };
  return { context, createUsageProblem };
}

export async function runExportCommand(args: readonly string[], cli: CliEnvironment): Promise<void> {
  const opened = openCommand('export', exportFlags, args, cli);
  if (!opened) return;
  const { format = 'yaml' } = opened.context.flags;
  if (format !== 'yaml' && format !== 'json') throw opened.createUsageProblem('--format takes yaml or json');
  await exportToDirectory(opened.context, format);
}

export async function runDiffCommand(args: readonly string[], cli: CliEnvironment): Promise<void> {
  const opened = openCommand('diff', diffFlags, args, cli);
  if (opened) await showDiff(opened.context);
}

export async function runApplyCommand(args: readonly string[], cli: CliEnvironment): Promise<void> {
  const opened = openCommand('apply', applyFlags, args, cli);
  if (!opened) return;
  const { watch, 'dry-run': isDryRun } = opened.context.flags;
  if (watch && isDryRun) throw opened.createUsageProblem('--watch takes no --dry-run');
  if (isDryRun) return showDiff(opened.context);
  await (watch ? applyAndWatch(opened.context) : applyOnce(opened.context));
}

/** Writes the export. A file that already stands for its object stays, with its comments and references. */
async function exportToDirectory(
  { directory, flags, cli, call, onProgress }: CommandContext,
  format: FileFormat,
): Promise<void> {
  const { objects, kinds, warnings } = await fetchConfiguration(call, onProgress);
  const existing = readExisting(directory, cli);
  const counts = { written: 0, unchanged: 0, removed: 0 };
  for (const object of objects) {
    const name = `${object.kind} ${object.id}`;
    const found = existing.get(name);
    existing.delete(name);
    const file = found?.file ?? toFilePath(object, format);
    if (found && isSameObject(found, object)) counts.unchanged++;
    else {
      writeObjectFile(directory, file, formatObjectFile(object, formatOf(file)));
      counts.written++;
    }
  }
  // Files of objects that the gateway no longer has, of kinds that the caller may read.
  for (const { kind, file } of existing.values())
    if (kinds.has(kind)) {
      removeObjectFile(directory, file);
      counts.removed++;
    }
  onProgress('');
  if (flags.output === 'json') return cli.print(formatJson({ ...counts, warnings }));
  for (const warning of warnings) cli.print(`warning: ${replaceControlCharacters(warning)}\n`);
  cli.print(`${counts.written} written, ${counts.unchanged} unchanged, ${counts.removed} removed\n`);
}

/** Objects of an existing directory by kind and id; files that cannot be read are left alone. */
function readExisting(directory: string, { environment }: CliEnvironment): Map<string, ObjectFile> {
  if (!existsSync(directory)) return new Map();
  const reader = createObjectReader({ directory, kinds: fileKinds, environment });
  const objects = listObjectFiles(directory).flatMap(file => {
    const text = reader.readText(file);
    return (text === undefined ? undefined : reader.parse(file, text)) ?? [];
  });
  return new Map(objects.map(object => [`${object.kind} ${object.id}`, object]));
}

/** Reads the directory and the gateway; returns the request body, or undefined where both are equal. */
async function prepare(context: CommandContext) {
  const { directory, flags, cli, call, onProgress } = context;
  const { objects: exported } = await fetchConfiguration(call, onProgress);
  const set = readConfigurationSet({ directory, environment: cli.environment, exported, onProgress });
  if (set.faults.length > 0) throw await createFaultProblem(context, set);
  const prune = flags.prune ? fileKinds.filter(kind => set.kinds.has(kind)) : [];
  const isEqual = set.isExport && !hasOthers(set, exported, prune);
  const objects = set.objects.map(({ kind, id, spec }) => ({ kind, id, spec }));
  return {
    set,
    body: isEqual ? undefined : ({ objects, prune, ...(flags.force && { force: true }) } as ConfigurationBody),
  };
}

interface ConfigurationBody {
  readonly objects: { kind: KindName; id: string; spec: Record<string, unknown> }[];
  readonly prune: KindName[];
  readonly force?: true;
}
type KindName = 'group' | 'user' | 'webhook' | 'certificate' | 'template' | 'api' | 'policy';

function hasOthers(
  { objects }: ConfigurationSet,
  exported: readonly ObjectExport[],
  prune: readonly string[],
): boolean {
  const names = new Set(objects.map(({ kind, id }) => `${kind} ${id}`));
  return exported.some(({ kind, id }) => prune.includes(kind) && !names.has(`${kind} ${id}`));
}

async function showDiff(context: CommandContext): Promise<void> {
  const { set, body } = await prepare(context);
  context.onProgress('comparing');
  const report = body
    ? await withFileFaults(
        context,
        set,
        context.call('POST /api/configuration/plan', { body }).then(it => it.Meta),
      )
    : { ...emptyReport, unchanged: set.objects.length };
  printReport(context, report, false);
  if (report.changes.length > 0) context.cli.setExitCode?.(2);
}

async function applyOnce(context: CommandContext): Promise<void> {
  const { set, body } = await prepare(context);
  context.onProgress('applying');
  const report = body
    ? await withFileFaults(
        context,
        set,
        context.call('POST /api/configuration/apply', { body }).then(it => it.Meta),
      )
    : { ...emptyReport, unchanged: set.objects.length };
  printReport(context, report, true);
}

function printReport({ flags, cli, onProgress }: CommandContext, report: Report, isApplied: boolean): void {
  onProgress('');
  if (flags.output === 'json') return cli.print(formatJson(report));
  const paint = createPaint(cli.isTerminal === true && !cli.environment.NO_COLOR);
  cli.print(formatChangeReport(report, paint, isApplied));
}

/** Applies, then again after every change of files. A failed run is printed, and the next change tried. */
async function applyAndWatch(context: CommandContext): Promise<void> {
  const { cli, directory } = context;
  const attempt = async () => {
    try {
      await applyOnce(context);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      cli.print(`${replaceLineControls(error.message)}\n`);
    }
  };
  // The watch begins before the files are read: a change in between starts another run.
  await watchDirectory(directory, attempt, { signal: cli.createStopSignal?.(), runsAtStart: true }).ended;
}

type ObjectFault = { readonly kind: string; readonly id: string; readonly path: string; readonly message: string };

/** Replaces the objects in a refusal by their files and lines. */
async function withFileFaults<T>({ directory }: CommandContext, set: ConfigurationSet, run: Promise<T>): Promise<T> {
  try {
    return await run;
  } catch (error) {
    const faults = readFaults(error);
    if (!faults) throw error;
    throw problem.files_invalid({ detail: { faults: formatFaults(directory, set, faults).join('\n') }, cause: error });
  }
}

const readFaults = (error: unknown): readonly ObjectFault[] | undefined =>
  error instanceof Problem ? (error.detail.meta as { faults?: readonly ObjectFault[] } | null)?.faults : undefined;

function formatFaults(directory: string, { objects }: ConfigurationSet, faults: readonly ObjectFault[]): string[] {
  const files = new Map(objects.map(({ kind, id, file }) => [`${kind} ${id}`, file]));
  const located = faults.flatMap(({ kind, id, path, message }) => {
    const file = files.get(`${kind} ${id}`);
    return file === undefined ? [] : [{ file, path, message }];
  });
  const others = faults.filter(({ kind, id }) => !files.has(`${kind} ${id}`));
  return [
    ...locateFaults(directory, located).map(formatFileFault),
    ...others.map(({ kind, id, message }) => `${kindDirectories[kind] ?? kind}: ${id}: ${message}`),
  ];
}

/** Faults of files that cannot be read, together with those that the gateway finds in the others. */
async function createFaultProblem(context: CommandContext, set: ConfigurationSet): Promise<Problem> {
  const lines = set.faults.map(formatFileFault);
  const objects = set.objects.map(({ kind, id, spec }) => ({ kind, id, spec }));
  try {
    const body = { objects, prune: [] } as ConfigurationBody;
    await context.call('POST /api/configuration/plan', { body });
  } catch (error) {
    const faults = readFaults(error);
    if (!faults) throw error;
    lines.push(...formatFaults(context.directory, set, faults));
  }
  return problem.files_invalid({ detail: { faults: lines.join('\n') } });
}
