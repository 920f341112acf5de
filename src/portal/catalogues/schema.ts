import { z } from 'zod';
import { readOnlyMembers } from '#base/members.ts';
import {
  chosenCid,
  formatOptionalTime,
  lenientInt,
  nonEmptyText,
  optionalMember,
  replaceableReferences,
} from '../shapes.ts';

/** Catalogue of products and plans. Visibility and audience decide who sees them on the live portal. */
const visibility = z.enum(['Private', 'Public']);

const writable = z.object({
  CID: optionalMember(chosenCid),
  Name: nonEmptyText(),
  NameWithSlug: optionalMember(nonEmptyText()),
  VisibilityStatus: optionalMember(visibility),
  Plans: replaceableReferences,
  Products: replaceableReferences,
});
/** A team, or all users of an organisation: its default team. */
export const AudienceWrite = z
  .object({
    OrganisationID: optionalMember(lenientInt),
    TeamID: optionalMember(lenientInt),
  })
  .refine(it => it.OrganisationID !== undefined || it.TeamID !== undefined, 'TeamID or OrganisationID is required');
export type AudienceWrite = z.output<typeof AudienceWrite>;
const maxAudiences = 1000;

const readOnly = ['ID', 'OrgCatalogues', 'ProductIDs', 'PlanIDs', 'CreatedAt', 'UpdatedAt'];
export const CatalogueWrite = readOnlyMembers(
  writable.extend({ OrgCatalogues: optionalMember(z.array(AudienceWrite).max(maxAudiences)) }),
  readOnly,
);
export const CatalogueChange = readOnlyMembers(
  writable.omit({ CID: true }).extend({ Name: optionalMember(nonEmptyText()) }),
  [...readOnly, 'CID'],
);

export interface StoredCatalogue {
  ID: number;
  CID: string;
  Name: string;
  NameWithSlug: string;
  VisibilityStatus: z.output<typeof visibility>;
  CreatedAt: number;
  UpdatedAt: number;
}

export interface StoredAudience {
  ID: number;
  CatalogueID: number;
  OrganisationID: number;
  TeamID: number;
  CreatedAt: number;
  UpdatedAt: number;
}

export const AudienceRow = z.object({ ID: z.int(), OrganisationID: z.int(), TeamID: z.int() });
export const CatalogueAudience = AudienceRow.extend({ CreatedAt: z.string(), UpdatedAt: z.string() });

export const toAudienceRow = ({ ID, OrganisationID, TeamID }: StoredAudience) => ({ ID, OrganisationID, TeamID });
export const toAudienceView = (audience: StoredAudience) => ({
  ...toAudienceRow(audience),
  CreatedAt: formatOptionalTime(audience.CreatedAt),
  UpdatedAt: formatOptionalTime(audience.UpdatedAt),
});

/** Audience inside its catalogue, with names. */
const NamedAudience = z.object({ ID: z.int(), Name: z.string(), Catalogue: z.string(), Organisation: z.string() });
type NamedAudience = z.output<typeof NamedAudience>;

export const CatalogueRow = z.object({
  ID: z.int(),
  CID: z.string(),
  Name: z.string(),
  NameWithSlug: z.string(),
  VisibilityStatus: visibility,
});
export const Catalogue = CatalogueRow.extend({
  OrgCatalogues: z.array(NamedAudience),
  Plans: z.array(z.string()),
  Products: z.array(z.string()),
  ProductIDs: z.array(z.int()).describe('Numbers of the products, in the order of `Products`'),
  PlanIDs: z.array(z.int()).describe('Numbers of the plans, in the order of `Plans`'),
  CreatedAt: z.string(),
  UpdatedAt: z.string(),
});

export const toCatalogueRow = ({ ID, CID, Name, NameWithSlug, VisibilityStatus }: StoredCatalogue) => ({
  ID,
  CID,
  Name,
  NameWithSlug,
  VisibilityStatus,
});

interface NamedObject {
  readonly ID: number;
  readonly Name: string;
}

export const toCatalogueView = (
  catalogue: StoredCatalogue,
  plans: readonly NamedObject[],
  products: readonly NamedObject[],
  audiences: readonly NamedAudience[],
) => ({
  ...toCatalogueRow(catalogue),
  OrgCatalogues: [...audiences],
  Plans: plans.map(({ Name }) => Name),
  Products: products.map(({ Name }) => Name),
  ProductIDs: products.map(({ ID }) => ID),
  PlanIDs: plans.map(({ ID }) => ID),
  CreatedAt: formatOptionalTime(catalogue.CreatedAt),
  UpdatedAt: formatOptionalTime(catalogue.UpdatedAt),
});
