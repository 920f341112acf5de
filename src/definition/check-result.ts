import type { z } from 'zod';
import { formatMemberPath } from '#base/members.ts';
import type { ValidationError } from '#operations/validation-error.ts';

export type CheckResult<T> =
  | { readonly ok: true; readonly definition: T; readonly warnings?: readonly ValidationError[] }
  | { readonly ok: false; readonly errors: ValidationError[] };

/** Bounds the errors of a hostile definition. */
const maxValidationErrors = 200;

export function fromZodError(error: z.ZodError): ValidationError[] {
  return error.issues
    .slice(0, maxValidationErrors)
    .map(issue => ({ path: formatMemberPath(issue.path), message: formatIssue(issue) }));
}

const typeNames: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  record: 'an object',
};

export function formatIssue(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      // Zod distinguishes a missing member only in its message.
      if (issue.path.length > 0 && issue.message.endsWith('received undefined')) return 'is required';
      return issue.message.startsWith('must be')
        ? issue.message
        : `must be ${typeNames[issue.expected] ?? issue.expected}`;
    case 'too_small':
      return `must be at least ${issue.minimum}`;
    case 'too_big':
      return `must be at most ${issue.maximum}`;
    case 'invalid_value':
      return `must be one of ${issue.values.filter(value => value !== '').join(', ')}`;
    case 'unrecognized_keys':
      return `must not hold ${issue.keys.join(', ')}`;
    case 'invalid_key':
      return issue.issues.map(formatIssue).join(', ');
    case 'invalid_union':
      return formatUnion(issue);
    default:
      return issue.message;
  }
}

function formatUnion(issue: z.core.$ZodIssueInvalidUnion): string {
  const expected = issue.errors
    .flatMap(errors => errors.map(formatIssue))
    .map(message => message.replace(/^must be /, ''));
  return expected.length === 0 ? issue.message : `must be ${[...new Set(expected)].join(', or ')}`;
}
