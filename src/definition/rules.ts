import { z } from 'zod';
import { findRegexError } from '#base/regex.ts';
import { maxDurationMs } from './duration.ts';

/** Rules that fields share. Every rule has a default for an absent member. */
export const flagRule = z.boolean().default(false);
export const textRule = z.string().default('');
export const textListRule = z.array(z.string()).default([]);
export const textMapRule = z.record(z.string(), z.string()).default({});
export const textListMapRule = z.record(z.string(), z.array(z.string())).default({});
export const objectRule = z.record(z.string(), z.unknown()).default({});
export const anythingRule = z.unknown().default(null);

const maxDurationSeconds = maxDurationMs / 1000;

/** Some tools write -1 for none. */
export const secondsRule = z.int().min(-1).max(maxDurationSeconds).default(0);
export const skewSecondsRule = z.int().min(0).max(maxDurationSeconds).default(0);
export const countRule = z.int().min(0).default(0);
export const amountRule = z.number().min(0).default(0);
const statusCodeRule = z.int().min(100).max(599);
export const statusCodesRule = z.array(statusCodeRule).default([]);
/** Status of a response by the gateway; 1xx is interim (RFC 9110, section 15.2). 0 means unset. */
export const responseStatusRule = z.union([z.literal(0), z.int().min(200).max(599)]);
export const optionalStatusRule = responseStatusRule.default(0);
export const portRule = z.int().min(0).max(65_535).default(0);

/** One of several words; the empty text means unset. */
export function choiceRule<const T extends readonly [string, ...string[]]>(...words: T) {
  return z.enum(['', ...words]).default('');
}

/** Regular expression for the linear-time engine; backtracking ones could hang the gateway. */
export const regexTextRule = z.string().superRefine((source, context) => {
  const error = findRegexError(source);
  if (error) context.addIssue({ code: 'custom', message: error });
});
export const regexRule = regexTextRule.default('');

/** ISO 8601 date-time; empty where unset. */
export const timestampRule = z.union([z.literal(''), z.iso.datetime({ offset: true, local: true })]).default('');

export const identifierRule = z
  .string()
  .regex(/^[A-Za-z0-9_-]{0,64}$/, { error: 'must be 1 to 64 letters, digits, hyphens or underscores' })
  .default('');
