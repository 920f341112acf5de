import type { PickItem } from '../../kit/pick-list.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import type { FormSection } from '../forms/record-form.tsx';

const own = adminTexts.plans;

/** Draft of a new plan. */
export const newPlanDraft = {
  Name: '',
  DisplayName: '',
  Description: '',
  ProviderID: '',
  UnlimitedRateLimit: true,
  RateLimit: 60,
  Per: 60,
  UnlimitedQuota: true,
  Quota: 1000,
  QuotaRenewalRate: 86_400,
  KeyExpiresIn: 0,
  AutoApproveAccessRequests: false,
  PlanQuota: 0,
  PlanQuotaRenewalRate: 0,
  JWTScope: '',
  MetaData: {},
  Catalogues: [] as readonly number[],
} as const;

/** Fields of a plan; the provider is chosen for a new one only. */
export const createPlanSections = (providers?: readonly PickItem[]): readonly FormSection[] => [
  {
    title: own.details,
    fields: [
      { name: 'Name', label: own.columns.name, help: own.nameHelp, isRequired: true },
      { name: 'DisplayName', label: own.displayName },
      ...(providers
        ? [
            {
              name: 'ProviderID',
              label: own.provider,
              kind: 'select' as const,
              isRequired: true,
              options: [{ value: '', label: '–' }, ...providers.map(({ id, name }) => ({ value: id, label: name }))],
            },
          ]
        : []),
      { name: 'Description', label: own.description, kind: 'area' },
      { name: 'AutoApproveAccessRequests', label: own.autoApprove, help: own.autoApproveHelp, kind: 'switch' },
    ],
  },
  {
    title: own.columns.limits,
    fields: [
      { name: 'UnlimitedRateLimit', label: own.unlimitedRate, kind: 'switch' },
      { name: 'RateLimit', label: own.rate, kind: 'number', isShown: it => it.UnlimitedRateLimit !== true },
      { name: 'Per', label: own.per, kind: 'number', unit: 's', isShown: it => it.UnlimitedRateLimit !== true },
      { name: 'UnlimitedQuota', label: own.unlimitedQuota, kind: 'switch' },
      { name: 'Quota', label: own.quota, kind: 'number', isShown: it => it.UnlimitedQuota !== true },
      {
        name: 'QuotaRenewalRate',
        label: own.renewal,
        kind: 'number',
        unit: 's',
        isShown: it => it.UnlimitedQuota !== true,
      },
      { name: 'KeyExpiresIn', label: own.lifetime, help: own.lifetimeHelp, kind: 'number', unit: 's' },
    ],
  },
  {
    title: own.more,
    fields: [
      { name: 'PlanQuota', label: own.allowance, help: own.allowanceHelp, kind: 'number' },
      { name: 'PlanQuotaRenewalRate', label: own.allowancePeriod, kind: 'number', unit: 's' },
      { name: 'JWTScope', label: own.scope, isMono: true },
      { name: 'MetaData', label: own.metadata, help: own.metadataHelp, kind: 'json' },
    ],
  },
];
