import { compileRegex, InvalidRegex, type RegexOptions } from '#base/regex.ts';
import { ApiCompileError } from './step.ts';

export type BoundedRegex = ReturnType<typeof compileRegex>;

/**
 * Compiles a regular expression of a definition. One that is invalid or too large fails the API; the error names `what`
 * it is.
 */
export function compileBoundedRegex(what: string, source: string, options: RegexOptions = {}): BoundedRegex {
  try {
    return compileRegex(source, options);
  } catch (error) {
    if (!(error instanceof InvalidRegex)) throw error;
    throw new ApiCompileError(`${what} is invalid: it ${error.message}`);
  }
}
