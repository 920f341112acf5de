import { z } from 'zod';
import { readOnlyMembers } from '#base/members.ts';
import { chosenCid, formatOptionalTime, nonEmptyText, optionalMember, replaceableReferences } from '../shapes.ts';

/** Catalogue of products and plans. Public: visible to all; Private: to signed-in developers. */
const visibility = z.enum(['Private', 'Public']);

const writable = z.object({
  CID: optionalMember(chosenCid),
  Name: nonEmptyText(),
  NameWithSlug: optionalMember(nonEmptyText()),
  VisibilityStatus: optionalMember(visibility),
  Plans: replaceableReferences,
  Products: replaceableReferences,
});
const readOnly = ['ID', 'OrgCatalogues', 'CreatedAt', 'UpdatedAt'];
export const CatalogueWrite = readOnlyMembers(writable, readOnly);
export const CatalogueChange = readOnlyMembers(writable.extend({ Name: optionalMember(nonEmptyText()) }), readOnly);

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

export const toCatalogueRow = ({ ID, CID, Name, NameWithSlug, VisibilityStatus }: StoredCatalogue) => ({
  ID,
  CID,
  Name,
  NameWithSlug,
  VisibilityStatus,
});

export const toCatalogueView = (catalogue: StoredCatalogue, plans: readonly string[], products: readonly string[]) => ({
  ...toCatalogueRow(catalogue),
  OrgCatalogues: [],
  Plans: [...plans],
  Products: [...products],
  CreatedAt: formatOptionalTime(catalogue.CreatedAt),
  UpdatedAt: formatOptionalTime(catalogue.UpdatedAt),
});
