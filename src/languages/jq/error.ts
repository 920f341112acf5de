/**
 * A filter that cannot be read, or could not be run. `isLimitExceeded` tells a filter that asked for too much from one that is
 * merely wrong for its data.
 */
export class JqError extends Error {
  /** Where in the source, counted from one; 0 where no place is known. */
  readonly position: number;
  readonly reason: string;
  readonly isLimitExceeded: boolean;

  constructor(reason: string, position = 0, isLimitExceeded = false) {
    super(position > 0 ? `character ${position}: ${reason}` : reason);
    this.name = 'JqError';
    this.reason = reason;
    this.position = position;
    this.isLimitExceeded = isLimitExceeded;
  }
}

/** An error of the language, which `try` catches. No Error: nobody reads where in the evaluator it came from. */
export class JqRuntimeError {
  readonly value: unknown;

  constructor(value: unknown) {
    this.value = value;
  }
}

export const raise = (message: string): never => {
  throw new JqRuntimeError(message);
};
