import { defaultTemplateBounds, type TemplateBounds, TemplateBudget } from './budget.ts';
import { TemplateError } from './error.ts';
import { renderTemplate } from './evaluator.ts';
import type { FunctionTable, TemplateFunction } from './functions/fn.ts';
import { functionTable, mutatingFunctions } from './functions/table.ts';
import type { ParseText } from './nodes.ts';
import { parseTemplate } from './parser.ts';

/**
 * Templates in the language of Go's text/template, with the functions operators know from it. A template is read once;
 * rendering it is bounded in steps, text and depth, so that none can hold up the thread it runs in.
 */
export interface Template {
  /** Throws `TemplateError` when the data does not suit it, or a bound is met. */
  render(data: unknown, bounds?: Partial<TemplateBounds>, context?: unknown): string;
  /** It may change the maps it is given: hand it copies of what others share. */
  readonly mutatesData: boolean;
}

export interface TemplateOptions {
  /** Beside the usual functions, or in their place. */
  readonly functions?: FunctionTable;
  /** Applied to what actions print, such as `htmlText`. */
  readonly escape?: (text: string) => string;
  /** Places in the text between actions that are filled in with what `render` is told it is about. */
  readonly parseText?: ParseText;
}

/** Throws `TemplateError`, with the line, when the source cannot be read. */
export function compileTemplate(
  source: string,
  { functions, escape: escaping, parseText: texts }: TemplateOptions = {},
): Template {
  const known: ReadonlyMap<string, TemplateFunction> = functions
    ? new Map([...functionTable, ...Object.entries(functions)])
    : functionTable;
  const { definitions, calls } = rethrowRangeErrors(() => parseTemplate(source, known, texts));
  return {
    mutatesData: [...calls].some(name => mutatingFunctions.has(name)),
    render(data, bounds, context) {
      const budget = new TemplateBudget(bounds ? { ...defaultTemplateBounds, ...bounds } : defaultTemplateBounds);
      return rethrowRangeErrors(() => renderTemplate({ definitions, budget, escape: escaping, context }, data));
    },
  };
}

/** Whatever the engine itself cannot hold, in its stack or as one text, is over a bound too. */
function rethrowRangeErrors<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof RangeError) throw new TemplateError(`more than can be held: ${error.message}`, 0, true);
    throw error;
  }
}
