/**
 * A template that cannot be read, or could not be rendered. `isBound` tells a template that asked for too much from one that
 * is merely wrong for its data.
 */
export class TemplateFault extends Error {
  /** Counted from one; 0 where no place is known. */
  readonly line: number;
  readonly what: string;
  readonly isBound: boolean;

  constructor(what: string, line = 0, isBound = false) {
    super(line > 0 ? `line ${line}: ${what}` : what);
    this.name = 'TemplateFault';
    this.what = what;
    this.line = line;
    this.isBound = isBound;
  }
}
