import { z } from 'zod';
import { closestMatch } from '#base/closest-match.ts';
import type { Settings } from '#base/settings.ts';
import { faultText, invalid, type ValidationError } from './validation-error.ts';

/**
 * Misspelt query parameters of operations that change something: a parameter that is close to a declared one and is none is
 * refused, or reported, as members of bodies are. Names that are close to none are left alone, as HTTP clients and
 * proxies add some of their own.
 */
export function checkQueryNames(
  schema: z.ZodType | undefined,
  given: Readonly<Record<string, unknown>>,
  unknownMembers: Settings['management.unknown_members'],
): string[] {
  if (!(schema instanceof z.ZodObject)) return [];
  const known = Object.keys(schema.shape);
  const faults = Object.keys(given).flatMap((name): ValidationError[] => {
    const meant = known.includes(name) ? undefined : closestMatch(name, known);
    return meant === undefined ? [] : [{ path: name, message: `no such parameter; did you mean ${meant}?` }];
  });
  if (faults.length > 0 && unknownMembers === 'refuse') throw invalid(faults);
  return faults.map(fault => `${faultText(fault)} (ignored)`);
}
