import { z } from 'zod';
import { freeForm, readOnlyMembers } from '#base/members.ts';

/** Stored template: part of an OpenAPI document that a new API starts from. It need not be a valid document. */
export interface Asset {
  /** The database id. */
  readonly _id: string;
  /** Chosen id, or the database id. */
  readonly id: string;
  readonly org_id: string;
  readonly kind: string;
  readonly name: string;
  readonly description: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** ISO 8601. */
  readonly last_updated: string;
  readonly created_at_ms: number;
}

export const assetKinds: readonly string[] = ['oas-template'];
export const defaultAssetKind = 'oas-template';

const maxIdLength = 64;
const maxNameLength = 500;
const maxDescriptionLength = 5000;

const data = freeForm(z.looseObject({}));

export const AssetView = z.object({
  _id: z.string(),
  id: z.string(),
  kind: z.string(),
  name: z.string(),
  description: z.string(),
  data,
  org_id: z.string(),
  last_updated: z.string(),
});

/** Body of a write. Omitted members are empty, also on update. */
export const AssetWrite = readOnlyMembers(
  z.object({
    id: z
      .string()
      .max(maxIdLength)
      .regex(/^[\w.~-]*$/, 'may hold letters, digits and _ - . ~ only')
      .default(''),
    kind: z.string().max(100).default(defaultAssetKind),
    name: z.string().trim().min(1, 'is required').max(maxNameLength),
    description: z.string().max(maxDescriptionLength).default(''),
    data,
  }),
  ['_id', 'org_id', 'last_updated'],
);
export type AssetWrite = z.output<typeof AssetWrite>;

export const assetCreated = z.object({ Status: z.string(), Message: z.string(), Meta: z.string(), ID: z.string() });
