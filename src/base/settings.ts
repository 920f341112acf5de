import { readFileSync } from 'node:fs';
import { closestMatch } from './closest-match.ts';
import { loadYaml } from './lazy-packages.ts';
import { problems } from './problems.ts';
import { renamedSettings } from './renamed-settings.ts';
import { type Setting, SettingError } from './settings-rows.ts';
import { type SettingName, type Settings, settingsTable } from './settings-table.ts';

export type { SettingName, Settings };

const problem = problems('settings', {
  unusable: { status: 500, message: '{faults}' },
});

/** Sources of settings, in ascending precedence. */
export interface SettingSources {
  /** Path of `gw.yaml` or a JSON file; `required` when it was named explicitly. */
  file?: { path: string; required: boolean };
  environment?: Record<string, string | undefined>;
  flags?: Record<string, string>;
}

export const settingNames = Object.keys(settingsTable) as SettingName[];
export const toEnvironmentName = (name: string): string => `GW_${name.toUpperCase().replaceAll('.', '_')}`;
export const toFlagName = (name: string): string => `--${name.replaceAll('.', '-').replaceAll('_', '-')}`;

const rows = settingsTable as Record<SettingName, Setting<unknown>>;
const normalizeName = (name: string) => name.toLowerCase().replaceAll(/[._-]/g, '-');
const byNormalizedName = new Map(settingNames.map(name => [normalizeName(name), name]));

export const isSetting = (flag: string): boolean => byNormalizedName.has(normalizeName(flag));

/** True for a flag that means `true` without a value. */
export const isSwitch = (flag: string): boolean => {
  const name = byNormalizedName.get(normalizeName(flag));
  return name !== undefined && rows[name].needsValue === false;
};

/**
 * Environment variables that are no settings: service links that orchestrators inject for services called `gw` or
 * `gw-…` (`GW_PORTAL_PORT=tcp://10.0.0.7:3001`); `GW_URL`, `GW_SECRET`, `GW_ACCESS_KEY`, `GW_CA_FILE`,
 * `GW_CLIENT_CERTIFICATE_FILE` and `GW_CLIENT_KEY_FILE` of the client commands; `GW_SECRET_…` of definitions;
 * `GW_VAR_…` of configuration files.
 */
const isForeignVariable = (name: string, value: string) =>
  /^GW_(URL$|SECRET$|ACCESS_KEY$|CA_FILE$|CLIENT_(CERTIFICATE|KEY)_FILE$|SECRET_|VAR_|TEST_)/.test(name) ||
  /^GW_(.+_)?(SERVICE_(HOST|PORT)|PORT_\d+_(TCP|UDP|SCTP))(_|$)/.test(name) ||
  (/^GW_(.+_)?PORT$/.test(name) && /^(tcp|udp|sctp):\/\//.test(value));

/** Where values come from, in ascending precedence. */
export const settingSources = ['default', 'file', 'stored', 'environment', 'flag'] as const;
export type SettingSource = (typeof settingSources)[number];

interface SourcedValue {
  name: string;
  value: unknown;
  source: Exclude<SettingSource, 'default' | 'stored'>;
  /** The source in messages. */
  from: string;
}

/** Sources of the values that are no defaults. */
const sourcesBySettings = new WeakMap<Settings, ReadonlyMap<SettingName, SettingSource>>();

/** Tells of views whether a value is a stored one. */
const storedBySettings = new WeakMap<Settings, (name: SettingName) => boolean>();

/** Where a value comes from. */
export const findSettingSource = (settings: Settings, name: SettingName): SettingSource =>
  storedBySettings.get(settings)?.(name) ? 'stored' : (sourcesBySettings.get(settings)?.get(name) ?? 'default');

/** True where an environment variable or a flag sets it: stored values do not replace these. */
export const isPinnedSetting = (settings: Settings, name: SettingName): boolean =>
  ['environment', 'flag'].includes(findSettingSource(settings, name));

/** View of settings whose named ones have a stored value, where `find` has one and they are not pinned. */
export function overlaySettings(
  settings: Settings,
  names: readonly SettingName[],
  find: (name: SettingName) => unknown,
): Settings {
  const overlaid = new Set(names.filter(name => !isPinnedSetting(settings, name)));
  const properties = settingNames.map(name => {
    const value = overlaid.has(name) ? { get: () => find(name) ?? settings[name] } : { value: settings[name] };
    return [name, { ...value, enumerable: true }] as const;
  });
  const view = Object.freeze(Object.defineProperties({}, Object.fromEntries(properties))) as Settings;
  sourcesBySettings.set(view, sourcesBySettings.get(settings) ?? new Map());
  storedBySettings.set(view, name => overlaid.has(name) && find(name) !== undefined);
  return view;
}

/** Parses the value of a setting, or says what is wrong with it. */
export function readSetting(
  name: SettingName,
  given: unknown,
): { readonly value: unknown; readonly fault?: undefined } | { readonly value?: undefined; readonly fault: string } {
  try {
    return { value: rows[name].read(given) };
  } catch (fault) {
    if (!(fault instanceof SettingError)) throw fault;
    return { fault: fault.message };
  }
}

/** Precedence: defaults < file < environment < flags. Reports all errors at once. */
export function readSettings(sources: SettingSources): Settings {
  const values: Partial<Record<SettingName, unknown>> = {};
  const faults: string[] = [];
  const found = new Map<SettingName, SettingSource>();
  for (const name of settingNames) values[name] = rows[name].default;
  for (const { name, value, source, from } of readSources(sources)) {
    const known = byNormalizedName.get(normalizeName(name));
    if (!known) {
      faults.push(formatUnknownSetting(name, from));
      continue;
    }
    try {
      values[known] = rows[known].read(value);
      found.set(known, source);
    } catch (fault) {
      if (!(fault instanceof SettingError)) throw fault;
      faults.push(`${known} (${from}): ${fault.message}`);
    }
  }
  if (faults.length > 0) throw problem.unusable({ detail: { faults: faults.join('\n') } });
  const settings = Object.freeze(values) as Settings;
  sourcesBySettings.set(settings, found);
  return settings;
}

/** A setting that is an object arrives member by member. */
const findRenamed = (name: string): SettingName | undefined =>
  Object.entries(renamedSettings).find(
    ([old]) => normalizeName(name) === normalizeName(old) || name.startsWith(`${old}.`),
  )?.[1];

function formatUnknownSetting(name: string, from: string): string {
  const renamed = findRenamed(name);
  if (renamed) return `${name} (${from}): this setting is now called ${renamed}`;
  const guess = closestMatch(normalizeName(name), byNormalizedName.keys());
  const known = guess === undefined ? undefined : byNormalizedName.get(guess);
  return `${name} (${from}): no such setting${known ? `; did you mean ${known}?` : ' (gw config lists them all)'}`;
}

function* readSources({ file, environment, flags }: SettingSources): Generator<SourcedValue> {
  if (file) yield* readFileValues(file.path, file.required);
  for (const [name, value] of Object.entries(environment ?? {})) {
    if (!name.startsWith('GW_') || value === undefined || isForeignVariable(name, value)) continue;
    yield { name: name.slice(3).toLowerCase(), value, source: 'environment', from: `environment ${name}` };
  }
  for (const [name, value] of Object.entries(flags ?? {}))
    yield { name, value, source: 'flag', from: `flag --${name}` };
}

function* readFileValues(path: string, required: boolean): Generator<SourcedValue> {
  const content = readOptional(path, required);
  if (content === undefined) return;
  let document: unknown;
  try {
    document = loadYaml().parse(content);
  } catch (cause) {
    // The message of the YAML parser may quote a line that holds a secret: keep the line number only.
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

function* flatten(node: object, prefix: string, from: string): Generator<SourcedValue> {
  for (const [name, value] of Object.entries(node)) {
    const whole = prefix + name;
    const nested = typeof value === 'object' && value !== null && !Array.isArray(value);
    if (nested && !byNormalizedName.has(normalizeName(whole))) yield* flatten(value, `${whole}.`, from);
    else yield { name: whole, value, source: 'file', from };
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

/** Meaning and default of a setting. */
export const describeSetting = (
  name: SettingName,
): Pick<Setting<unknown>, 'about' | 'default' | 'options' | 'isMultiline'> => rows[name];

/** Settings with secrets masked, for display. */
export function maskSettings(settings: Settings): Record<SettingName, unknown> {
  const shown = settingNames.map(name => [name, rows[name].secret ? maskValue(settings[name]) : settings[name]]);
  return Object.fromEntries(shown) as Record<SettingName, unknown>;
}

/** Masks a secret, or each member of an object of secrets; an unset value stays visible. */
function maskValue(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value && '********';
  return Object.fromEntries(Object.entries(value).map(([name, it]) => [name, maskValue(it)]));
}
