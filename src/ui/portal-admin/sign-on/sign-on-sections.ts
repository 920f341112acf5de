import { adminTexts } from '../../texts/admin-texts.ts';
import type { FieldSpec } from '../forms/record-field.tsx';
import type { FormSection } from '../forms/record-form.tsx';

const own = adminTexts.signOn;
const toOptions = (labels: Readonly<Record<string, string>>, values = Object.keys(labels)) =>
  values.map(value => ({ value, label: labels[value] ?? value }));

const forProvider = (provider: string, fields: readonly FieldSpec[]): FieldSpec[] =>
  fields.map(field => ({ ...field, isShown: ({ ProviderName }) => ProviderName === provider }));
const forDevelopers = (fields: readonly FieldSpec[]): FieldSpec[] =>
  fields.map(field => ({ ...field, isShown: ({ ActionType }) => ActionType === 'GenerateOrLoginDeveloperProfile' }));

const providerFields: readonly FieldSpec[] = [
  ...forProvider('SocialProvider', [
    { name: 'DiscoverURL', label: own.discoverUrl, isRequired: true },
    { name: 'Key', label: own.clientId, isRequired: true },
    { name: 'Secret', label: own.clientSecret, help: own.secretHelp, kind: 'secret' },
    { name: 'CallbackBaseURL', label: own.baseUrl, help: own.baseUrlHelp },
  ]),
  ...forProvider('SAMLProvider', [
    { name: 'IDPMetadataURL', label: own.metadataUrl },
    { name: 'EntityId', label: own.entityId, help: own.entityIdHelp },
    { name: 'SAMLEmailClaim', label: own.emailClaim },
    { name: 'SAMLForenameClaim', label: own.forenameClaim },
    { name: 'SAMLSurnameClaim', label: own.surnameClaim },
    { name: 'SAMLBaseURL', label: own.baseUrl, help: own.baseUrlHelp },
  ]),
  ...forProvider('ADProvider', [
    { name: 'LDAPServer', label: own.server, isRequired: true },
    { name: 'LDAPPort', label: own.port, isRequired: true },
    { name: 'LDAPUseSSL', label: own.tls, kind: 'switch' },
    { name: 'LDAPStartTLS', label: own.startTls, kind: 'switch' },
    { name: 'LDAPUserDN', label: own.userDn, help: own.userDnHelp },
    { name: 'LDAPAdminUser', label: own.adminUser },
    { name: 'LDAPAdminPassword', label: own.adminPassword, help: own.secretHelp, kind: 'secret' },
    { name: 'LDAPBaseDN', label: own.baseDn },
    { name: 'LDAPFilter', label: own.filter, help: own.filterHelp },
  ]),
  { name: 'Further', label: own.further, help: own.furtherHelp, kind: 'json' },
];

export const createSignOnSections = (isNew: boolean): readonly FormSection[] => [
  {
    title: own.profile,
    fields: [
      { name: 'Name', label: own.columns.name, isRequired: true },
      { name: 'ActionType', label: own.audience, kind: 'select', options: toOptions(own.audiences) },
      {
        name: 'ProviderName',
        label: own.kind,
        kind: 'select',
        options: toOptions(own.kinds, isNew ? ['SocialProvider', 'SAMLProvider', 'ADProvider'] : undefined),
        isReadOnly: !isNew,
      },
    ],
  },
  { title: own.provider, fields: providerFields },
  {
    title: own.rules,
    fields: [
      { name: 'SSOOnlyForRegisteredUsers', label: own.registered, kind: 'switch' },
      { name: 'ProviderConstraintsDomain', label: own.domain, help: own.constraintHelp },
      { name: 'ProviderConstraintsGroup', label: own.group, help: own.constraintHelp },
      { name: 'TrustUnverifiedEmail', label: own.trustEmail, help: own.trustEmailHelp, kind: 'switch' },
      {
        name: 'SingleLogout',
        label: own.singleLogout,
        help: own.singleLogoutHelp,
        kind: 'switch',
        isShown: ({ ProviderName }) => ProviderName === 'SocialProvider',
      },
    ],
  },
  {
    title: own.mapping,
    fields: [
      { name: 'CustomUserGroupField', label: own.groupField },
      { name: 'UserGroupSeparator', label: own.separator },
      ...forDevelopers([
        { name: 'UserGroupMapping', label: own.map, help: own.mapHelp, kind: 'json' },
        { name: 'DefaultUserGroupID', label: own.defaultTeam, help: own.defaultTeamHelp },
        { name: 'DefaultRole', label: own.role, kind: 'select', options: toOptions(own.roles) },
        { name: 'ResyncTeams', label: own.resync, kind: 'switch' },
      ]),
    ],
  },
];
