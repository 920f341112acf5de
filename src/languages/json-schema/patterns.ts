import { RE2JS } from 're2js';
import { Unreadable } from './invalid-schema.ts';
import type { Run } from './run.ts';

/** Whether a text holds a match; what that takes is charged to the run. */
export type Matches = (text: string, run: Run) => boolean;

const longestPattern = 4096;
const mostInstructions = 10_000;

/** A pattern of a schema, on an engine that no text can keep busy. */
export function matcherOf(pattern: string): Matches {
  if (pattern.length > longestPattern) throw new Unreadable('a pattern is too long');
  const program = programOf(pattern);
  const size = program.programSize();
  if (size > mostInstructions) throw new Unreadable(`the pattern ${quoted(pattern)} is too large`);
  const price = 1 + (size >> 5);
  return (text, run) => {
    run.spend(1 + (text.length >> 4) * price);
    return program.test(text);
  };
}

function programOf(pattern: string): RE2JS {
  try {
    return RE2JS.compile(RE2JS.translateRegExp(pattern));
  } catch (error) {
    throw new Unreadable(`the pattern ${quoted(pattern)} is none: ${(error as Error).message}`);
  }
}

const quoted = (pattern: string) => JSON.stringify(pattern.slice(0, 100));
