import type { z } from 'zod';
import { checkMembers, formatUnknownMember } from '#base/members.ts';
import type { CheckResult, Fault } from './validation-error.ts';

/** What becomes of members that a definition may not have: the write is refused, or they are kept and reported. */
export type UnknownMembers = 'refuse' | 'warn';

export interface DefinitionMembers {
  /** The definition without the `null` of optional members. */
  readonly value: unknown;
  readonly errors: readonly Fault[];
  readonly warnings: readonly Fault[];
}

/** Checks the members of a definition against its schema, before the schema checks their values. */
export function checkDefinitionMembers(
  schema: z.ZodType,
  given: unknown,
  unknownMembers: UnknownMembers,
  more: readonly Fault[] = [],
): DefinitionMembers {
  const { value, unknown, legacy } = checkMembers(schema, given);
  const found = [...unknown.map(member => ({ path: member.path, message: formatUnknownMember(member) })), ...more];
  const refused = unknownMembers === 'refuse' ? found : [];
  const reported = [
    ...(unknownMembers === 'warn' ? found : []),
    ...legacy.map(path => ({ path, message: 'legacy member: kept, without effect' })),
  ];
  return { value, errors: refused, warnings: reported };
}

/** The result of a check; warnings are there only where there are some. */
export function toCheckResult<T>({ value, warnings }: DefinitionMembers, faults: Fault[]): CheckResult<T> {
  if (faults.length > 0) return { ok: false, errors: faults };
  return { ok: true, definition: value as T, ...(warnings.length > 0 && { warnings }) };
}
