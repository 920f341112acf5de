import type { ArgumentsOf, ResultOf } from '../../kit/calls.ts';
import type { signOnTexts } from '../../texts/en/sign-on.ts';

export type ProfileData = ResultOf<'GET /api/sso/profiles/{profileId}'>;
export type ProfileBody = Required<Omit<ArgumentsOf<'POST /api/sso/profiles'>['body'], 'Type' | 'ActionType'>>;
export type SignOnProvider = ProfileBody['ProviderName'];
export type ProviderField = keyof typeof signOnTexts.fields;
type Config = Record<string, unknown>;

export interface FieldRow {
  readonly member: ProviderField;
  readonly kind: 'text' | 'secret' | 'area' | 'switch' | 'list';
}

const text = (member: ProviderField): FieldRow => ({ member, kind: 'text' });
const secret = (member: ProviderField): FieldRow => ({ member, kind: 'secret' });
const area = (member: ProviderField): FieldRow => ({ member, kind: 'area' });
const flag = (member: ProviderField): FieldRow => ({ member, kind: 'switch' });
const list = (member: ProviderField): FieldRow => ({ member, kind: 'list' });

/** Fields of each provider, in the order of the form. */
export const providerFields: Readonly<Record<SignOnProvider, readonly FieldRow[]>> = {
  SocialProvider: [
    text('DiscoverURL'),
    text('Key'),
    secret('Secret'),
    list('Scopes'),
    flag('SkipUserInfoRequest'),
    flag('SingleLogout'),
  ],
  SAMLProvider: [
    text('IDPMetadataURL'),
    area('IDPMetadata'),
    text('EntityId'),
    text('SAMLEmailClaim'),
    text('SAMLForenameClaim'),
    text('SAMLSurnameClaim'),
    area('SPCertificate'),
    area('SPPrivateKey'),
    flag('ForceAuthentication'),
  ],
  ADProvider: [
    text('LDAPServer'),
    text('LDAPPort'),
    flag('LDAPUseSSL'),
    flag('LDAPStartTLS'),
    area('LDAPCACertificate'),
    text('LDAPUserDN'),
    text('LDAPAdminUser'),
    secret('LDAPAdminPassword'),
    text('LDAPBaseDN'),
    text('LDAPFilter'),
    list('LDAPAttributes'),
    text('LDAPEmailAttribute'),
    text('LDAPFirstNameAttribute'),
    text('LDAPLastNameAttribute'),
  ],
};

const emptyConfigs: Readonly<Record<SignOnProvider, Config>> = {
  SocialProvider: {
    UseProviders: [
      { Name: 'openid-connect', Key: '', Secret: '', DiscoverURL: '', Scopes: ['openid', 'email', 'profile'] },
    ],
  },
  SAMLProvider: { IDPMetadataURL: '' },
  ADProvider: { LDAPServer: '', LDAPPort: '636', LDAPUseSSL: true },
};

export const emptyProfile: ProfileBody = {
  Name: '',
  Active: true,
  ProviderName: 'SocialProvider',
  ProviderConfig: emptyConfigs.SocialProvider as ProfileBody['ProviderConfig'],
  CustomEmailField: '',
  CustomUserIDField: '',
  CustomUserGroupField: '',
  UserGroupSeparator: '',
  UserGroupMapping: {},
  DefaultUserGroupID: '',
  ProviderConstraintsDomain: '',
  ProviderConstraintsGroup: '',
  SSOOnlyForRegisteredUsers: false,
};

/** Members of a write. */
export const toProfileBody = (profile: ProfileData): ProfileBody =>
  Object.fromEntries(
    Object.keys(emptyProfile).map(name => [name, (profile as Record<string, unknown>)[name]]),
  ) as unknown as ProfileBody;

export const chooseProvider = (ProviderName: SignOnProvider): Partial<ProfileBody> => ({
  ProviderName,
  ProviderConfig: emptyConfigs[ProviderName] as ProfileBody['ProviderConfig'],
});

/** OpenID Connect is the only entry of a list; the others are objects. */
export function readConfig({ ProviderName, ProviderConfig }: ProfileBody): Config {
  const config = ProviderConfig as Config;
  if (ProviderName !== 'SocialProvider') return config;
  const [first] = (config.UseProviders ?? []) as Config[];
  return first ?? {};
}

export function writeConfig(profile: ProfileBody, some: Config): Partial<ProfileBody> {
  const next = { ...readConfig(profile), ...some };
  const config = profile.ProviderName === 'SocialProvider' ? { UseProviders: [next] } : next;
  return { ProviderConfig: config as ProfileBody['ProviderConfig'] };
}

export interface GroupItem {
  readonly id: string;
  readonly name: string;
}

/** Mapping as lines, with names of groups where they are known. */
export const formatMapping = (mapping: Readonly<Record<string, string>>, groups: readonly GroupItem[]) =>
  Object.entries(mapping).map(([from, to]) => `${from} = ${groups.find(({ id }) => id === to)?.name ?? to}`);

/** Mapping of lines, or the line whose group is unknown. */
export function parseMapping(
  lines: readonly string[],
  groups: readonly GroupItem[],
): { readonly mapping: Record<string, string>; readonly fault?: string } {
  const mapping: Record<string, string> = {};
  for (const line of lines) {
    const place = line.lastIndexOf('=');
    const from = line.slice(0, place).trim();
    const to = line.slice(place + 1).trim();
    const group = groups.find(({ id, name }) => name === to || id === to);
    if (place < 1 || !from || !group) return { mapping, fault: line };
    mapping[from] = group.id;
  }
  return { mapping };
}
