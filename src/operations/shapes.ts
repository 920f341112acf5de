import { z } from 'zod';
import type { Page, PageRequest } from '#storage/collection.ts';

/** Wire shapes that many operations share. */

/** Larger page numbers are clamped: they are past the end of any list. */
const maxPage = 1_000_000_000;

const clampPage = (page: number) => Math.min(Math.max(page, -1), maxPage);
const aboutPage = 'Page number from 1; a negative one returns all items';

/** `p` from 1; 0 and below mean everything; absent or empty means the first page. */
export const pageNumber = z
  .preprocess(text => (text === '' ? undefined : text), z.coerce.number().int().default(1).transform(clampPage))
  .describe(aboutPage);

/** The same where the default depends on other parameters. */
export const optionalPageNumber = z
  .preprocess(text => (text === '' ? undefined : text), z.coerce.number().int().transform(clampPage).optional())
  .describe(aboutPage);

export const pageQuery = z.object({ p: pageNumber });

/** Flag of a query: `true` or `1`; `false`, `0` or empty. */
export const queryFlag = z.enum(['true', 'false', '1', '0', '']).transform(text => text === 'true' || text === '1');

/** Unix seconds up to the year 9999. */
export const unixSeconds = z.coerce.number().int().min(0).max(253_402_300_799);

/** Ids that one request names: those of a page of a list. */
const maxListedIds = 100;
const maxIdLength = 256;
const idText = z.string().max(maxListedIds * maxIdLength);

const splitIds = <T extends z.ZodType<string>>(text: T) =>
  text
    .transform(ids => [...new Set(ids.split(',').map(id => id.trim()))].filter(Boolean))
    .pipe(z.array(z.string()).max(maxListedIds));

/** Ids of a query, comma-separated. */
export const idList = splitIds(idText);
/** The same where an absent list is empty. */
export const idListOrEmpty = splitIds(idText.default(''));

/** Query parameters of a list that is also returned as CSV: all items of it unless the request names a page. */
export const csvListMembers = (about: string) => ({
  type: z.enum(['json', 'csv']).default('json').describe(about),
  p: optionalPageNumber,
});

export const toCsvPageRequest = (
  { p, type }: { readonly p?: number | undefined; readonly type: 'json' | 'csv' | 'ndjson' },
  size: number,
  defaultPage = 1,
): PageRequest => toPageRequest(p ?? (type === 'json' ? defaultPage : -1), size);

export const toPageRequest = (p: number, size: number): PageRequest => ({ page: p, size });

/** Members that a write accepts without effect: legacy ones, and unknown ones where the settings let them pass. */
export const warningList = z
  .array(z.string())
  .readonly()
  .optional()
  .describe('Accepted members without effect, each with its path');
export interface WithWarnings {
  readonly warnings: readonly string[];
}

/** `warnings` member of a response; left out where there are none. */
export const toWarningsMember = ({ warnings }: WithWarnings) => (warnings.length > 0 ? { warnings } : {});

/** Response of most writes on the dashboard and admin surfaces. */
export const statusResponse = z.object({
  Status: z.string(),
  Message: z.string(),
  Meta: z.unknown(),
  warnings: warningList,
});
export const toStatus = (message: string, meta: unknown = null) => ({ Status: 'OK', Message: message, Meta: meta });

/** The same with the public id of a created object. */
export const createdResponse = statusResponse.extend({ ID: z.string() });
export const toCreated = (message: string, databaseId: string, publicId: string) => ({
  ...toStatus(message, databaseId),
  ID: publicId,
});

/** Response of the control API to a write. */
export const modifiedResponse = z.object({
  key: z.string(),
  status: z.string(),
  action: z.string(),
  key_hash: z.string().optional(),
  warnings: warningList,
});
export type Action = 'added' | 'modified' | 'deleted' | 'updated';
export const toModified = (key: string, action: Action, keyHash = '') => ({
  key,
  status: 'ok',
  action,
  ...(keyHash && { key_hash: keyHash }),
});

/** The same without an object. */
export const messageResponse = z.object({ status: z.string(), message: z.string() });
export const toOkMessage = (message: string) => ({ status: 'ok', message });

export type { Page };
