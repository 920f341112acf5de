import { z } from 'zod';
import { freeForm, readOnlyMembers } from '#base/members.ts';

/** Organisation (tenant). Its pages and options are free-form. */
export const Organisation = z.looseObject({
  owner_name: z.string().min(1).max(200),
  owner_slug: z.string().max(200).optional(),
  cname: z.string().max(253).optional(),
  cname_enabled: z.boolean().optional(),
  apis: z.array(z.looseObject({ api_human_name: z.string(), api_id: z.string() })).nullish(),
  developer_count: z.int().optional(),
  developer_quota: z.int().optional(),
  event_options: z.record(z.string(), z.unknown()).nullish(),
  hybrid_enabled: z.boolean().optional(),
  sso_enabled: z.boolean().optional(),
  org_options_meta: z.record(z.string(), z.unknown()).nullish(),
  additional_permissions: z.record(z.string(), z.string()).nullish(),
  open_policy: z.looseObject({ enabled: z.boolean().optional(), rules: z.string().optional() }).nullish(),
  ui: freeForm(z.looseObject({})).nullish(),
});

/** Body of a write; members that only reads return are ignored. */
export const OrganisationBody = readOnlyMembers(Organisation, ['id', 'created_at']);
export const OrganisationImport = readOnlyMembers(
  Organisation.extend({
    id: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, _ or -'),
  }),
  ['created_at'],
);

export const StoredOrganisation = Organisation.extend({ id: z.string(), created_at: z.string() });
export type StoredOrganisation = z.infer<typeof StoredOrganisation>;

/** Fills in the defaults of absent members. */
export const toFullOrganisation = (stored: StoredOrganisation) => ({
  owner_slug: '',
  cname: '',
  cname_enabled: false,
  developer_count: 0,
  developer_quota: 0,
  hybrid_enabled: false,
  sso_enabled: false,
  ...stored,
  apis: stored.apis ?? [],
  event_options: stored.event_options ?? {},
  org_options_meta: stored.org_options_meta ?? {},
  additional_permissions: stored.additional_permissions ?? {},
  open_policy: stored.open_policy ?? { enabled: false, rules: '' },
  ui: stored.ui ?? {},
});
