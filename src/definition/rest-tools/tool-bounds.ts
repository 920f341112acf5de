import { isObject } from '#base/json-tree.ts';

export const maxRestTools = 500;
export const maxToolParameters = 100;

/**
 * Values in the schemas of all tools of a document, about 20 MB: a schema is copied for each reference to it, so a small
 * document could otherwise take any amount of memory.
 */
export const maxToolValues = 200_000;

/** A text counts as one more value for each of these: copies share it in memory, but not in a list of tools. */
const charactersPerValue = 256;

/** The operations of a document are too many or too large to be tools. */
export class ToolBoundsError extends Error {
  constructor(reason: string) {
    super(`the operations of the API ${reason}`);
    this.name = 'ToolBoundsError';
  }
}

/** Budget that the schemas of a document share. */
export interface ToolBudget {
  take(values: number): void;
  takeText(text: string): void;
  /** Counts a value that is used as it is, with everything in it. */
  takeAll(value: unknown): void;
}

export function createToolBudget(): ToolBudget {
  let remaining = maxToolValues;

  function take(values: number): void {
    remaining -= values;
    if (remaining < 0)
      throw new ToolBoundsError(`have more than ${maxToolValues} values in the schemas of their tools`);
  }
  const takeText = (text: string) => take(Math.floor(text.length / charactersPerValue));

  function takeAll(value: unknown): void {
    take(1);
    if (typeof value === 'string') takeText(value);
    else if (Array.isArray(value)) for (const item of value) takeAll(item);
    else if (isObject(value))
      for (const name of Object.keys(value)) {
        takeText(name);
        takeAll(value[name]);
      }
  }

  return { take, takeText, takeAll };
}
