import type { Trigger } from '#definition/endpoints/triggers.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { formatValue } from '../variables/format-value.ts';
import { decodeHeaderText, toHeaderNames } from '../variables/header-name.ts';
import { compileRewritePattern, type PatternMatch, type RewritePattern } from './rewrite-pattern.ts';
import { compileRewriteTarget, type RewriteContext, type RewriteTarget } from './rewrite-target.ts';

/** Rewrite triggers, in order. */
export interface Triggers {
  readonly needsBody: boolean;
  /** Target of the first matching trigger; its matches become context variables. */
  firstTarget(call: Exchange, body: string): RewriteTarget | undefined;
}

/** A body is far longer than a URL: its patterns must be simpler. */
const maxInstructions = 200;

type Rule = Trigger['rules'][number];

/** Input of a rule: `texts` are the candidates. */
interface Source {
  texts(call: Exchange, name: string, body: string): readonly string[];
  /** Variables get a numeric suffix. */
  readonly isNumbered: boolean;
  /** Negated, the rule requires a value that does not match. */
  readonly requiresValue: boolean;
}

const toTexts = (value: unknown): string[] => (value === undefined ? [] : [formatValue(value)]);

const sources: Readonly<Record<Rule['in'], Source>> = {
  header: {
    texts: ({ headers }, name) => headers.all(name.toLowerCase()).map(decodeHeaderText),
    isNumbered: true,
    requiresValue: true,
  },
  query: {
    texts: ({ query }, name) => new URLSearchParams(query).getAll(name),
    isNumbered: true,
    requiresValue: true,
  },
  path: {
    texts: ({ path }) => path.split('/').filter(Boolean).map(decodeURIComponent),
    isNumbered: true,
    requiresValue: false,
  },
  sessionMetadata: {
    texts: ({ session }, name) => toTexts(session?.metaData[name]),
    isNumbered: false,
    requiresValue: false,
  },
  requestContext: { texts: ({ context }, name) => toTexts(context?.[name]), isNumbered: false, requiresValue: false },
  requestBody: { texts: (_call, _name, body) => [body], isNumbered: false, requiresValue: false },
};

export function compileTriggers(triggers: readonly Trigger[], groups: number, context: RewriteContext): Triggers {
  const compiled = triggers.map((trigger, index) => ({
    matches: compileCondition(trigger, index),
    target: compileRewriteTarget(trigger.rewriteTo, groups, context),
  }));
  return {
    needsBody: triggers.some(({ rules }) => rules.some(rule => rule.in === 'requestBody')),
    firstTarget: (call, body) => compiled.find(({ matches }) => matches(call, body))?.target,
  };
}

type Condition = (call: Exchange, body: string) => boolean;

/** Evaluates every rule also where one suffices: each sets its variables. */
function compileCondition({ condition: needed, rules }: Trigger, index: number): Condition {
  const compiled = rules.map(rule => compileRule(rule, index));
  if (needed === 'all') return (call, body) => compiled.length > 0 && compiled.every(matches => matches(call, body));
  return (call, body) => compiled.filter(matches => matches(call, body)).length > 0;
}

function compileRule({ in: source, name, pattern: regex, negate }: Rule, index: number): Condition {
  const { texts, isNumbered, requiresValue } = sources[source];
  const inBody = source === 'requestBody';
  const pattern = compileRewritePattern(regex, 'a rewrite trigger', inBody ? maxInstructions : undefined);
  if (negate)
    return (call, body) => {
      const found = texts(call, name, body);
      return (found.length > 0 || !requiresValue) && !found.some(text => pattern.match(text));
    };
  const label = `trigger-${index}-${inBody ? 'payload' : source === 'header' ? toHeaderNames(name).canonical : name}`;
  // Path segments are numbered by match, header and parameter values by position.
  const numbersMatches = source === 'path';
  return (call, body) => setMatches(call, pattern, texts(call, name, body), { label, isNumbered, numbersMatches });
}

interface VariableNaming {
  readonly label: string;
  readonly isNumbered: boolean;
  readonly numbersMatches: boolean;
}

function setMatches(
  call: Exchange,
  pattern: RewritePattern,
  texts: readonly string[],
  { label, isNumbered, numbersMatches }: VariableNaming,
) {
  let matchCount = 0;
  for (const [i, text] of texts.entries()) {
    const match = pattern.match(text);
    if (match) setVariables(call, isNumbered ? `${label}-${numbersMatches ? matchCount : i}` : label, match);
    if (match) matchCount++;
  }
  return matchCount > 0;
}

function setVariables(call: Exchange, name: string, { texts: [whole, ...groups] }: PatternMatch): void {
  call.context ??= {};
  call.context[name] = whole;
  for (const [group, text] of groups.entries()) call.context[`${name}-${group}`] = text;
}
