import type { Log } from '#base/log.ts';
import { every, type RepeatedWork } from '#base/repeat.ts';
import { isPinnedSetting, overlaySettings, readSetting, type SettingName, type Settings } from '#base/settings.ts';
import { tryParseJson } from '#base/try-parse-json.ts';
import type { Meta } from '#storage/meta.ts';
import type { Records } from '#storage/records.ts';

/** Settings of the portal that administrators change while it runs: each is read when it is needed. */
export const storableSettings = [
  'portal.name',
  'portal.visibility',
  'portal.indexing',
  'portal.robots_txt',
  'portal.llms_txt',
  'portal.embed_origins',
  'portal.try_it',
  'portal.secret_display',
  'portal.second_factor',
  'portal.registration',
  'portal.sso_creates_developers',
  'portal.organisation_requests',
  'portal.invitation_ttl_seconds',
  'portal.expiry_notice_days',
  'portal.max_rotation_overlap_seconds',
] as const satisfies readonly SettingName[];
export type StorableSetting = (typeof storableSettings)[number];

export type StoredSettings = ReturnType<typeof createStoredSettings>;

const metaName = 'portal_settings';
/** Processes without requests of the portal, whose periodic work reads settings too. */
const refreshIntervalMs = 60_000;

interface StoredSettingsOptions {
  readonly settings: Settings;
  readonly records: Records;
  readonly meta: Meta;
  readonly log: Pick<Log, 'warn'>;
}

/**
 * Settings in the database, over defaults and the file; environment variables and flags of a process win over them.
 * `settings` is a view that has the values of the last refresh, which comes before each request of the portal.
 */
export function createStoredSettings({ settings: configured, records, meta, log }: StoredSettingsOptions) {
  let text = '';
  let values: ReadonlyMap<SettingName, unknown> = new Map();
  const settings = overlaySettings(configured, storableSettings, name => values.get(name));

  async function refresh(): Promise<void> {
    const next = (await meta.get(metaName)) ?? '';
    if (next === text) return;
    [text, values] = [next, parseValues(next, log)];
  }

  return {
    settings,
    /** The value that holds without a stored one. */
    readConfigured: (name: SettingName): unknown => configured[name],
    isPinned: (name: SettingName): boolean => isPinnedSetting(configured, name),
    refresh,
    /** A failure leaves the last values: the request itself reports a database that is unavailable. */
    async tryRefresh(): Promise<void> {
      try {
        await refresh();
      } catch (err) {
        log.warn({ err }, 'settings of the portal not read, using the last ones');
      }
    },
    /** Stores values by name; null removes one. */
    async change(changes: Readonly<Record<string, unknown>>): Promise<void> {
      await records.write(() =>
        meta.change(metaName, '{}', stored => {
          const entries = Object.entries({ ...toObject(stored), ...changes }).filter(([, value]) => value !== null);
          return JSON.stringify(Object.fromEntries(entries));
        }),
      );
      await refresh();
    },
  };
}

const toObject = (text: string) => (tryParseJson(text) ?? {}) as Record<string, unknown>;

/** A value that this version refuses, stored by another one, is left out. */
function parseValues(text: string, log: Pick<Log, 'warn'>): ReadonlyMap<SettingName, unknown> {
  const stored = toObject(text);
  const values = new Map<SettingName, unknown>();
  for (const name of storableSettings) {
    if (stored[name] === undefined) continue;
    const { value, fault } = readSetting(name, stored[name]);
    if (fault === undefined) values.set(name, value);
    else log.warn({ setting: name, reason: fault }, 'stored setting ignored');
  }
  return values;
}

/** Probes of the process must not wait for the database. */
const healthPaths = /^\/(?:hello|live|ready)(?:$|\?)/;

/** Hook of the portal's listener: settings are those of the database before a request is handled. */
export const createSettingHook =
  ({ tryRefresh }: Pick<StoredSettings, 'tryRefresh'>) =>
  async ({ url }: { readonly url: string }): Promise<void> => {
    if (!healthPaths.test(url)) await tryRefresh();
  };

export interface SettingRefreshOptions {
  readonly storedSettings: Pick<StoredSettings, 'tryRefresh'>;
  readonly log: Pick<Log, 'warn'>;
}

/** Refreshes the settings of a process that has no requests of the portal. */
export const startSettingRefresh = ({ storedSettings, log }: SettingRefreshOptions): RepeatedWork =>
  every(refreshIntervalMs, storedSettings.tryRefresh, {
    onError: err => log.warn({ err }, 'settings of the portal not read'),
    unref: true,
  });
