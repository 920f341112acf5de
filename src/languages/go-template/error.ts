/**
 * A template that cannot be read, or could not be rendered. `isLimitExceeded` tells a template that asked for too much from one that
 * is merely wrong for its data.
 */
export class TemplateError extends Error {
  /** Counted from one; 0 where no place is known. */
  readonly line: number;
  readonly reason: string;
  readonly isLimitExceeded: boolean;

  constructor(reason: string, line = 0, isLimitExceeded = false) {
    super(line > 0 ? `line ${line}: ${reason}` : reason);
    this.name = 'TemplateError';
    this.reason = reason;
    this.line = line;
    this.isLimitExceeded = isLimitExceeded;
  }
}
