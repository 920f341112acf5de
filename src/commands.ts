import { setTimeout as wait } from 'node:timers/promises';
import { systemClock } from '#base/clock.ts';
import { parseCommandLine } from '#base/command-line.ts';
import { keepCompiled } from '#base/compiled.ts';
import { secretText } from '#base/ids.ts';
import { createLog } from '#base/log.ts';
import { nearest } from '#base/nearest.ts';
import { Problem } from '#base/problems.ts';
import { environment, finish, print, printFault, whenToldToStop } from '#base/process.ts';
import { isSwitch, readSettings, type Settings, shownSettings } from '#base/settings.ts';
import { clientCommand, clientCommandNames, isClientCommand } from '#cli/client-command.ts';
import { knownFile } from '#gateway/known/known.ts';
import { prepareThread } from '#gateway/prepared.ts';
import { threadCount } from '#gateway/thread-count.ts';
import type { Credentials } from '#people/installation/bootstrap.ts';
import { masterKeys, replaceMasterKey } from '#storage/data-directory.ts';
import { metaStore, rewrapDataKey } from '#storage/meta.ts';
import type { Installation } from './application.ts';
import { version } from './version.ts';

const help = `gw: the Gatewright API management platform

Usage
  gw start [--role all|gateway|dashboard|portal] [--SETTING VALUE …]
  gw config                        the settings in force, secrets masked
  gw migrate                       brings the database up to date and ends
  gw credentials                   where the credentials of this installation are
  gw credentials --rotate          new credentials for everything the settings do not fix
  gw credentials --rotate-master   a new key for the secrets at rest
  gw apis|keys|policies|certs ls|get|apply|rm
                                   what a running gateway keeps; gw keys --help says more
  gw --version

Settings come from gw.yaml (or the file named by --config), from GW_… in the environment, and from flags;
the later ones win. docs/reference/settings.md lists them all.
`;

interface Given {
  readonly settings: Settings;
  readonly flags: ReadonlyMap<string, string>;
}

interface Command {
  run(given: Given): Promise<void>;
  /** Flags of this command alone; they take no value. */
  readonly switches?: readonly string[];
}

const commands = new Map<string, Command>([
  ['start', { run: start }],
  ['config', { run: config }],
  ['migrate', { run: migrate }],
  ['credentials', { run: credentials, switches: ['rotate', 'rotate-master'] }],
]);
const ownSwitches = new Set(['help', 'version', ...[...commands.values()].flatMap(({ switches = [] }) => switches)]);

async function main(given: readonly string[]): Promise<void> {
  if (isClientCommand(given[0])) return clientCommand(given, { environment: environment(), print });
  const { words, flags } = parseCommandLine(given, name => ownSwitches.has(name) || isSwitch(name));
  const [name] = words;
  if (flags.has('version')) return print(`${version}\n`);
  if (flags.has('help') || name === undefined || name === 'help') return print(help);
  const command = commands.get(name);
  if (!command || words.length > 1) return unknownCommand(words.join(' '));
  const own = new Set(['config', ...(command.switches ?? [])]);
  const settingFlags = Object.fromEntries([...flags].filter(([flag]) => !own.has(flag)));
  const file = { path: flags.get('config') ?? 'gw.yaml', required: flags.has('config') };
  const settings = readSettings({ file, environment: environment(), flags: settingFlags });
  await command.run({ settings, flags });
}

function unknownCommand(name: string): void {
  const guess = nearest(name, [...commands.keys(), ...clientCommandNames]);
  printFault(`There is no command ${name}${guess ? `; did you mean ${guess}?` : ''} (gw --help lists them all)`);
  finish(2);
}

/** Loaded by the commands that need it: help and settings are shown at once. */
const product = () => import('./application.ts');

const surroundings = (settings: Settings) => ({
  log: createLog({ level: settings['log.level'], format: settings['log.format'] }),
  clock: systemClock,
});

/** They load while the rest does. */
const preparedThreads = (settings: Settings) =>
  settings.role === 'all' || settings.role === 'gateway'
    ? Array.from({ length: threadCount(settings) }, () => prepareThread())
    : [];

async function start({ settings }: Given): Promise<void> {
  const around = { ...surroundings(settings), prepared: preparedThreads(settings) };
  const { startApplication } = await product();
  const application = await startApplication(settings, around);
  const delayMs = settings['shutdown.delay_seconds'] * 1000;
  // Before it is said to be ready: whoever waits for that may stop it at once.
  whenToldToStop(
    async signal => {
      around.log.info({ signal }, 'stopping');
      application.drain();
      if (delayMs > 0) await wait(delayMs);
      await application.close();
      finish(0);
    },
    delayMs + settings['shutdown.grace_seconds'] * 1000,
  );
  const { urls, credentials: made, installation } = application;
  const lines = Object.entries(urls).map(([name, url]) => `  ${name.padEnd(10)} ${url}`);
  const path = installation.directory.file('credentials.json');
  keepCompiled();
  const ready = installation.awaited ? `Gatewright is ready, ${withoutDatabase}` : 'Gatewright is ready.';
  print(`${ready}\n\n${lines.join('\n')}\n${made ? firstStart(made, path) : `Credentials: ${path}\n`}`);
}

const withoutDatabase = 'without its database: traffic is served as it was last known.';

function firstStart(made: Credentials, path: string): string {
  const lines = Object.entries(made).map(([name, value]) => `  ${name.padEnd(18)} ${value}`);
  return `\nFirst start. These credentials are shown once and kept in ${path}:\n\n${lines.join('\n')}\n`;
}

async function config({ settings }: Given): Promise<void> {
  const lines = Object.entries(shownSettings(settings)).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  print(`${lines.join('\n')}\n`);
}

async function migrate({ settings }: Given): Promise<void> {
  const { openInstallation } = await product();
  const installation = await openInstallation(settings, surroundings(settings));
  await installation.close();
  print('The database is up to date.\n');
}

async function credentials({ settings, flags }: Given): Promise<void> {
  const { openInstallation, keepCredentials } = await product();
  const { rotateCredentials } = await import('#people/installation/bootstrap.ts');
  const installation = await openInstallation(settings, surroundings(settings));
  const { directory, tools } = installation;
  const path = directory.file('credentials.json');
  try {
    if (flags.has('rotate-master')) return await rotateMaster(settings, installation);
    if (!flags.has('rotate')) {
      return print(
        directory.read('credentials.json') ? `${path}\n` : `There are none yet: gw start makes them in ${path}\n`,
      );
    }
    const made = await keepCredentials(installation, () => rotateCredentials(tools));
    if (!made) return print('There is nothing to rotate yet: start gw once.\n');
    print(`New credentials are in ${path}; the old ones no longer work.\n`);
  } finally {
    await installation.close();
  }
}

async function rotateMaster(settings: Settings, { directory, records }: Installation): Promise<void> {
  const current = masterKeys(directory, settings.master_key).kept()[0]!;
  const next = secretText();
  async function rewrap(): Promise<void> {
    await rewrapDataKey(records, metaStore(records), current, next);
    // It has the data key under the old one; the next start writes it anew.
    directory.remove(knownFile);
  }
  if (settings.master_key) {
    // Shown before anything depends on it, so that no interruption can lose it.
    print(`The new master key, shown once:\n\n  ${next}\n\n`);
    await rewrap();
    return print(
      'It is in force: set it as GW_MASTER_KEY before the next start. The old one opens nothing any more.\n',
    );
  }
  await replaceMasterKey(directory, next, rewrap);
  print(`The master key in ${directory.file('master.key')} is new; the old one opens nothing any more.\n`);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  if (error instanceof Problem) printFault(error.message);
  else printFault(error instanceof Error ? (error.stack ?? error.message) : String(error));
  finish(1);
}
