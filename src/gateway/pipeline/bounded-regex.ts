import { compiledPattern, type PatternOptions, UnreadablePattern } from '#base/regex.ts';
import { Unservable } from './step.ts';

export type OperatorPattern = ReturnType<typeof compiledPattern>;

/** A pattern of a definition. One that nobody can run makes the API unservable, which says `what` it was. */
export function operatorPattern(what: string, source: string, options: PatternOptions = {}): OperatorPattern {
  try {
    return compiledPattern(source, options);
  } catch (error) {
    if (!(error instanceof UnreadablePattern)) throw error;
    throw new Unservable(`${what} cannot be read: it ${error.message}`);
  }
}
