import { z } from 'zod';
import { readOnlyMembers } from '#base/members.ts';
import type { StoredLabel, StoredPost } from '../posts/schema.ts';
import type { StoredProduct } from '../products/schema.ts';
import { nonEmptyText } from '../shapes.ts';

/** Tag of posts and products. A number as name would be read as an id in lists of references. */
export const tagName = nonEmptyText().regex(/\D/, 'must not be a number');

export const TagWrite = readOnlyMembers(z.object({ Name: tagName }), ['ID', 'CID', 'Posts', 'Products']);
export const ProductTag = z.object({ Name: z.string() });
export const ProductTagWrite = z.object({ Name: tagName });

export const TagRow = z.object({ ID: z.int(), Name: z.string() });
export const Tag = TagRow.extend({
  CID: z.string(),
  Posts: z.array(z.object({ ID: z.int(), Title: z.string(), Lede: z.string(), Status: z.string(), Path: z.string() })),
  Products: z.array(
    z.object({
      ID: z.int(),
      Name: z.string(),
      DisplayName: z.string(),
      Path: z.string(),
      ReferenceID: z.string(),
      Feature: z.boolean(),
      DCREnabled: z.boolean(),
      ProviderID: z.int(),
    }),
  ),
});

export const toTagRow = ({ ID, Name }: StoredLabel): z.output<typeof TagRow> => ({ ID, Name });

export const toTagView = (
  tag: StoredLabel,
  posts: readonly StoredPost[],
  products: readonly StoredProduct[],
): z.output<typeof Tag> => ({
  ...toTagRow(tag),
  CID: tag.CID,
  Posts: posts.map(({ ID, Title, Lede, Status, Path }) => ({ ID, Title, Lede, Status, Path })),
  Products: products.map(({ ID, Name, DisplayName, Path, ReferenceID, Feature, DCREnabled, ProviderID }) => ({
    ...{ ID, Name, DisplayName, Path, ReferenceID, Feature, DCREnabled, ProviderID },
  })),
});
