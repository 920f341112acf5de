import { z } from 'zod';
import { closestMatch } from '#base/closest-match.ts';
import type { Settings } from '#base/settings.ts';
import { createInvalidProblem, formatValidationError, type ValidationError } from './validation-error.ts';

/** Names that clients add to any read: `_` circumvents caches, `p` is the page, also of lists without pages. */
const ignoredReadNames = new Set(['_', 'p']);

/** Longer names are no misspellings: they are neither compared nor repeated in full. */
const maxNameCharacters = 100;

export interface QueryNameRules {
  readonly unknownMembers: Settings['management.unknown_members'];
  /**
   * The operation changes something: names that resemble none of its parameters pass, as HTTP clients and proxies add
   * some of their own. A read refuses them too: a filter without effect would return everything.
   */
  readonly isMutation: boolean;
}

/** Unknown query parameters of an operation that declares some: refused, or reported, as members of bodies are. */
export function checkQueryNames(
  schema: z.ZodType | undefined,
  query: Readonly<Record<string, unknown>>,
  { unknownMembers, isMutation }: QueryNameRules,
): string[] {
  if (!(schema instanceof z.ZodObject)) return [];
  const known = Object.keys(schema.shape);
  const errors = Object.keys(query).flatMap((name): ValidationError[] => {
    if (known.includes(name) || (!isMutation && ignoredReadNames.has(name))) return [];
    const path = name.slice(0, maxNameCharacters);
    const suggestion = path === name ? closestMatch(name, known) : undefined;
    if (suggestion !== undefined) return [{ path, message: `no such parameter; did you mean ${suggestion}?` }];
    return isMutation ? [] : [{ path, message: 'no such parameter' }];
  });
  if (errors.length > 0 && unknownMembers === 'refuse') throw createInvalidProblem(errors);
  return errors.map(fault => `${formatValidationError(fault)} (ignored)`);
}
