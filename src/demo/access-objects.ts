import type { ConfigurationObject } from '#configuration/schema.ts';
import { apiIds, apiNames } from './apis/demo-apis.ts';

/** Public id of the webhook. */
export const hookId = 'demo-alerts';

const hourSeconds = 3600;

const toRights = (ids: readonly string[]) =>
  Object.fromEntries(ids.map(id => [id, { api_id: id, api_name: apiNames[id] ?? '', versions: ['Default'] }]));

const basicApis = [apiIds.orders, apiIds.bookshop];
const allApis = [...basicApis, apiIds.payments];

interface PolicyRow {
  readonly name: string;
  readonly apis: readonly string[];
  /** Requests in each window. */
  readonly rate: number;
  readonly perSeconds: number;
  readonly quotaPerHour: number;
}

const policyTable: Readonly<Record<string, PolicyRow>> = {
  'demo-bronze': { name: 'Demo Bronze', apis: basicApis, rate: 2, perSeconds: 10, quotaPerHour: 300 },
  'demo-silver': { name: 'Demo Silver', apis: allApis, rate: 20, perSeconds: 10, quotaPerHour: 20_000 },
  'demo-gold': { name: 'Demo Gold', apis: [...allApis, apiIds.tools], rate: 100, perSeconds: 1, quotaPerHour: 500_000 },
};

export const policyIds: readonly string[] = Object.keys(policyTable);

export const createPolicies = (): ConfigurationObject[] =>
  Object.entries(policyTable).map(([id, { name, apis, rate, perSeconds, quotaPerHour }]) => ({
    kind: 'policy',
    id,
    spec: {
      name,
      state: 'active',
      rate,
      per: perSeconds,
      quota_max: quotaPerHour,
      quota_renewal_rate: hourSeconds,
      access_rights: toRights(apis),
      tags: ['demo'],
    },
  }));

export interface SampleKey {
  readonly alias: string;
  /** Empty for a key with rights of its own. */
  readonly policy: string;
  /** Share of the sample calls; 0 for the key that `gw demo` puts into its commands. */
  readonly weight: number;
  readonly isInactive?: true;
}

export const keyTable: readonly SampleKey[] = [
  { alias: 'Visitor', policy: 'demo-gold', weight: 0 },
  { alias: 'Web shop', policy: 'demo-gold', weight: 30 },
  { alias: 'iOS app', policy: 'demo-silver', weight: 20 },
  { alias: 'Android app', policy: 'demo-silver', weight: 18 },
  { alias: 'Checkout kiosk', policy: 'demo-silver', weight: 8 },
  { alias: 'Accounting sync', policy: 'demo-silver', weight: 6 },
  { alias: 'Support desk', policy: 'demo-silver', weight: 5 },
  { alias: 'Data team notebook', policy: 'demo-gold', weight: 4 },
  { alias: 'Warehouse scanner', policy: 'demo-bronze', weight: 6 },
  { alias: 'Partner North', policy: 'demo-bronze', weight: 4 },
  { alias: 'Partner South', policy: 'demo-bronze', weight: 3 },
  { alias: 'Nightly export', policy: 'demo-bronze', weight: 2 },
  { alias: 'Retired partner', policy: '', weight: 1, isInactive: true },
];

/** Body of a key. */
export const createKeyBody = ({ alias, policy, isInactive }: SampleKey) =>
  policy === ''
    ? { alias, access_rights: toRights(basicApis), ...(isInactive && { is_inactive: true }), tags: ['demo'] }
    : { alias, apply_policies: [policy] };

export const createReporterBody = (alias: string, password: string) => ({
  alias,
  basic_auth_data: { password },
  access_rights: toRights([apiIds.reports]),
});

export const createAlertHook = (origin: string): ConfigurationObject => ({
  kind: 'webhook',
  id: hookId,
  spec: { name: 'Demo alerts', method: 'POST', target_path: `${origin}/webhooks`, event_timeout: 60, header_map: {} },
});

/** Read permissions of what the demo contains. */
const readPermissions = Object.fromEntries(
  ['analytics', 'apis', 'audit_logs', 'keys', 'log', 'mcp', 'policies', 'portal', 'system'].map(name => [name, 'read']),
);

export const createPeople = (groupId: string, email: string, password: string): ConfigurationObject[] => [
  {
    kind: 'group',
    id: groupId,
    spec: {
      name: 'Demo analysts',
      description: 'Users who can only read',
      active: true,
      user_permissions: readPermissions,
    },
  },
  {
    kind: 'user',
    id: email,
    spec: {
      first_name: 'Alex',
      last_name: 'Analyst',
      active: true,
      group_id: groupId,
      user_permissions: { analytics: 'read' },
      initial_password: password,
    },
  },
];
