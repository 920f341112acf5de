import { z } from 'zod';
import { readOnlyMembers } from '#base/members.ts';
import { chosenCid, orNothing, replacedReferences, requiredLine, shownTime } from '../shapes.ts';

/** A shelf of products and plans. Public is for everybody; Private for developers who signed in. */
const visibility = z.enum(['Private', 'Public']);

const writable = z.object({
  CID: orNothing(chosenCid),
  Name: requiredLine(),
  NameWithSlug: orNothing(requiredLine()),
  VisibilityStatus: orNothing(visibility),
  Plans: replacedReferences,
  Products: replacedReferences,
});
const readOnly = ['ID', 'OrgCatalogues', 'CreatedAt', 'UpdatedAt'];
export const CatalogueWrite = readOnlyMembers(writable, readOnly);
export const CatalogueChange = readOnlyMembers(writable.extend({ Name: orNothing(requiredLine()) }), readOnly);

export interface StoredCatalogue {
  ID: number;
  CID: string;
  Name: string;
  NameWithSlug: string;
  VisibilityStatus: z.output<typeof visibility>;
  CreatedAt: number;
  UpdatedAt: number;
}

export const CatalogueRow = z.object({
  ID: z.int(),
  CID: z.string(),
  Name: z.string(),
  NameWithSlug: z.string(),
  VisibilityStatus: visibility,
});
export const Catalogue = CatalogueRow.extend({
  OrgCatalogues: z.array(z.unknown()),
  Plans: z.array(z.string()),
  Products: z.array(z.string()),
  CreatedAt: z.string(),
  UpdatedAt: z.string(),
});

export const catalogueRow = ({ ID, CID, Name, NameWithSlug, VisibilityStatus }: StoredCatalogue) => ({
  ID,
  CID,
  Name,
  NameWithSlug,
  VisibilityStatus,
});

export const shownCatalogue = (catalogue: StoredCatalogue, plans: readonly string[], products: readonly string[]) => ({
  ...catalogueRow(catalogue),
  OrgCatalogues: [],
  Plans: [...plans],
  Products: [...products],
  CreatedAt: shownTime(catalogue.CreatedAt),
  UpdatedAt: shownTime(catalogue.UpdatedAt),
});
