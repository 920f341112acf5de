import { z } from 'zod';
import { findRegexError } from '#base/regex.ts';
import { maxDurationMs } from './duration.ts';

/** The rules most fields share. Every rule carries the value that silence means. */
export const flagRule = z.boolean().default(false);
export const textRule = z.string().default('');
export const textListRule = z.array(z.string()).default([]);
export const textMapRule = z.record(z.string(), z.string()).default({});
export const textListMapRule = z.record(z.string(), z.array(z.string())).default({});
export const objectRule = z.record(z.string(), z.unknown()).default({});
export const anythingRule = z.unknown().default(null);

const maxDurationSeconds = maxDurationMs / 1000;

/** -1 is what some tools write for "none". */
export const secondsRule = z.int().min(-1).max(maxDurationSeconds).default(0);
export const skewSecondsRule = z.int().min(0).max(maxDurationSeconds).default(0);
export const countRule = z.int().min(0).default(0);
export const amountRule = z.number().min(0).default(0);
export const statusCodeRule = z.int().min(100).max(599);
export const statusCodesRule = z.array(statusCodeRule).default([]);
/** What the gateway itself may answer with: anything below 200 is not an answer yet. 0 stands for "not said". */
export const responseStatusRule = z.union([z.literal(0), z.int().min(200).max(599)]);
export const optionalStatusRule = responseStatusRule.default(0);
export const portRule = z.int().min(0).max(65_535).default(0);

/** One of a few words; the empty text stands for "not said". */
export function choiceRule<const T extends readonly [string, ...string[]]>(...words: T) {
  return z.enum(['', ...words]).default('');
}

/** A regular expression the linear-time engine can run; anything else could be made to hang the gateway. */
export const regexTextRule = z.string().superRefine((source, context) => {
  const fault = findRegexError(source);
  if (fault) context.addIssue({ code: 'custom', message: fault });
});
export const regexRule = regexTextRule.default('');

/** An ISO 8601 date-time; the empty text where it was never set. */
export const timestampRule = z.union([z.literal(''), z.iso.datetime({ offset: true, local: true })]).default('');

export const identifierRule = z
  .string()
  .regex(/^[A-Za-z0-9_-]{0,64}$/, { error: 'must be 1 to 64 letters, digits, hyphens or underscores' })
  .default('');
