import { z } from 'zod';
import { closestMatch } from '#base/closest-match.ts';
import type { Settings } from '#base/settings.ts';
import { createInvalidProblem, formatValidationError, type ValidationError } from './validation-error.ts';

/**
 * Misspelt query parameters of operations that change something: a parameter that is close to a declared one and is none is
 * refused, or reported, as members of bodies are. Names that are close to none are left alone, as HTTP clients and
 * proxies add some of their own.
 */
export function checkQueryNames(
  schema: z.ZodType | undefined,
  query: Readonly<Record<string, unknown>>,
  unknownMembers: Settings['management.unknown_members'],
): string[] {
  if (!(schema instanceof z.ZodObject)) return [];
  const known = Object.keys(schema.shape);
  const errors = Object.keys(query).flatMap((name): ValidationError[] => {
    const suggestion = known.includes(name) ? undefined : closestMatch(name, known);
    return suggestion === undefined ? [] : [{ path: name, message: `no such parameter; did you mean ${suggestion}?` }];
  });
  if (errors.length > 0 && unknownMembers === 'refuse') throw createInvalidProblem(errors);
  return errors.map(fault => `${formatValidationError(fault)} (ignored)`);
}
