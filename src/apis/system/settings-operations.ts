import { z } from 'zod';
import {
  describeSetting,
  findSettingSource,
  maskSettings,
  type SettingName,
  type Settings,
  settingSources,
} from '#base/settings.ts';
import { operation } from '#operations/operation.ts';
import type { GrantStore } from '#people/organisations/grant-store.ts';
import { canSeeNodes } from './node-visibility.ts';

const settingView = z.object({
  name: z.string(),
  value: z.unknown().describe('Value in effect; secrets are masked'),
  default: z.unknown(),
  source: z.enum(settingSources).describe('Where the value comes from'),
  about: z.string(),
});

interface SettingServices {
  settings: Settings;
  grants: GrantStore;
}

const findSettings = (settings: Settings, text: string) => {
  const part = text.toLowerCase();
  return Object.entries(maskSettings(settings)).flatMap(([key, value]) => {
    const name = key as SettingName;
    const { about, default: fallback } = describeSetting(name);
    if (!name.includes(part) && !about.toLowerCase().includes(part)) return [];
    return [{ name, value, default: fallback, source: findSettingSource(settings, name), about }];
  });
};

export const listSystemSettings = operation({
  surface: 'dashboard',
  noun: 'system',
  name: 'listSystemSettings',
  method: 'GET',
  path: '/api/system/settings',
  about:
    'Lists the settings of the process that responds, by name, with secrets masked. Users of organisations other than the operator’s get none.',
  permission: 'system:read',
  query: z.object({
    q: z.string().trim().max(200).default('').describe('Part of the name or meaning, case-insensitive'),
    changed: z.enum(['0', '1']).default('0').describe('1 lists only values that are not defaults'),
  }),
  returns: z.object({ settings: z.array(settingView) }),
  async handle({ actor, query: { q, changed } }, { settings, grants }: SettingServices) {
    if (!(await canSeeNodes(grants, actor))) return { settings: [] };
    return { settings: findSettings(settings, q).filter(({ source }) => changed === '0' || source !== 'default') };
  },
});

export const systemSettingsOperations = [listSystemSettings];
