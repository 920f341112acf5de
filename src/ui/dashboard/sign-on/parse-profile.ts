import { signOnTexts } from '../../texts/en/sign-on.ts';
import { emptyProfile, type FieldRow, type ProfileBody, providerFields, readConfig } from './profile-draft.ts';

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Types that the fields of the form show; the server checks the rest. */
const isShowable: Readonly<Record<FieldRow['kind'], (value: unknown) => boolean>> = {
  text: value => typeof value === 'string',
  secret: value => typeof value === 'string',
  area: value => typeof value === 'string',
  switch: value => typeof value === 'boolean',
  list: value => Array.isArray(value) && value.every(item => typeof item === 'string'),
};

function findWrongType(profile: Record<string, unknown>): string | undefined {
  for (const [name, empty] of Object.entries(emptyProfile)) {
    const value = profile[name];
    if (isRecord(empty) ? !isRecord(value) : typeof value !== typeof empty) return name;
  }
  const body = profile as unknown as ProfileBody;
  if (!Object.hasOwn(providerFields, body.ProviderName)) return 'ProviderName';
  const { UseProviders: list = [] } = body.ProviderConfig as Record<string, unknown>;
  if (!Array.isArray(list) || !list.every(isRecord)) return 'UseProviders';
  if (!Object.values(body.UserGroupMapping).every(group => typeof group === 'string')) return 'UserGroupMapping';
  const config = readConfig(body);
  return providerFields[body.ProviderName].find(
    ({ member, kind }) => config[member] !== undefined && !isShowable[kind](config[member]),
  )?.member;
}

/** Profile of a text; members that it lacks are empty. A fault where it is none, or has other members. */
export function parseProfile(text: string): { readonly profile?: ProfileBody; readonly fault?: string } {
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch (error) {
    return { fault: (error as Error).message };
  }
  if (!isRecord(read)) return { fault: signOnTexts.jsonObject };
  const unknown = Object.keys(read).find(name => !Object.hasOwn(emptyProfile, name));
  if (unknown !== undefined) return { fault: signOnTexts.jsonUnknown(unknown) };
  const profile = { ...emptyProfile, ...(read as Partial<ProfileBody>) };
  const wrong = findWrongType(profile as unknown as Record<string, unknown>);
  return wrong === undefined ? { profile } : { fault: signOnTexts.jsonType(wrong) };
}
