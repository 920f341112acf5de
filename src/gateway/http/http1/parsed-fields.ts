/** Field lines as they were parsed: `text` has, from `start` on, a line `name: value` for each entry of `flat`. */
export interface ParsedFields {
  readonly text: string;
  readonly start: number;
  readonly flat: readonly string[];
}
