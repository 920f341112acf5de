/** Rules that decide: `deny` gives the reasons of a denial, `allow` must be true where it is defined. */
export const decisionRules = ['deny', 'allow'] as const;

/** Reasons of one denial that its message names. */
const maxReasons = 10;

/** The values are no decision. */
export class DecisionError extends Error {}

/** Reasons of a denial; empty where the request is allowed. */
export function readDenial(ruleNames: ReadonlySet<string>, values: Readonly<Record<string, unknown>>): string[] {
  const reasons = readReasons(values.deny);
  if (reasons.length > 0) return reasons.slice(0, maxReasons);
  if (values.allow !== undefined && typeof values.allow !== 'boolean')
    throw new DecisionError('allow must be true or false');
  return ruleNames.has('allow') && values.allow !== true ? ['the rules of the organisation do not allow it'] : [];
}

function readReasons(deny: unknown): string[] {
  if (deny === undefined || deny === false) return [];
  if (deny === true) return ['denied by the rules of the organisation'];
  const reasons = typeof deny === 'string' ? [deny] : deny;
  if (!Array.isArray(reasons)) throw new DecisionError('deny must be a set of texts, or true or false');
  return reasons.map(reason => (typeof reason === 'string' ? reason : JSON.stringify(reason)));
}
