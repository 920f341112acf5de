import type { Trigger } from '#definition/endpoints/triggers.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { StepContext } from '../pipeline/step.ts';
import { formatValue } from '../variables/format-value.ts';
import { decodeHeaderText, toHeaderNames } from '../variables/header-name.ts';
import { type Match, type Pattern, patternOf } from './rewrite-pattern.ts';
import { type RewriteTarget, rewriteTarget } from './rewrite-target.ts';

/** Conditions under which a rewrite goes elsewhere, in order. */
export interface Triggers {
  readonly needsBody: boolean;
  /** The target of the first that holds. What its rules found is in the context of the call from then on. */
  first(call: Exchange, body: string): RewriteTarget | undefined;
}

/** A body is far longer than an address: a pattern over one must be simpler. */
const mostInstructions = 200;

type Rule = Trigger['rules'][number];

/** Where rules look. `texts` is everything a rule may fit; `named` how what it finds is called. */
interface Place {
  texts(call: Exchange, name: string, body: string): readonly string[];
  /** Several texts are told apart by their number. */
  readonly numbered: boolean;
  /** Negated, it holds only where there is something that does not fit. */
  readonly asksPresence: boolean;
}

const one = (value: unknown): string[] => (value === undefined ? [] : [formatValue(value)]);

const places: Readonly<Record<Rule['in'], Place>> = {
  header: {
    texts: ({ headers }, name) => headers.all(name.toLowerCase()).map(decodeHeaderText),
    numbered: true,
    asksPresence: true,
  },
  query: {
    texts: ({ query }, name) => new URLSearchParams(query).getAll(name),
    numbered: true,
    asksPresence: true,
  },
  path: {
    texts: ({ path }) => path.split('/').filter(Boolean).map(decodeURIComponent),
    numbered: true,
    asksPresence: false,
  },
  sessionMetadata: {
    texts: ({ session }, name) => one(session?.metaData[name]),
    numbered: false,
    asksPresence: false,
  },
  requestContext: { texts: ({ context }, name) => one(context?.[name]), numbered: false, asksPresence: false },
  requestBody: { texts: (_call, _name, body) => [body], numbered: false, asksPresence: false },
};

export function triggersOf(triggers: readonly Trigger[], groups: number, context: StepContext): Triggers {
  const compiled = triggers.map((trigger, place) => ({
    holds: condition(trigger, place),
    target: rewriteTarget(trigger.rewriteTo, groups, context),
  }));
  return {
    needsBody: triggers.some(({ rules }) => rules.some(rule => rule.in === 'requestBody')),
    first: (call, body) => compiled.find(({ holds }) => holds(call, body))?.target,
  };
}

type Holds = (call: Exchange, body: string) => boolean;

/** Every rule is looked at where one is enough: what the others find has a name too. */
function condition({ condition: needed, rules }: Trigger, place: number): Holds {
  const compiled = rules.map(rule => ruleOf(rule, place));
  if (needed === 'all') return (call, body) => compiled.length > 0 && compiled.every(holds => holds(call, body));
  return (call, body) => compiled.filter(holds => holds(call, body)).length > 0;
}

function ruleOf({ in: where, name, pattern: source, negate }: Rule, place: number): Holds {
  const { texts, numbered, asksPresence } = places[where];
  const inBody = where === 'requestBody';
  const pattern = patternOf(source, 'a rewrite trigger', inBody ? mostInstructions : undefined);
  if (negate)
    return (call, body) => {
      const found = texts(call, name, body);
      return (found.length > 0 || !asksPresence) && !found.some(text => pattern.match(text));
    };
  const label = `trigger-${place}-${inBody ? 'payload' : where === 'header' ? toHeaderNames(name).canonical : name}`;
  // Segments have no number of their own: those that fit are counted. Values of headers and parameters do.
  const counts = where === 'path';
  return (call, body) => noted(call, pattern, texts(call, name, body), { label, numbered, counts });
}

interface Naming {
  readonly label: string;
  readonly numbered: boolean;
  readonly counts: boolean;
}

function noted(call: Exchange, pattern: Pattern, texts: readonly string[], { label, numbered, counts }: Naming) {
  let fits = 0;
  for (const [at, text] of texts.entries()) {
    const match = pattern.match(text);
    if (match) note(call, numbered ? `${label}-${counts ? fits : at}` : label, match);
    if (match) fits++;
  }
  return fits > 0;
}

function note(call: Exchange, name: string, { texts: [whole, ...groups] }: Match): void {
  call.context ??= {};
  call.context[name] = whole;
  for (const [group, text] of groups.entries()) call.context[`${name}-${group}`] = text;
}
