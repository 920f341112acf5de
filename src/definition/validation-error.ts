import type { z } from 'zod';
import { formatMemberPath } from '#base/members.ts';

/** What is wrong with a definition, and where: `proxy.target_list[2]`. */
export interface Fault {
  readonly path: string;
  readonly message: string;
}

export type Checked<T> =
  | { readonly ok: true; readonly definition: T; readonly warnings?: readonly Fault[] }
  | { readonly ok: false; readonly faults: Fault[] };

/** Enough to mend a definition by; a hostile one could have millions. */
export const mostFaults = 200;

export function faultsOf(error: z.ZodError): Fault[] {
  return error.issues
    .slice(0, mostFaults)
    .map(issue => ({ path: formatMemberPath(issue.path), message: messageOf(issue) }));
}

const named: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  record: 'an object',
};

export function messageOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      // The library tells a missing member from a wrong one only in its own sentence.
      if (issue.path.length > 0 && issue.message.endsWith('received undefined')) return 'is required';
      return issue.message.startsWith('must be') ? issue.message : `must be ${named[issue.expected] ?? issue.expected}`;
    case 'too_small':
      return `must be at least ${issue.minimum}`;
    case 'too_big':
      return `must be at most ${issue.maximum}`;
    case 'invalid_value':
      return `must be one of ${issue.values.filter(value => value !== '').join(', ')}`;
    case 'unrecognized_keys':
      return `must not hold ${issue.keys.join(', ')}`;
    case 'invalid_key':
      return issue.issues.map(messageOf).join(', ');
    case 'invalid_union':
      return alternatives(issue);
    default:
      return issue.message;
  }
}

function alternatives(issue: z.core.$ZodIssueInvalidUnion): string {
  const wanted = issue.errors.flatMap(errors => errors.map(messageOf)).map(message => message.replace(/^must be /, ''));
  return wanted.length === 0 ? issue.message : `must be ${[...new Set(wanted)].join(', or ')}`;
}
