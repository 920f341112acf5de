import type { z } from 'zod';
import { shortened } from '#base/problems.ts';
import { problem } from './problems.ts';

/** More than anybody reads; a hostile body could otherwise make an answer of any length. */
const faultsShown = 20;
const longestFault = 500;

export interface Fault {
  readonly path: string;
  readonly message: string;
}

/** `access_rights.a1.versions[2]` */
export const pathText = (path: readonly PropertyKey[]): string =>
  path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    return text ? `${text}.${String(step)}` : String(step);
  }, '');

export const faultText = ({ path, message }: Fault): string => (path ? `${path}: ${message}` : message);

/** Every fault at once, each with its place. */
export function invalid(faults: readonly Fault[]) {
  const lines = faults.slice(0, faultsShown).map(fault => shortened(faultText(fault), longestFault));
  if (faults.length > faultsShown) lines.push(`and ${faults.length - faultsShown} more`);
  return problem.invalid({ detail: { lines }, message: lines.join('; ') });
}

export function check<S extends z.ZodType>(shape: S, value: unknown, prefix = ''): z.output<S> {
  const result = shape.safeParse(value);
  if (result.success) return result.data;
  throw invalid(result.error.issues.flatMap(issue => faultsOf(issue, prefix)));
}

function faultsOf(issue: z.core.$ZodIssue, prefix: string): Fault[] {
  const path = pathText(issue.path);
  const message = issue.message.replace(/^Invalid input: /, '');
  return [{ path: [prefix, path].filter(Boolean).join('.'), message }];
}
