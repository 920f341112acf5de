import type { z } from 'zod';
import { closestMatch } from '#base/closest-match.ts';
import { formatPath, getByPath } from '#base/json.ts';
import { type Problem, truncateText } from '#base/problems.ts';
import { problem } from './problems.ts';

/** Bounds the error text: a hostile body could otherwise cause a response of any length. */
const maxReportedErrors = 20;
const maxErrorLength = 500;
/** Edit distances take quadratic time. */
const maxComparedLength = 100;

export interface ValidationError {
  readonly path: string;
  readonly message: string;
}

export const formatValidationError = ({ path, message }: ValidationError): string =>
  path ? `${path}: ${message}` : message;

/** Problem that lists every error with its path; `errors` of its detail is for callers that report them one by one. */
export function createInvalidProblem(errors: readonly ValidationError[]) {
  const lines = errors
    .slice(0, maxReportedErrors)
    .map(fault => truncateText(formatValidationError(fault), maxErrorLength));
  if (errors.length > maxReportedErrors) lines.push(`and ${errors.length - maxReportedErrors} more`);
  return problem.invalid({ detail: { lines, errors }, message: lines.join('; ') });
}

/** Errors of a problem that lists several; undefined for another problem. */
export function listValidationErrors(error: Problem): readonly ValidationError[] | undefined {
  return error.code === problem.invalid.code ? (error.detail.errors as ValidationError[] | undefined) : undefined;
}

export function validate<S extends z.ZodType>(shape: S, value: unknown, prefix = ''): z.output<S> {
  const result = shape.safeParse(value);
  if (result.success) return result.data;
  throw createInvalidProblem(toValidationErrors(shape, value, result.error, prefix));
}

export const toValidationErrors = (
  shape: z.ZodType,
  value: unknown,
  { issues }: z.ZodError,
  prefix = '',
): ValidationError[] =>
  issues.map(issue => ({
    path: [prefix, formatPath(issue.path)].filter(Boolean).join('.'),
    message: formatMessage(shape, value, issue),
  }));

/** Zod's message for a missing member names a type or, after coercion, `NaN`: replaced by `is required`. */
function formatMessage(shape: z.ZodType, value: unknown, issue: z.core.$ZodIssue): string {
  const isType = issue.code === 'invalid_type' || issue.code === 'invalid_value' || issue.code === 'invalid_union';
  if (isType && issue.path.length > 0 && getByPath(value, issue.path.map(String)) === undefined) {
    const about = describeMember(shape, issue.path);
    return about ? `is required (${about})` : 'is required';
  }
  if (issue.message.endsWith('received NaN')) return 'must be a number';
  if (issue.code === 'unrecognized_keys' && issue.path.length === 0) return issue.message + suggestNames(shape, issue);
  return issue.message.replace(/^Invalid input: /, '');
}

/** Closest names to those that the shape does not have. */
function suggestNames(shape: z.ZodType, { keys }: z.core.$ZodIssueUnrecognizedKeys): string {
  const names = Object.keys((shape as Partial<z.ZodObject>).shape ?? {});
  const compared = keys.slice(0, maxReportedErrors).filter(key => key.length <= maxComparedLength);
  const meant = compared.flatMap(key => closestMatch(key, names) ?? []);
  return meant.length === 0 ? '' : `; did you mean ${meant.join(', ')}?`;
}

/** Description of a top-level member, as part of a sentence. */
function describeMember(shape: z.ZodType, [name, ...deeper]: readonly PropertyKey[]): string | undefined {
  const members: Record<PropertyKey, z.ZodType> | undefined = (shape as Partial<z.ZodObject>).shape;
  const about = deeper.length === 0 && name !== undefined ? members?.[name]?.description : undefined;
  return about && about[0]!.toLowerCase() + about.slice(1);
}
