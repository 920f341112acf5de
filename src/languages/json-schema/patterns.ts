import type { RE2JS } from 're2js';
import { loadRe2 } from '#base/lazy-packages.ts';
import { InvalidSchema } from './invalid-schema.ts';
import type { ValidationRun } from './run.ts';

/** Searches a text for a match, charged to the run. */
export type PatternMatcher = (text: string, run: ValidationRun) => boolean;

const maxPatternCharacters = 4096;
const maxInstructions = 10_000;

/** Compiles a pattern with RE2, which matches in linear time. */
export function compileMatcher(pattern: string): PatternMatcher {
  if (pattern.length > maxPatternCharacters) throw new InvalidSchema('a pattern is too long');
  const program = compileProgram(pattern);
  const size = program.programSize();
  if (size > maxInstructions) throw new InvalidSchema(`the pattern ${quotePattern(pattern)} is too large`);
  const price = 1 + (size >> 5);
  return (text, run) => {
    run.spend(1 + (text.length >> 4) * price);
    return program.test(text);
  };
}

function compileProgram(pattern: string): RE2JS {
  try {
    const { RE2JS } = loadRe2();
    return RE2JS.compile(RE2JS.translateRegExp(pattern));
  } catch (error) {
    throw new InvalidSchema(`the pattern ${quotePattern(pattern)} is none: ${(error as Error).message}`);
  }
}

const quotePattern = (pattern: string) => JSON.stringify(pattern.slice(0, 100));
