import type { z } from 'zod';
import { checkMembers, formatUnknownMember } from '#base/members.ts';
import type { ValidationError } from '#operations/validation-error.ts';
import type { CheckResult } from './check-result.ts';

/** Unknown members are rejected, or stored and reported. */
export type UnknownMembers = 'refuse' | 'warn';

export interface DefinitionMembers {
  /** Definition without `null` for optional members. */
  readonly value: unknown;
  readonly errors: readonly ValidationError[];
  readonly warnings: readonly ValidationError[];
}

/** Checks member names against the schema, before the schema checks values. */
export function checkDefinitionMembers(
  schema: z.ZodType,
  definition: unknown,
  unknownMembers: UnknownMembers,
  more: readonly ValidationError[] = [],
): DefinitionMembers {
  const { value, unknown, legacy } = checkMembers(schema, definition);
  const unknownErrors = [
    ...unknown.map(member => ({ path: member.path, message: formatUnknownMember(member) })),
    ...more,
  ];
  const errors = unknownMembers === 'refuse' ? unknownErrors : [];
  const warnings = [
    ...(unknownMembers === 'warn' ? unknownErrors : []),
    ...legacy.map(path => ({ path, message: 'legacy member: kept, without effect' })),
  ];
  return { value, errors: errors, warnings: warnings };
}

/** Builds the result of a check; `warnings` is present only where there are some. */
export function toCheckResult<T>({ value, warnings }: DefinitionMembers, errors: ValidationError[]): CheckResult<T> {
  if (errors.length > 0) return { ok: false, errors };
  return { ok: true, definition: value as T, ...(warnings.length > 0 && { warnings }) };
}
