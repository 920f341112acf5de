import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { nearest } from './closest-match.ts';
import { problems } from './problems.ts';
import { type Setting, SettingFault } from './settings-rows.ts';
import { type SettingName, type Settings, settingsTable } from './settings-table.ts';

export type { SettingName, Settings };

const problem = problems('settings', {
  unusable: { status: 500, message: '{faults}' },
});

/** Where settings come from, the later ones winning. */
export interface SettingSources {
  /** Path of `gw.yaml` or a JSON file. A file that was asked for by name must exist. */
  file?: { path: string; required: boolean };
  environment?: Record<string, string | undefined>;
  flags?: Record<string, string>;
}

export const settingNames = Object.keys(settingsTable) as SettingName[];
export const environmentName = (name: string): string => `GW_${name.toUpperCase().replaceAll('.', '_')}`;
export const flagName = (name: string): string => `--${name.replaceAll('.', '-').replaceAll('_', '-')}`;

const rows = settingsTable as Record<SettingName, Setting<unknown>>;
const plain = (name: string) => name.toLowerCase().replaceAll(/[._-]/g, '-');
const byPlainName = new Map(settingNames.map(name => [plain(name), name]));

export const isSetting = (flag: string): boolean => byPlainName.has(plain(flag));

/** The flags that mean `true` when no value is given with `=`. */
export const isSwitch = (flag: string): boolean => {
  const name = byPlainName.get(plain(flag));
  return name !== undefined && rows[name].needsValue === false;
};

/**
 * Orchestrators describe services called `gw` or `gw-…` to every process with names and values like these. They are
 * nobody's setting, even where the name is one (`GW_PORTAL_PORT=tcp://10.0.0.7:3001`). Nor are `GW_URL` and `GW_SECRET`,
 * by which the commands that are clients of a gateway find it, nor `GW_SECRET_…`, which definitions may name.
 */
const notOurs = (name: string, value: string) =>
  /^GW_(URL$|SECRET$|SECRET_|TEST_|(.+_)?SERVICE_(HOST|PORT)(_|$)|(.+_)?PORT_\d+_(TCP|UDP|SCTP)(_|$))/.test(name) ||
  (/^GW_(.+_)?PORT$/.test(name) && /^(tcp|udp|sctp):\/\//.test(value));

interface Given {
  name: string;
  value: unknown;
  from: string;
}

/** Defaults < file < environment < flags. Everything wrong is reported at once. */
export function readSettings(sources: SettingSources): Settings {
  const values: Partial<Record<SettingName, unknown>> = {};
  const faults: string[] = [];
  for (const name of settingNames) values[name] = rows[name].default;
  for (const { name, value, from } of given(sources)) {
    const known = byPlainName.get(plain(name));
    if (!known) {
      faults.push(unknownSentence(name, from));
      continue;
    }
    try {
      values[known] = rows[known].read(value);
    } catch (fault) {
      if (!(fault instanceof SettingFault)) throw fault;
      faults.push(`${known} (${from}): ${fault.message}`);
    }
  }
  if (faults.length > 0) throw problem.unusable({ detail: { faults: faults.join('\n') } });
  return Object.freeze(values) as Settings;
}

function unknownSentence(name: string, from: string): string {
  const guess = nearest(plain(name), byPlainName.keys());
  const known = guess === undefined ? undefined : byPlainName.get(guess);
  return `${name} (${from}): no such setting${known ? `; did you mean ${known}?` : ' (gw config lists them all)'}`;
}

function* given({ file, environment, flags }: SettingSources): Generator<Given> {
  if (file) yield* fromFile(file.path, file.required);
  for (const [name, value] of Object.entries(environment ?? {})) {
    if (!name.startsWith('GW_') || value === undefined || notOurs(name, value)) continue;
    yield { name: name.slice(3).toLowerCase(), value, from: `environment ${name}` };
  }
  for (const [name, value] of Object.entries(flags ?? {})) yield { name, value, from: `flag --${name}` };
}

function* fromFile(path: string, required: boolean): Generator<Given> {
  const content = readOptional(path, required);
  if (content === undefined) return;
  let document: unknown;
  try {
    document = parse(content);
  } catch (cause) {
    // The reader's own message may repeat a line of the file, and with it a secret: keep the place only.
    const place = (cause as { linePos?: { line: number }[] }).linePos?.[0]?.line;
    const where = place === undefined ? '' : ` (line ${place})`;
    throw problem.unusable({ detail: { faults: `${path}: cannot be read as YAML or JSON${where}` } });
  }
  if (document === null || document === undefined) return;
  if (typeof document !== 'object' || Array.isArray(document)) {
    throw problem.unusable({ detail: { faults: `${path}: must hold settings by name` } });
  }
  yield* flatten(document, '', path);
}

function* flatten(node: object, prefix: string, from: string): Generator<Given> {
  for (const [name, value] of Object.entries(node)) {
    const whole = prefix + name;
    const nested = typeof value === 'object' && value !== null && !Array.isArray(value);
    if (nested && !byPlainName.has(plain(whole))) yield* flatten(value, `${whole}.`, from);
    else yield { name: whole, value, from };
  }
}

function readOptional(path: string, required: boolean): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    if (!required && (cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw problem.unusable({
      detail: { faults: `${path}: cannot be read (${(cause as NodeJS.ErrnoException).code})` },
      cause,
    });
  }
}

/** The settings as an operator may see them: secrets are masked. */
export function shownSettings(settings: Settings): Record<SettingName, unknown> {
  const shown = settingNames.map(name => [name, rows[name].secret ? masked(settings[name]) : settings[name]]);
  return Object.fromEntries(shown) as Record<SettingName, unknown>;
}

/** What is unset is shown as that. */
function masked(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value && '********';
  return Object.fromEntries(Object.entries(value).map(([name, it]) => [name, masked(it)]));
}
