import { z } from 'zod';
import { findRegexError } from '#base/regex.ts';
import { longestDurationMs } from './duration.ts';

/** The rules most fields share. Every rule carries the value that silence means. */
export const flag = z.boolean().default(false);
export const text = z.string().default('');
export const texts = z.array(z.string()).default([]);
export const textMap = z.record(z.string(), z.string()).default({});
export const textsMap = z.record(z.string(), z.array(z.string())).default({});
export const object = z.record(z.string(), z.unknown()).default({});
export const anything = z.unknown().default(null);

const longestSeconds = longestDurationMs / 1000;

/** -1 is what some tools write for "none". */
export const seconds = z.int().min(-1).max(longestSeconds).default(0);
export const skewSeconds = z.int().min(0).max(longestSeconds).default(0);
export const count = z.int().min(0).default(0);
export const amount = z.number().min(0).default(0);
export const statusCode = z.int().min(100).max(599);
export const statusCodes = z.array(statusCode).default([]);
/** What the gateway itself may answer with: anything below 200 is not an answer yet. 0 stands for "not said". */
export const givenStatus = z.union([z.literal(0), z.int().min(200).max(599)]);
export const optionalStatus = givenStatus.default(0);
export const port = z.int().min(0).max(65_535).default(0);

/** One of a few words; the empty text stands for "not said". */
export function choice<const T extends readonly [string, ...string[]]>(...words: T) {
  return z.enum(['', ...words]).default('');
}

/** A regular expression the linear-time engine can run; anything else could be made to hang the gateway. */
export const patternText = z.string().superRefine((source, context) => {
  const fault = findRegexError(source);
  if (fault) context.addIssue({ code: 'custom', message: fault });
});
export const pattern = patternText.default('');

/** An ISO 8601 date-time; the empty text where it was never set. */
export const timestamp = z.union([z.literal(''), z.iso.datetime({ offset: true, local: true })]).default('');

export const identifier = z
  .string()
  .regex(/^[A-Za-z0-9_-]{0,64}$/, { error: 'must be 1 to 64 letters, digits, hyphens or underscores' })
  .default('');
