import { RE2JS } from 're2js';

/** Reading a pattern takes time too: whoever has more to say has lists. */
const maxPatternCharacters = 5000;
/** Matching takes steps for every character and every instruction; the worst pattern of this size stays bearable. */
const defaultMaxInstructions = 2000;

/** Why a pattern cannot be run, in words for its author. */
export class InvalidRegex extends Error {}

export interface RegexOptions {
  readonly ignoreCase?: boolean;
  /** Fewer, where more is searched than a path. */
  readonly maxInstructions?: number;
}

/**
 * An operator's pattern on the engine that takes linear time, whatever callers send. Patterns that look back or ahead are
 * unknown to it, and one that would make it slow all the same is refused.
 */
export function compileRegex(
  source: string,
  { ignoreCase = false, maxInstructions: most = defaultMaxInstructions }: RegexOptions = {},
) {
  if (source.length > maxPatternCharacters)
    throw new InvalidRegex(`is longer than ${maxPatternCharacters} characters: use several`);
  const compiled = compileRe2(source.replaceAll(/\\u([0-9a-fA-F]{4})/g, '\\x{$1}'), ignoreCase);
  if (compiled.programSize() > most) throw new InvalidRegex('would take too long: it repeats too much');
  return compiled;
}

function compileRe2(source: string, ignoreCase: boolean): RE2JS {
  try {
    return RE2JS.compile(source, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
  } catch (cause) {
    throw new InvalidRegex('is not a regular expression the gateway can run (RE2 syntax)', { cause });
  }
}

/** What is wrong with a pattern; undefined when it can be run. */
export function findRegexError(source: string): string | undefined {
  try {
    compileRegex(source);
    return undefined;
  } catch (error) {
    if (error instanceof InvalidRegex) return error.message;
    throw error;
  }
}
