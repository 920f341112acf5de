/** Place in the source, counted from one. */
export interface RegoPosition {
  readonly line: number;
  readonly column: number;
}

/** Rules that cannot be parsed or run. `at` is undefined where no place of the source is at fault. */
export class RegoError extends Error {
  readonly at: RegoPosition | undefined;

  constructor(reason: string, at?: RegoPosition) {
    super(at ? `line ${at.line}, column ${at.column}: ${reason}` : reason);
    this.name = 'RegoError';
    this.at = at;
  }
}
