/**
 * A template that cannot be parsed or rendered. `isLimitExceeded` distinguishes a template that exceeded its budget
 * from one that does not suit its data.
 */
export class TemplateError extends Error {
  /** Line in the source, counted from one; 0 where unknown. */
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
