import { z } from 'zod';
import { regexTextRule } from '../rules.ts';

/**
 * URL rewrite triggers. The classic format groups rules by location, each group a map by name; the OpenAPI format has
 * one list. The body has no name, and so at most one rule.
 */
const places = ['query', 'path', 'header', 'sessionMetadata', 'requestContext'] as const;
const groupOf: Record<string, string> = {
  query: 'query_val_matches',
  path: 'path_part_matches',
  header: 'header_matches',
  sessionMetadata: 'session_meta_matches',
  requestContext: 'request_context_matches',
};

const ruleRule = z.object({
  in: z.enum([...places, 'requestBody']),
  name: z.string(),
  pattern: z.string(),
  negate: z.boolean(),
});
const triggerRule = z.object({
  condition: z.enum(['any', 'all']),
  rewriteTo: z.string(),
  rules: z.array(ruleRule),
});
export type Trigger = z.output<typeof triggerRule>;
type Rule = z.output<typeof ruleRule>;

interface Match {
  match_rx?: string;
  reverse?: boolean;
}
interface ClassicTrigger {
  on?: string;
  rewrite_to?: string;
  options?: Record<string, Record<string, Match> | Match | null> | null;
}
interface OasTrigger {
  condition?: 'any' | 'all';
  rewriteTo?: string;
  rules?: Partial<Rule>[] | null;
}

const toRule = (place: Rule['in'], name: string, match: Match): Rule => ({
  in: place,
  name,
  pattern: match.match_rx ?? '',
  negate: match.reverse ?? false,
});

function readClassic(wire: unknown): Trigger[] {
  return (wire as ClassicTrigger[]).map(({ on, rewrite_to, options }) => {
    const rules = places.flatMap(place =>
      Object.entries(options?.[groupOf[place]!] ?? {}).map(([name, match]) =>
        toRule(place, name, (match ?? {}) as Match),
      ),
    );
    const body = (options?.payload_matches ?? {}) as Match;
    if (body.match_rx) rules.push(toRule('requestBody', '', body));
    return { condition: on === 'all' ? 'all' : 'any', rewriteTo: rewrite_to ?? '', rules };
  });
}

function writeClassic(value: unknown): ClassicTrigger[] {
  return (value as Trigger[]).map(({ condition, rewriteTo, rules }) => {
    const options: Record<string, Record<string, Match> | Match> = {};
    for (const rule of rules) {
      const match = { match_rx: rule.pattern, reverse: rule.negate };
      if (rule.in === 'requestBody') options.payload_matches = match;
      else options[groupOf[rule.in]!] = { ...options[groupOf[rule.in]!], [rule.name]: match };
    }
    return { on: condition, rewrite_to: rewriteTo, options };
  });
}

const readOas = (wire: unknown): Trigger[] =>
  (wire as OasTrigger[]).map(({ condition, rewriteTo, rules }) => ({
    condition: condition ?? 'any',
    rewriteTo: rewriteTo ?? '',
    rules: groupRules(rules ?? []),
  }));

/** Groups rules by location, which is their only order; of two with one name the later wins. */
function groupRules(rules: readonly Partial<Rule>[]): Rule[] {
  const byPlace = new Map(ruleRule.shape.in.options.map(place => [place as string, new Map<string, Rule>()]));
  for (const { in: place = 'path', name = '', pattern = '', negate = false } of rules) {
    // The classic format always has a rule for the body; without a pattern it means none.
    if (place === 'requestBody' && pattern === '') continue;
    const key = place === 'requestBody' ? '' : name;
    byPlace.get(place)!.set(key, { in: place, name: key, pattern, negate });
  }
  return [...byPlace.values()].flatMap(group => [...group.values()]);
}

const writeOas = (value: unknown) =>
  (value as Trigger[]).map(trigger => ({
    ...trigger,
    rules: trigger.rules.map(({ name, ...rule }) => (rule.in === 'requestBody' ? rule : { ...rule, name })),
  }));

const matchSchema = z
  .looseObject({ match_rx: regexTextRule.optional(), reverse: z.boolean().optional() })
  .nullable()
  .optional();
const groupSchema = z.record(z.string(), matchSchema).nullable().optional();
const classicSchema = z
  .array(
    z.looseObject({
      on: z.enum(['', 'any', 'all']).optional(),
      rewrite_to: z.string().optional(),
      options: z
        .looseObject({
          ...Object.fromEntries(Object.values(groupOf).map(group => [group, groupSchema])),
          payload_matches: matchSchema,
        })
        .nullable()
        .optional(),
    }),
  )
  .nullable();
const oasSchema = z
  .array(
    z.looseObject({
      condition: z.enum(['any', 'all']).optional(),
      rewriteTo: z.string().optional(),
      rules: z
        .array(
          z.looseObject({
            in: ruleRule.shape.in,
            name: z.string().optional(),
            pattern: regexTextRule.optional(),
            negate: z.boolean().optional(),
          }),
        )
        .nullable()
        .optional(),
    }),
  )
  .nullable();

export const triggers = {
  rule: z.array(triggerRule).default([]),
  interpolation: 'variables' as const,
  classic: { path: 'triggers', schema: classicSchema, decode: readClassic, encode: writeClassic },
  oas: { path: 'triggers', schema: oasSchema, decode: readOas, encode: writeOas },
  about: 'Conditions in order of precedence; the first that holds determines the target.',
};
