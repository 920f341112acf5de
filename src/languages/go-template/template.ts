import { defaultTemplateBounds, type TemplateBounds, TemplateBudget } from './budget.ts';
import { TemplateError } from './error.ts';
import { renderTemplate } from './evaluator.ts';
import type { FunctionTable, TemplateFunction } from './functions/fn.ts';
import { functionTable, mutatingFunctions } from './functions/table.ts';
import type { ParseText } from './nodes.ts';
import { parseTemplate, type TemplateDefinition } from './parser.ts';

/**
 * Go text/template with the usual helper functions. A template is parsed once; each rendering has a budget of steps,
 * text and depth, so that none blocks its thread.
 */
export interface Template {
  /** Throws `TemplateError` when the data does not suit it, or the budget is exceeded. */
  render(data: unknown, bounds?: Partial<TemplateBounds>, context?: unknown): string;
  /** It may mutate its data: pass copies of shared objects. */
  readonly mutatesData: boolean;
}

export interface TemplateOptions {
  /** Functions that extend or replace the default ones. */
  readonly functions?: FunctionTable;
  /** Escapes the output of actions, such as `escapeHtml`. */
  readonly escape?: (text: string) => string;
  /** Finds substitutions in the text between actions; they get the `context` of `render`. */
  readonly parseText?: ParseText;
  /** Templates that it may include; its own of the same name come first. */
  readonly partials?: TemplatePartials;
}

/** Parsed templates by name, which several others include. */
export type TemplatePartials = ReadonlyMap<string, TemplateDefinition>;

/**
 * Parses a template that others include, and that may include those of `names`. Throws `TemplateError` with its line,
 * also for definitions inside of it.
 */
export function compilePartial(
  source: string,
  names: ReadonlySet<string>,
  { functions, parseText }: Omit<TemplateOptions, 'escape' | 'partials'> = {},
): TemplateDefinition {
  const { definitions } = rethrowRangeErrors(() => parseTemplate(source, toKnown(functions), parseText, names));
  if (definitions.size > 1) throw new TemplateError('a partial cannot define templates');
  return definitions.get('')!;
}

const toKnown = (functions: FunctionTable | undefined): ReadonlyMap<string, TemplateFunction> =>
  functions ? new Map([...functionTable, ...Object.entries(functions)]) : functionTable;

const noPartials: TemplatePartials = new Map();

/** Parses a template; throws `TemplateError` with the line of a syntax error. */
export function compileTemplate(
  source: string,
  { functions, escape: escaping, parseText: texts, partials = noPartials }: TemplateOptions = {},
): Template {
  const parsed = rethrowRangeErrors(() => parseTemplate(source, toKnown(functions), texts, new Set(partials.keys())));
  const { calls } = parsed;
  const definitions = partials.size > 0 ? new Map([...partials, ...parsed.definitions]) : parsed.definitions;
  return {
    mutatesData: [...calls].some(name => mutatingFunctions.has(name)),
    render(data, bounds, context) {
      const budget = new TemplateBudget(bounds ? { ...defaultTemplateBounds, ...bounds } : defaultTemplateBounds);
      return rethrowRangeErrors(() => renderTemplate({ definitions, budget, escape: escaping, context }, data));
    },
  };
}

/** V8's own limits of stack and string length count as exceeded bounds. */
function rethrowRangeErrors<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof RangeError) throw new TemplateError(`more than can be held: ${error.message}`, 0, true);
    throw error;
  }
}
