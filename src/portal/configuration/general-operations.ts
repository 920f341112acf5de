import { z } from 'zod';
import { meaningfulNull } from '#base/members.ts';
import { describeSetting, readSetting } from '#base/settings.ts';
import { maxMultilineChars } from '#base/settings-rows.ts';
import { operation } from '#operations/operation.ts';
import { createInvalidProblem } from '#operations/validation-error.ts';
import { problem } from '../problems.ts';
import { GeneralSetting, listGeneralSettings } from './general-settings.ts';
import { type StorableSetting, type StoredSettings, storableSettings } from './stored-settings.ts';

const maxChars = 1000;
const toMember = (maxTextChars: number) =>
  meaningfulNull(
    z
      .union([z.string().max(maxTextChars), z.number(), z.boolean()])
      .nullable()
      .optional(),
  );
type Member = ReturnType<typeof toMember>;
const [member, multilineMember] = [toMember(maxChars), toMember(maxMultilineChars)];
const members = Object.fromEntries(
  storableSettings.map(name => [name, describeSetting(name).isMultiline ? multilineMember : member]),
);

export const updateGeneralSettings = operation({
  surface: 'portal',
  noun: 'configuration',
  permission: 'secret',
  name: 'updateGeneralSettings',
  method: 'PUT',
  path: '/portal-api/general-settings',
  about:
    'Sets settings of the portal for all processes, at once; null resets one to the configured value. One that an environment variable or flag of the process sets is refused.',
  body: z.object(members as Record<StorableSetting, Member>),
  example: { 'portal.try_it': 'off', 'portal.expiry_notice_days': null },
  returns: z.array(GeneralSetting),
  problems: [problem.setting_pinned],
  async handle({ body, audit }, { storedSettings }: { storedSettings: StoredSettings }) {
    const sent = Object.entries(body).filter(([, given]) => given !== undefined) as [StorableSetting, unknown][];
    audit(sent.map(([name]) => name).join(' '));
    const pinned = sent.map(([name]) => name).filter(storedSettings.isPinned);
    if (pinned.length > 0) throw problem.setting_pinned({ detail: { names: pinned.join(', ') } });
    const read = sent.map(([name, given]) => ({
      name,
      ...(given === null ? { value: null } : readSetting(name, given)),
    }));
    const faults = read.flatMap(it => ('fault' in it ? [{ path: it.name, message: String(it.fault) }] : []));
    if (faults.length > 0) throw createInvalidProblem(faults);
    await storedSettings.change(Object.fromEntries(read.map(it => [it.name, it.value])));
    return listGeneralSettings(storedSettings);
  },
});

export const generalSettingsOperations = [updateGeneralSettings];
