import { compileRegex, InvalidRegex, type RegexOptions } from '#base/regex.ts';
import { ApiCompileError } from './step.ts';

export type BoundedRegex = ReturnType<typeof compileRegex>;

/** A pattern of a definition. One that nobody can run makes the API unservable, which says `what` it was. */
export function compileBoundedRegex(what: string, source: string, options: RegexOptions = {}): BoundedRegex {
  try {
    return compileRegex(source, options);
  } catch (error) {
    if (!(error instanceof InvalidRegex)) throw error;
    throw new ApiCompileError(`${what} cannot be read: it ${error.message}`);
  }
}
