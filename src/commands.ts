import { setTimeout as wait } from 'node:timers/promises';
import { systemClock } from '#base/clock.ts';
import { closestMatch } from '#base/closest-match.ts';
import { parseCommandLine } from '#base/command-line.ts';
import { writeCompileCache } from '#base/compile-cache.ts';
import { createSecretText } from '#base/ids.ts';
import { createLog } from '#base/log.ts';
import { Problem, problems } from '#base/problems.ts';
import {
  createStopSignal,
  ignoreClosedOutput,
  isTerminal,
  lowerThreadPriority,
  onShutdownSignal,
  print,
  printError,
  printProgress,
  readEnvironment,
  setExitCode,
} from '#base/process.ts';
import { releaseMemory } from '#base/release-memory.ts';
import { isSetting, isSwitch, maskSettings, readSettings, type Settings } from '#base/settings.ts';
import { settingsTable } from '#base/settings-table.ts';
import { type CommandFlags, formatUsage } from '#cli/command.ts';
import { commandTable } from '#cli/command-table.ts';
import { completionShells, formatCompletion } from '#cli/completion.ts';
import { replaceLineControls } from '#cli/output.ts';
import { demoMetaName } from '#demo/demo-name.ts';
import { threadCount } from '#gateway/pipeline/thread-count.ts';
import { backupFileName } from '#gateway/runtime/config-backup/config-backup.ts';
import { preloadThread } from '#gateway/runtime/preload-thread.ts';
import type { InstallationCredentials } from '#people/installation/bootstrap.ts';
import {
  credentialsFile,
  credentialUses,
  markDisplayed,
  writeCredentials,
} from '#people/installation/credentials-file.ts';
import { createMasterKeys, hasDatabase, readDataDirectory, replaceMasterKey } from '#storage/data-directory.ts';
import { createMetaStore, rewrapDataKey } from '#storage/meta.ts';
import type { SchemaVersions } from '#storage/migrate.ts';
import { createSelfBuildingApp } from '#ui/build/self-building-app.ts';
import type { Installation } from './application.ts';
import { version } from './version.ts';

const problem = problems('command', {
  unknown_flag: {
    status: 400,
    message: 'gw {command} has no option --{flag}: it has {known} and every setting (gw config lists them all){guess}',
  },
  no_installation: {
    status: 400,
    message:
      'There are no credentials to rotate: {path} has no installation. Start gw once, or name its data directory (GW_DATA_DIR) or database (GW_DATABASE_URL)',
  },
  switch_value: { status: 400, message: '--{flag} takes no value' },
});

const formatHelp = () => `gw: the Gatewright API management platform

Usage
${formatUsage([
  ['start [--role all|gateway|dashboard|portal] [--SETTING VALUE …]', 'starts the product'],
  ['start --demo', 'starts with sample APIs, keys and traffic, in an empty installation'],
  ['demo', 'shows the keys of the demo, and commands that call its APIs'],
  ['demo --remove', 'removes the demo'],
  ['config', 'shows the effective settings, secrets masked'],
  ['migrate', 'migrates the database and exits'],
  ['credentials', 'shows where the credentials of this installation are'],
  ['credentials --rotate', 'creates new credentials, except those that the settings define'],
  ['credentials --rotate-master', 'creates a new master key for the secrets at rest'],
  ...[...commandTable.values()].flatMap(({ usage }) => usage),
  [`completion ${completionShells.join('|')}`, 'prints the completion script of a shell'],
  ['--version', 'shows the version'],
])}
Settings come from gw.yaml (or the file named by --config), from GW_… in the environment, and from flags;
the later ones win. docs/reference/settings.md lists them all.
`;

interface CommandInput {
  readonly settings: Settings;
  readonly flags: ReadonlyMap<string, string>;
}

interface Command {
  run(input: CommandInput): Promise<void>;
  /** Flags of this command alone; they take no value. */
  readonly switches?: readonly string[];
  /** Leaves unknown flags that resemble no switch to the settings, which report all errors at once. */
  readonly leavesUnknownFlags?: true;
}

const commands = new Map<string, Command>([
  ['start', { run: start, switches: ['demo'], leavesUnknownFlags: true }],
  ['demo', { run: demo, switches: ['remove'] }],
  ['config', { run: config }],
  ['migrate', { run: migrate }],
  ['credentials', { run: credentials, switches: ['rotate', 'rotate-master'] }],
]);
const ownSwitches = new Set(['help', 'version', ...[...commands.values()].flatMap(({ switches = [] }) => switches)]);

async function main(args: readonly string[]): Promise<void> {
  const client = commandTable.get(args[0] ?? '');
  if (client) return client.run(args.slice(1), createCliEnvironment());
  if (args[0] === 'completion') return print(formatCompletion(args[1] ?? '', listCommands()));
  const isKnown = (name: string) => name === 'config' || isSetting(name);
  const { words, flags } = parseCommandLine(args, name => ownSwitches.has(name) || isSwitch(name), isKnown);
  const [name] = words;
  if (flags.has('version')) return print(`${version}\n`);
  if (flags.has('help') || name === undefined || name === 'help' || words.includes('-h')) return print(formatHelp());
  const command = commands.get(name);
  if (!command || words.length > 1) return reportUnknownCommand(words);
  const own = new Set(['config', ...(command.switches ?? [])]);
  checkFlags(name, command, flags);
  const settingFlags = Object.fromEntries([...flags].filter(([flag]) => !own.has(flag)));
  const file = { path: flags.get('config') ?? 'gw.yaml', required: flags.has('config') };
  const settings = readSettings({ file, environment: readEnvironment(), flags: settingFlags });
  await command.run({ settings, flags });
}

const createCliEnvironment = () => ({
  environment: readEnvironment(),
  print,
  isTerminal: isTerminal(),
  reportProgress: printProgress,
  setExitCode,
  createStopSignal,
  loadPluginTool: () => import('#gateway/plugins/tool/plugin-tool.ts'),
  loadThemeTool: () => import('#portal/themes/theme-tool.ts'),
});

const about = 'a setting';

/** Commands for the shell completion. Commands that start or open the installation take every setting. */
function listCommands() {
  const settings = Object.keys(settingsTable).map(name => [name, { type: 'string', about }] as const);
  const own = [...commands].map(([name, { switches = [] }]) => {
    const flags = switches.map(flag => [flag, { type: 'boolean', about: 'a switch' }] as const);
    return { name, flags: Object.fromEntries([...flags, ...settings]) as CommandFlags };
  });
  const clients = [...commandTable].map(([name, { actions, flags }]) => ({ name, actions, flags }));
  return [...own, ...clients, { name: 'completion', actions: completionShells, flags: {} }];
}

/**
 * Checks flags of commands that declare switches; other commands leave unknown flags to the settings, which report all
 * errors at once.
 */
function checkFlags(name: string, { switches, leavesUnknownFlags }: Command, flags: ReadonlyMap<string, string>): void {
  if (!switches) return;
  for (const [flag, value] of flags) {
    if (switches.includes(flag) && value !== 'true') throw problem.switch_value({ detail: { flag } });
    if (switches.includes(flag) || flag === 'config' || isSetting(flag)) continue;
    const known = [...switches, 'config'].map(it => `--${it}`).join(', ');
    const suggestion = closestMatch(flag, switches);
    if (leavesUnknownFlags && !suggestion) continue;
    const guess = suggestion ? `; did you mean --${suggestion}?` : '';
    throw problem.unknown_flag({ detail: { command: name, flag, known, guess } });
  }
}

function reportUnknownCommand(words: readonly string[]): void {
  const known = [...commands.keys(), ...commandTable.keys(), 'completion'];
  const guess = closestMatch(words[0]!, known);
  printError(
    `There is no command ${words.join(' ')}${guess ? `; did you mean ${guess}?` : ''} (gw --help lists them all)`,
  );
  setExitCode(2);
}

/** Loaded on demand: help and settings print without it. */
const loadApplication = () => import('./application.ts');

const createEnvironment = (settings: Settings) => ({
  log: createLog({ level: settings['log.level'], format: settings['log.format'] }),
  clock: systemClock,
});

/** Starts threads early: they load code in parallel with the main thread. */
const preloadThreads = (settings: Settings) =>
  settings.role === 'all' || settings.role === 'gateway'
    ? Array.from({ length: threadCount(settings) }, () => preloadThread())
    : [];

async function start({ settings, flags }: CommandInput): Promise<void> {
  const environment = createEnvironment(settings);
  const demoRun = flags.has('demo') ? (await import('#demo/demo.ts')).createDemoRun(settings, environment) : undefined;
  const web = hasWebApp(settings) ? createSelfBuildingApp(settings.data_dir, environment.log) : undefined;
  const preloadedThreads = preloadThreads(settings);
  const onDatabaseOpen = demoRun?.prepare;
  const appEnvironment = { ...environment, preloadedThreads, onDatabaseOpen, webApp: web?.webApp };
  const { startApplication } = await loadApplication();
  const application = await startApplication(settings, appEnvironment);
  const delayMs = settings['shutdown.delay_seconds'] * 1000;
  // Before readiness is printed: a supervisor may stop the process right after it.
  onShutdownSignal(
    async signal => {
      appEnvironment.log.info({ signal }, 'stopping');
      web?.stop();
      application.drain();
      if (delayMs > 0) await wait(delayMs);
      await demoRun?.close();
      await application.close();
      setExitCode(0);
    },
    delayMs + settings['shutdown.grace_seconds'] * 1000,
  );
  const { urls, credentials: created, installation } = application;
  // Management work must not delay traffic where cores are scarce. Threads inherit the priority: those of traffic run.
  if (urls.gateway) lowerThreadPriority();
  writeCompileCache();
  const ready = installation.pendingDatabase ? `Gatewright is ready, ${offlineNotice}` : 'Gatewright is ready.';
  const lines = Object.entries(urls).map(
    ([name, url]) => `  ${name.padEnd(10)} ${url.padEnd(26)} ${listenerPaths[name]}`,
  );
  demoRun?.start(urls.gateway!);
  const demoText = demoRun ? demoNotice : await describeStoppedDemo(installation);
  print(`${ready}\n\n${lines.join('\n')}\n\n${describeCredentials(installation, created)}${demoText}`);
  markDisplayed(installation.directory);
  await web?.ensureBuilt();
  releaseMemory();
}

const hasWebApp = ({ role }: Settings) => role === 'all' || role === 'dashboard';

const offlineNotice = 'without its database: traffic is served from the config backup.';

const demoNotice =
  '\nThe demo runs: gw demo (here: bin/gw demo) shows its keys, a user, and commands that call its APIs.\n';
const stoppedDemoNotice = `
This installation has the demo, whose upstream does not run: most of its APIs respond with 502.
gw start --demo starts it; gw demo --remove removes the demo.
`;

async function describeStoppedDemo({ services, pendingDatabase }: Installation): Promise<string> {
  if (pendingDatabase || (await services.meta.get(demoMetaName)) === undefined) return '';
  return stoppedDemoNotice;
}

/** Paths of each listener. */
const listenerPaths: Readonly<Record<string, string>> = {
  dashboard: 'web app; /api/*, /admin/*, /gw/*: /docs lists their operations',
  portal: 'developer portal, its /admin; /portal-api/*: /docs lists its operations',
  control: '/gw/*; /docs lists its operations',
  gateway: 'your APIs',
};

/** Prints secrets to a terminal only: other output is stored, such as by a log collector. */
function describeCredentials({ directory }: Installation, created: InstallationCredentials | undefined): string {
  const path = directory.pathOf(credentialsFile);
  if (created && isTerminal()) return displayCredentials(created, path);
  if (created) return `First start. The credentials are in ${path}\n`;
  if (directory.read(credentialsFile) !== undefined) return `Credentials: ${path}\n`;
  const where = 'they were written to the data directory of the first start';
  return `Credentials: no credentials.json here, ${where}; gw credentials --rotate creates new ones\n`;
}

function displayCredentials(created: InstallationCredentials, path: string): string {
  const names = Object.keys(credentialUses) as (keyof InstallationCredentials)[];
  const width = Math.max(...names.map(name => created[name].length));
  const lines = names.map(name => `  ${name.padEnd(18)} ${created[name].padEnd(width)}  ${credentialUses[name]}`);
  return `First start. These credentials are shown once and stored in ${path}:\n\n${lines.join('\n')}\n`;
}

async function config({ settings }: CommandInput): Promise<void> {
  const lines = Object.entries(maskSettings(settings)).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  print(`${lines.join('\n')}\n`);
}

async function demo({ settings, flags }: CommandInput): Promise<void> {
  const directory = readDataDirectory(settings.data_dir);
  if (!flags.has('remove')) {
    const { describeDemo } = await import('#demo/status.ts');
    return print(await describeDemo(directory, settings['gateway.port']));
  }
  // Opening an installation would create one.
  const exists = settings['database.url'] !== '' || hasDatabase(settings.data_dir);
  const { openInstallation } = exists ? await loadApplication() : {};
  if (!openInstallation) return print(`There is no installation in ${directory.path}, and no demo.\n`);
  const { removeDemo } = await import('#demo/remove.ts');
  const installation = await openInstallation(settings, createEnvironment(settings));
  try {
    print(await removeDemo(installation));
  } finally {
    await installation.close();
  }
}

async function migrate({ settings }: CommandInput): Promise<void> {
  const { openInstallation } = await loadApplication();
  let versions: SchemaVersions | undefined;
  const onMigrated = (it: SchemaVersions) => {
    versions = it;
  };
  const installation = await openInstallation(settings, { ...createEnvironment(settings), onMigrated });
  await installation.close();
  print(`${describeMigration(versions!)}\n`);
}

function describeMigration({ from, to }: SchemaVersions): string {
  if (from === to) return `The database has schema version ${to} already.`;
  return from === 0
    ? `The database was created with schema version ${to}.`
    : `The database was migrated from schema version ${from} to ${to}.`;
}

async function credentials({ settings, flags }: CommandInput): Promise<void> {
  if (!flags.has('rotate') && !flags.has('rotate-master')) return print(locateCredentials(settings));
  const noInstallation = () => problem.no_installation({ detail: { path: readDataDirectory(settings.data_dir).path } });
  // Opening an installation would create one.
  if (!settings['database.url'] && !hasDatabase(settings.data_dir)) throw noInstallation();
  const { openInstallation } = await loadApplication();
  const { rotateCredentials } = await import('#people/installation/bootstrap.ts');
  const installation = await openInstallation(settings, createEnvironment(settings));
  const { directory, services } = installation;
  try {
    if (flags.has('rotate-master')) return await rotateMaster(settings, installation);
    const created = await writeCredentials(installation, () => rotateCredentials(services));
    if (!created) throw noInstallation();
    print(
      `New credentials are in ${directory.pathOf(credentialsFile)}; old ones that no setting fixes no longer work.\n`,
    );
  } finally {
    await installation.close();
  }
}

/** Takes no lock, which a running gw holds. */
function locateCredentials(settings: Settings): string {
  const directory = readDataDirectory(settings.data_dir);
  const path = directory.pathOf(credentialsFile);
  if (directory.read(credentialsFile) !== undefined) return `${path}\n`;
  return settings['database.url']
    ? `There is no ${path}: the credentials were written to the data directory of the first start; --rotate creates new ones\n`
    : `There are no credentials yet: gw start creates them in ${path}\n`;
}

/** New master key for installations that set it in the settings, where the output is no terminal. */
const rotatedMasterKeyFile = 'master.key.rotated';

async function rotateMaster(settings: Settings, { directory, records }: Installation): Promise<void> {
  const current = createMasterKeys(directory, settings.master_key).candidates()[0]!;
  const next = createSecretText();
  async function rewrap(): Promise<void> {
    await rewrapDataKey(records, createMetaStore(records), current, next);
    // Wrapped with the old key; the next start writes a new backup.
    directory.remove(backupFileName);
  }
  if (settings.master_key) {
    // Output before anything depends on it, so that no interruption can lose it.
    if (isTerminal()) print(`The new master key, shown once:\n\n  ${next}\n\n`);
    else {
      directory.write(rotatedMasterKeyFile, `${next}\n`);
      print(
        `The new master key is in ${directory.pathOf(rotatedMasterKeyFile)}: delete the file after copying the key.\n`,
      );
    }
    await rewrap();
    return print('It is in use: set it as GW_MASTER_KEY before the next start. The old master key no longer works.\n');
  }
  await replaceMasterKey(directory, next, rewrap);
  print(`The master key in ${directory.pathOf('master.key')} is new; the old master key no longer works.\n`);
}

ignoreClosedOutput();
try {
  await main(process.argv.slice(2));
} catch (error) {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  printError(replaceLineControls(error instanceof Problem ? error.message : text));
  setExitCode(1);
}
