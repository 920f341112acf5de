import { type Bounds, Budget, defaultBounds } from './budget.ts';
import { TemplateFault } from './error.ts';
import { evaluate } from './evaluator.ts';
import type { Fn, FunctionTable } from './functions/fn.ts';
import { changing, functionTable } from './functions/table.ts';
import type { Texts } from './nodes.ts';
import { parse } from './parser.ts';

/**
 * Templates in the language of Go's text/template, with the functions operators know from it. A template is read once;
 * rendering it is bounded in steps, text and depth, so that none can hold up the thread it runs in.
 */
export interface Template {
  /** Throws `TemplateFault` when the data does not suit it, or a bound is met. */
  render(data: unknown, bounds?: Partial<Bounds>, about?: unknown): string;
  /** It may change the maps it is given: hand it copies of what others share. */
  readonly changesData: boolean;
}

export interface TemplateOptions {
  /** Beside the usual functions, or in their place. */
  readonly functions?: FunctionTable;
  /** Applied to what actions print, such as `htmlText`. */
  readonly escaping?: (text: string) => string;
  /** Places in the text between actions that are filled in with what `render` is told it is about. */
  readonly texts?: Texts;
}

/** Throws `TemplateFault`, with the line, when the source cannot be read. */
export function compileTemplate(source: string, { functions, escaping, texts }: TemplateOptions = {}): Template {
  const known: ReadonlyMap<string, Fn> = functions
    ? new Map([...functionTable, ...Object.entries(functions)])
    : functionTable;
  const { definitions, calls } = guarded(() => parse(source, known, texts));
  return {
    changesData: [...calls].some(name => changing.has(name)),
    render(data, bounds, about) {
      const budget = new Budget(bounds ? { ...defaultBounds, ...bounds } : defaultBounds);
      return guarded(() => evaluate({ definitions, budget, escaping, about }, data));
    },
  };
}

/** Whatever the engine itself cannot hold, in its stack or as one text, is over a bound too. */
function guarded<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof RangeError) throw new TemplateFault(`more than can be held: ${error.message}`, 0, true);
    throw error;
  }
}
