/**
 * A filter that cannot be parsed or run. `isLimitExceeded` distinguishes a filter that exceeded its budget from one
 * that does not suit its data.
 */
export class JqError extends Error {
  /** Character in the source, counted from one; 0 where unknown. */
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

/** Runtime error of jq, which `try` catches. Not an Error: capturing a stack trace would cost time for no use. */
export class JqRuntimeError {
  readonly value: unknown;

  constructor(value: unknown) {
    this.value = value;
  }
}

export const raise = (message: string): never => {
  throw new JqRuntimeError(message);
};
