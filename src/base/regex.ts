import { RE2JS } from 're2js';

/** Reading a pattern takes time too: whoever has more to say has lists. */
const longestPattern = 5000;
/** Matching takes steps for every character and every instruction; the worst pattern of this size stays bearable. */
const mostInstructions = 2000;

/** Why a pattern cannot be run, in words for its author. */
export class UnreadablePattern extends Error {}

export interface PatternOptions {
  readonly ignoreCase?: boolean;
  /** Fewer, where more is searched than a path. */
  readonly most?: number;
}

/**
 * An operator's pattern on the engine that takes linear time, whatever callers send. Patterns that look back or ahead are
 * unknown to it, and one that would make it slow all the same is refused.
 */
export function compiledPattern(source: string, { ignoreCase = false, most = mostInstructions }: PatternOptions = {}) {
  if (source.length > longestPattern)
    throw new UnreadablePattern(`is longer than ${longestPattern} characters: use several`);
  const compiled = attempt(source.replaceAll(/\\u([0-9a-fA-F]{4})/g, '\\x{$1}'), ignoreCase);
  if (compiled.programSize() > most) throw new UnreadablePattern('would take too long: it repeats too much');
  return compiled;
}

function attempt(source: string, ignoreCase: boolean): RE2JS {
  try {
    return RE2JS.compile(source, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
  } catch (cause) {
    throw new UnreadablePattern('is not a regular expression the gateway can run (RE2 syntax)', { cause });
  }
}

/** What is wrong with a pattern; undefined when it can be run. */
export function patternFault(source: string): string | undefined {
  try {
    compiledPattern(source);
    return undefined;
  } catch (error) {
    if (error instanceof UnreadablePattern) return error.message;
    throw error;
  }
}
