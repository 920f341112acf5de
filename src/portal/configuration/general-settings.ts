import { z } from 'zod';
import { describeSetting, findSettingSource, maskSettings, type SettingName, settingSources } from '#base/settings.ts';
import { type StoredSettings, storableSettings } from './stored-settings.ts';

const value = z.union([z.string(), z.number(), z.boolean()]);

export const GeneralSetting = z.object({
  Name: z.string(),
  Value: value,
  Source: z.enum(settingSources),
  About: z.string(),
  IsEditable: z
    .boolean()
    .describe('It is set here; false where it is read at the start, or set by an environment variable or flag'),
  Configured: value.describe('Value without the one that is set here'),
  IsMultiline: z.boolean().describe('Text of several lines'),
  Options: z.array(z.string()).describe('Choices; empty for other values'),
});

const toWireValue = (given: unknown) =>
  typeof given === 'number' || typeof given === 'boolean' ? given : String(given);
const isStorable = (name: SettingName) => storableSettings.some(it => it === name);

/** Settings of the portal in effect, with secrets masked. */
export const listGeneralSettings = ({ settings, isPinned, readConfigured }: StoredSettings) =>
  Object.entries(maskSettings(settings))
    .filter(([name]) => name.startsWith('portal.'))
    .map(([key, given]) => {
      const name = key as SettingName;
      const { about, options = [], isMultiline = false } = describeSetting(name);
      return {
        Name: name,
        Value: toWireValue(given),
        Source: findSettingSource(settings, name),
        About: about,
        IsEditable: isStorable(name) && !isPinned(name),
        Configured: toWireValue(isStorable(name) ? readConfigured(name) : given),
        IsMultiline: isMultiline,
        Options: [...options],
      };
    });
