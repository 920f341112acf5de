/**
 * Expected errors. A module declares its problems once, in a table; code throws them by name; each surface renders them
 * in its own envelope, in one place.
 */
export interface ProblemKind {
  readonly status: number;
  /** Public message; `{name}` is interpolated from the detail. */
  readonly message: string;
}

export type Detail = Readonly<Record<string, unknown>>;

export interface ProblemOptions {
  detail?: Detail;
  /** Replaces the declared message. */
  message?: string;
  cause?: unknown;
}

export class Problem extends Error {
  readonly code: string;
  readonly status: number;
  readonly detail: Detail;

  constructor(code: string, kind: ProblemKind, options: ProblemOptions = {}) {
    const detail = options.detail ?? {};
    super(
      options.message ?? interpolate(kind.message, detail),
      options.cause === undefined ? undefined : { cause: options.cause },
    );
    this.name = 'Problem';
    this.code = code;
    this.status = kind.status;
    this.detail = detail;
  }
}

/** Creates the error; carries its declaration, which operations list and documents show. */
export interface ProblemFactory extends ProblemKind {
  (options?: ProblemOptions): Problem;
  readonly code: string;
}

export function problems<const T extends Record<string, ProblemKind>>(
  module: string,
  table: T,
): { readonly [K in keyof T]: ProblemFactory } {
  const factories: Record<string, ProblemFactory> = {};
  for (const [name, kind] of Object.entries(table)) {
    const code = `${module}.${name}`;
    const make = (options?: ProblemOptions) => new Problem(code, kind, options);
    factories[name] = Object.assign(make, { code, status: kind.status, message: kind.message });
  }
  return factories as { [K in keyof T]: ProblemFactory };
}

/** Fills in the placeholders. Values are truncated, except `faults`: it is bounded where it is built. */
function interpolate(message: string, detail: Detail): string {
  return message.replace(/\{(\w+)\}/g, (whole, name: string) => {
    if (!Object.hasOwn(detail, name)) return whole;
    const value = String(detail[name]);
    return name === 'faults' ? value : truncateText(value);
  });
}

/** Truncates client input that a message repeats. */
export function truncateText(text: string, maxCharacters = 300): string {
  return text.length > maxCharacters ? `${text.slice(0, maxCharacters).toWellFormed()}…` : text;
}
