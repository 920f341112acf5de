import type { ArgumentsOf, ResultOf } from '../../kit/calls.ts';
import type { RecordValue } from '../forms/record-form.tsx';

/** Draft of a sign-on profile: members of the provider's configuration are fields of their own. */

export type StoredSignOnProfile = ResultOf<'GET /portal-api/sso_profiles/{profile_id}'>;
export type SignOnWrite = ArgumentsOf<'POST /portal-api/sso_profiles'>['body'];

type Config = Readonly<Record<string, unknown>>;

const clientFields = ['DiscoverURL', 'Key', 'Secret'];
const configFields = {
  SocialProvider: ['CallbackBaseURL'],
  SAMLProvider: [
    'SAMLBaseURL',
    'IDPMetadataURL',
    'EntityId',
    'SAMLEmailClaim',
    'SAMLForenameClaim',
    'SAMLSurnameClaim',
  ],
  ADProvider: [
    'LDAPServer',
    'LDAPPort',
    'LDAPUseSSL',
    'LDAPStartTLS',
    'LDAPUserDN',
    'LDAPAdminUser',
    'LDAPAdminPassword',
    'LDAPBaseDN',
    'LDAPFilter',
  ],
  ProxyProvider: [],
} as const satisfies Readonly<Record<string, readonly string[]>>;
type ProviderName = keyof typeof configFields;

const pick = (value: Config, names: readonly string[]) =>
  Object.fromEntries(names.filter(name => value[name] !== undefined && value[name] !== '').map(it => [it, value[it]]));
const omit = (value: Config, names: readonly string[]) =>
  Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)));

const readClient = ({ UseProviders }: Config): Config =>
  Array.isArray(UseProviders) ? ((UseProviders[0] ?? {}) as Config) : {};

export const newSignOnDraft: RecordValue = {
  Name: '',
  ActionType: 'GenerateOrLoginDeveloperProfile',
  ProviderName: 'SocialProvider',
  LDAPPort: '636',
  LDAPUseSSL: true,
  Further: {},
  ProviderConstraintsDomain: '',
  ProviderConstraintsGroup: '',
  SSOOnlyForRegisteredUsers: false,
  TrustUnverifiedEmail: false,
  CustomUserGroupField: '',
  UserGroupSeparator: '',
  UserGroupMapping: {},
  DefaultUserGroupID: '',
  DefaultRole: 'consumer-team-member',
  ResyncTeams: false,
  SingleLogout: false,
};

const profileFields = Object.keys(newSignOnDraft).filter(it => !/^LDAP|^Further$/.test(it));

export function toSignOnDraft(profile: StoredSignOnProfile): RecordValue {
  const { ProviderName, ProviderConfig } = profile;
  const names = configFields[ProviderName];
  const client = ProviderName === 'SocialProvider' ? readClient(ProviderConfig) : {};
  const moreOfClient = omit(client, [...clientFields, 'Name']);
  const isClientWhole = Object.keys(moreOfClient).length === 0;
  return {
    ...Object.fromEntries(profileFields.map(name => [name, (profile as unknown as Config)[name]])),
    ...pick(ProviderConfig, names),
    ...pick(client, clientFields),
    Further: {
      ...omit(ProviderConfig, ProviderName === 'SocialProvider' ? [...names, 'UseProviders'] : names),
      ...(isClientWhole ? {} : { client: moreOfClient }),
    },
  };
}

/** Body of a write: the whole configuration of the provider, with masks for secrets that do not change. */
export function toSignOnBody(draft: RecordValue): SignOnWrite {
  const provider = draft.ProviderName as ProviderName;
  const { client = {}, ...further } = (draft.Further ?? {}) as Config & { client?: Config };
  const clients = [{ Name: 'openid-connect', ...pick(draft, clientFields), ...client }];
  const ProviderConfig = {
    ...further,
    ...pick(draft, configFields[provider]),
    ...(provider === 'SocialProvider' ? { UseProviders: clients } : {}),
  };
  const members = Object.fromEntries(profileFields.map(name => [name, draft[name]]));
  return { ...members, ProviderConfig } as unknown as SignOnWrite;
}
