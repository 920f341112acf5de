import { z } from 'zod';
import { formatPortalTime } from '#base/clock.ts';
import { meaningfulNull, readOnlyMembers } from '#base/members.ts';

/**
 * Wire shapes of portal operations. Integers and booleans may be text, and read-only members are ignored in
 * requests, so that a response can be edited and sent back.
 */

const digits = /^\s*-?\d{1,15}\s*$/;

/** An integer, also as text: `"2"`. */
export const lenientInt = z.union([z.int(), z.string().regex(digits).transform(Number)], {
  error: 'must be a whole number',
});

export const intBetween = (min: number, max: number) => lenientInt.pipe(z.int().min(min).max(max));

const booleanTexts = { true: true, false: false, '1': true, '0': false } as const;

/** A boolean, also as text: `"true"`. */
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

/** Bounded text. */
export const textUpTo = (maxLength = 255) => z.string().max(maxLength);
export const nonEmptyText = (maxLength = 255) => z.string().trim().min(1, 'must not be empty').max(maxLength);

/** Absent and `null` are equal in a request. */
export const optionalMember = <S extends z.ZodType>(shape: S) =>
  z.nullish(shape).transform(value => value ?? undefined);

export const pageSizes = { default: 20, max: 1000 };

/** `limit` bounds the rows of a page without changing its offset. */
export const portalPageQuery = z.object({
  page: z.coerce.number().int().min(1).max(1_000_000).default(1).describe('Page number from 1'),
  per_page: z.coerce
    .number()
    .int()
    .min(1)
    .max(pageSizes.max)
    .default(pageSizes.default)
    .describe('Number of items per page'),
  limit: z.coerce.number().int().min(0).max(pageSizes.max).optional().describe('Maximum number of items'),
});
export type PortalPageQuery = z.output<typeof portalPageQuery>;

/** Query of lists that are searched by name. */
export const portalSearchQuery = portalPageQuery.extend({
  q: z.string().trim().max(200).default('').describe('Only objects whose name contains this text, in any case'),
});

export type PortalSearchQuery = z.output<typeof portalSearchQuery>;

export const toPortalPageRequest = ({ page, per_page }: PortalPageQuery) => ({ page, size: per_page });
export const applyLimit = <T>(items: readonly T[], { limit }: PortalPageQuery): T[] =>
  items.slice(0, limit ?? items.length);
/** One page of a list that is in memory. */
export function paginate<T>(items: readonly T[], query: PortalPageQuery): T[] {
  const start = (query.page - 1) * query.per_page;
  return applyLimit(items.slice(start, start + query.per_page), query);
}

/** Reference of an object in a path: id or persistent id. */
export type PortalRef = { id: number } | { cid: string };

export const parsePortalRef = (text: string): PortalRef =>
  /^\d{1,15}$/.test(text) ? { id: Number(text) } : { cid: text };

/** Path parameter: id or persistent id. */
export const portalId = z.string().transform(parsePortalRef).describe('Number or persistent id');

/** Path parameter: id only. Other text becomes 0, which no object has. */
export const numberedId = z
  .string()
  .transform(text => (/^\d{1,15}$/.test(text) ? Number(text) : 0))
  .describe('Number');

/** Persistent id chosen by the caller, stable across installations. */
export const chosenCid = z.string().regex(/^[0-9A-Za-z]{27}$/, 'must be 27 letters and digits');

/** An object as returned, reduced to its `ID`. */
const withId = readOnlyMembers(z.object({ ID: lenientInt }), ['CID', 'Name', 'Users', 'CreatedAt', 'UpdatedAt']);

/**
 * References in a body: by id, by persistent id, by name, or an object with its
 * `ID`, as responses have it.
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

/** `.` and `..`, which a URL drops from its path with the segment before (RFC 3986, section 5.2.4). */
export const isDotSegment = (text: string): boolean => text === '.' || text === '..';

/** URL slug: lowercase letters, digits and `-`; may be empty. */
export const toSlug = (text: string): string =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 100);

/** Trims trailing slashes in linear time; a regex would backtrack from each of them. */
export function trimSlashes(address: string): string {
  let end = address.length;
  while (address[end - 1] === '/') end--;
  return address.slice(0, end);
}

/** Time of a request as responses have it, in the zone of the server; 0 for the empty text. */
export const portalTime = z
  .string()
  .regex(/^$|^\d{4}-\d\d-\d\d \d\d:\d\d$/, 'must be a time such as 2030-01-31 12:00, or empty')
  .transform((text, context) => {
    if (text === '') return 0;
    const ms = new Date(text.replace(' ', 'T')).getTime();
    if (Number.isFinite(ms)) return ms;
    context.addIssue({ code: 'custom', message: 'there is no such time' });
    return z.NEVER;
  });

/** Undefined becomes the empty text. */
export const formatOptionalTime = (ms: number | undefined): string => (ms === undefined ? '' : formatPortalTime(ms));

export const okStatus = { status: 'ok' } as const;
export const okResponse = z.object({ status: z.literal('ok') });

/** Response of an action: `okMessage('Synchronize')`. */
export const okMessage = (name: string) => ({ ...okStatus, message: `Action ${name}: Executed successfully` });
export const okMessageResponse = okResponse.extend({ message: z.string() });
