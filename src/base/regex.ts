import type { RE2JS } from 're2js';
import { loadRe2 } from './lazy-packages.ts';

/** Compilation takes time too; longer alternatives belong in lists. */
const maxPatternCharacters = 5000;
/** Matching costs characters times instructions; this bounds the worst pattern. */
const defaultMaxInstructions = 2000;

/** The pattern cannot be run; the message is for its author. */
export class InvalidRegex extends Error {}

export interface RegexOptions {
  readonly ignoreCase?: boolean;
  /** Lower where longer texts than paths are searched. */
  readonly maxInstructions?: number;
}

/**
 * Compiles a configured pattern with RE2, which matches in linear time whatever clients send. It has no lookaround and
 * no backreferences; patterns with too many instructions are rejected.
 */
export function compileRegex(
  source: string,
  { ignoreCase = false, maxInstructions: most = defaultMaxInstructions }: RegexOptions = {},
) {
  if (source.length > maxPatternCharacters)
    throw new InvalidRegex(`is longer than ${maxPatternCharacters} characters: use several`);
  const compiled = compileRe2(source.replaceAll(/\\u([0-9a-fA-F]{4})/g, '\\x{$1}'), ignoreCase);
  if (compiled.programSize() > most) throw new InvalidRegex('is too complex: it has too many repetitions');
  return compiled;
}

function compileRe2(source: string, ignoreCase: boolean): RE2JS {
  try {
    const { RE2JS } = loadRe2();
    return RE2JS.compile(source, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
  } catch (cause) {
    throw new InvalidRegex('is not a valid regular expression (RE2 syntax)', { cause });
  }
}

/** Error message for a pattern; undefined where it compiles. */
export function findRegexError(source: string): string | undefined {
  try {
    compileRegex(source);
    return undefined;
  } catch (error) {
    if (error instanceof InvalidRegex) return error.message;
    throw error;
  }
}
