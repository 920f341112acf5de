import { z } from 'zod';
import { formatPortalTime } from '#base/clock.ts';
import { meaningfulNull, readOnlyMembers } from '#base/members.ts';

/**
 * Wire shapes the portal's operations share. Whole numbers and truths may come as text, and members that are only read
 * are passed over, so that what was read can be edited and sent back.
 */

const digits = /^\s*-?\d{1,15}\s*$/;

/** A whole number, also as text: `"2"`. */
export const lenientInt = z.union([z.int(), z.string().regex(digits).transform(Number)], {
  error: 'must be a whole number',
});

export const intBetween = (min: number, max: number) => lenientInt.pipe(z.int().min(min).max(max));

const booleanTexts = { true: true, false: false, '1': true, '0': false } as const;

/** A truth, also as text: `"true"`. */
export const lenientBool = z.union(
  [
    z.boolean(),
    z
      .string()
      .toLowerCase()
      .pipe(z.enum(['true', 'false', '1', '0']))
      .transform(text => booleanTexts[text]),
  ],
  { error: 'must be true or false' },
);

/** A text members of the portal hold: names and lines. `null` is what an empty one reads as elsewhere. */
export const shortText = (maxLength = 255) => z.string().max(maxLength);
export const nonEmptyText = (maxLength = 255) => z.string().trim().min(1, 'must not be empty').max(maxLength);

/** Left out and `null` mean the same in a request. */
export const optionalMember = <S extends z.ZodType>(shape: S) =>
  z.nullish(shape).transform(value => value ?? undefined);

export const pageSizes = { default: 20, max: 1000 };

/** `limit` caps the rows of a page without moving where the page begins. */
export const portalPageQuery = z.object({
  page: z.coerce.number().int().min(1).max(1_000_000).default(1).describe('Page, from 1'),
  per_page: z.coerce.number().int().min(1).max(pageSizes.max).default(pageSizes.default).describe('Items on a page'),
  limit: z.coerce.number().int().min(0).max(pageSizes.max).optional().describe('Most items to return'),
});
export type PortalPageQuery = z.output<typeof portalPageQuery>;

export const toPageRequest = ({ page, per_page }: PortalPageQuery) => ({ page, size: per_page });
export const applyLimit = <T>(items: readonly T[], { limit }: PortalPageQuery): T[] =>
  items.slice(0, limit ?? items.length);

/** Where an object is found by what its path calls it: its number, or its persistent id. */
export type PortalRef = { id: number } | { cid: string };

export const parsePortalRef = (text: string): PortalRef =>
  /^\d{1,15}$/.test(text) ? { id: Number(text) } : { cid: text };

/** An object in a path: its number or its persistent id. */
export const portalId = z.string().transform(parsePortalRef).describe('Number or persistent id');

/** An object in a path that has a number only. What is none is the number of nothing, hence unknown. */
export const numberedId = z
  .string()
  .transform(text => (/^\d{1,15}$/.test(text) ? Number(text) : 0))
  .describe('Number');

/** A persistent id a caller chose, to keep it across installations. */
export const chosenCid = z.string().regex(/^[0-9A-Za-z]{27}$/, 'must be 27 letters and digits');

/** An object as reads show it stands for its `ID`. */
const withId = readOnlyMembers(z.object({ ID: lenientInt }), ['CID', 'Name', 'CreatedAt', 'UpdatedAt']);

/**
 * Objects named in a body by number, by persistent id or, since that is how they are shown, by name. An object that
 * carries its `ID` counts as that.
 */
export const references = z
  .array(
    z.union([lenientInt, nonEmptyText(), withId.transform(({ ID }) => ID)], {
      error: 'must be a number or a name',
    }),
  )
  .max(1000);
/** Associations of a change: a list replaces them, null empties them, absence leaves them. */
export const replaceableReferences = meaningfulNull(references.nullable().optional());
export type Reference = number | string;

/** A text for addresses: small letters, digits and `-`. Empty when nothing of it fits. */
export const toSlug = (text: string): string =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 100);

/** An address without the slashes it ends in; one walk, since a pattern would try again from each of them. */
export function trimSlashes(address: string): string {
  let end = address.length;
  while (address[end - 1] === '/') end--;
  return address.slice(0, end);
}

/** Unset is the empty text. */
export const formatOptionalTime = (ms: number | undefined): string => (ms === undefined ? '' : formatPortalTime(ms));

export const okStatus = { status: 'ok' } as const;
export const okResponse = z.object({ status: z.literal('ok') });

/** What an action answers: `okMessage('Synchronize')`. */
export const okMessage = (name: string) => ({ ...okStatus, message: `Action ${name}: Executed successfully` });
export const okMessageResponse = okResponse.extend({ message: z.string() });
