#!/usr/bin/env node
import { systemClock } from '#base/clock.ts';
import { parseCommandLine } from '#base/command-line.ts';
import { secretText } from '#base/ids.ts';
import { createLog } from '#base/log.ts';
import { nearest } from '#base/nearest.ts';
import { Problem } from '#base/problems.ts';
import { environment, finish, print, printFault, whenToldToStop } from '#base/process.ts';
import { readSettings, type Settings, shownSettings } from '#base/settings.ts';
import { type Credentials, rotateCredentials } from '#people/installation/bootstrap.ts';
import { masterKeys, replaceMasterKey } from '#storage/data-directory.ts';
import { metaStore, rewrapDataKey } from '#storage/meta.ts';
import { openInstallation, startApplication } from './application.ts';

const help = `gw: the Gatewright API management platform

Usage
  gw start [--role all|gateway|dashboard|portal] [--demo] [--SETTING VALUE …]
  gw config                        the settings in force, secrets masked
  gw migrate                       brings the database up to date and ends
  gw credentials                   where the credentials of this installation are
  gw credentials --rotate          new credentials for everything the settings do not fix
  gw credentials --rotate-master   a new key for the secrets at rest

Settings come from gw.yaml (or the file named by --config), from GW_… in the environment, and from flags;
the later ones win. docs/reference/settings.md lists them all.
`;

interface Given {
  readonly settings: Settings;
  readonly flags: Readonly<Record<string, string>>;
}

const commands: Record<string, (given: Given) => Promise<void>> = { start, config, migrate, credentials };
const ownFlags = new Set(['help', 'rotate', 'rotate-master', 'config']);
const switches = new Set(['help', 'rotate', 'rotate-master', 'demo', 'production']);

async function main(words: readonly string[]): Promise<void> {
  const { words: names, flags } = parseCommandLine(words, switches);
  const name = names[0];
  if (flags.help || name === undefined || name === 'help') return print(help);
  const command = commands[name];
  if (!command || names.length > 1) return unknownCommand(names.join(' '));
  const settingFlags = Object.fromEntries(Object.entries(flags).filter(([flag]) => !ownFlags.has(flag)));
  const file = { path: flags.config ?? 'gw.yaml', required: flags.config !== undefined };
  const settings = readSettings({ file, environment: environment(), flags: settingFlags });
  await command({ settings, flags });
}

function unknownCommand(name: string): void {
  const guess = nearest(name, Object.keys(commands));
  printFault(`gw: there is no command ${name}${guess ? `; did you mean ${guess}?` : ''} Try gw --help`);
  finish(2);
}

const surroundings = (settings: Settings) => ({
  log: createLog({ level: settings['log.level'], format: settings['log.format'] }),
  clock: systemClock,
});

async function start({ settings }: Given): Promise<void> {
  const around = surroundings(settings);
  const application = await startApplication(settings, around);
  const { urls, credentials: made, installation } = application;
  const lines = Object.entries(urls).map(([name, url]) => `  ${name.padEnd(10)} ${url}`);
  print(`Gatewright is ready.\n\n${lines.join('\n')}\n`);
  if (made) print(firstStart(made, installation.directory.file('credentials.json')));
  else print(`Credentials: ${installation.directory.file('credentials.json')}\n`);
  whenToldToStop(async signal => {
    around.log.info({ signal }, 'stopping');
    await application.close();
    finish(0);
  }, settings['shutdown.grace_seconds'] * 1000);
}

function firstStart(made: Credentials, path: string): string {
  const lines = Object.entries(made).map(([name, value]) => `  ${name.padEnd(18)} ${value}`);
  return `\nFirst start. These credentials are shown once and kept in ${path}:\n\n${lines.join('\n')}\n`;
}

async function config({ settings }: Given): Promise<void> {
  const lines = Object.entries(shownSettings(settings)).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  print(`${lines.join('\n')}\n`);
}

async function migrate({ settings }: Given): Promise<void> {
  const installation = await openInstallation(settings, surroundings(settings));
  await installation.close();
  print('The database is up to date.\n');
}

async function credentials({ settings, flags }: Given): Promise<void> {
  const installation = await openInstallation(settings, surroundings(settings));
  const { directory, tools } = installation;
  const path = directory.file('credentials.json');
  try {
    if (flags['rotate-master']) return await rotateMaster(settings, installation);
    if (!flags.rotate) {
      return print(
        directory.read('credentials.json') ? `${path}\n` : `There are none yet: gw start makes them in ${path}\n`,
      );
    }
    const made = await rotateCredentials(tools);
    if (!made) return print('There is nothing to rotate yet: start gw once.\n');
    directory.write('credentials.json', `${JSON.stringify(made, null, 2)}\n`);
    print(`New credentials are in ${path}; the old ones no longer work.\n`);
  } finally {
    await installation.close();
  }
}

async function rotateMaster(settings: Settings, { directory, records }: Awaited<ReturnType<typeof openInstallation>>) {
  const current = masterKeys(directory, settings.master_key)[0]!;
  const next = secretText();
  const rewrap = () => rewrapDataKey(records, metaStore(records), current, next);
  if (settings.master_key) {
    await rewrap();
    return print(`The master key is now, shown once:\n\n  ${next}\n\nSet it as GW_MASTER_KEY before the next start.\n`);
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
