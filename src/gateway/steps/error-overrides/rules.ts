import { z } from 'zod';
import { getByPath } from '#base/json.ts';
import { compileRegex, InvalidRegex } from '#base/regex.ts';
import { tryParseJson } from '#base/try-parse-json.ts';
import { ApiCompileError } from '../../pipeline/step.ts';
import { findFlag, upstreamFlag } from './flags.ts';
import { compileReplacement, type Replacement } from './replacement.ts';
import { Rule } from './rule-schema.ts';

/** Compiled rule. */
export interface OverrideRule {
  /** True when matching or replacing reads the body of an upstream error. */
  readonly needsBody: boolean;
  matchesRefusal(code: string, message: string): boolean;
  matchesUpstream(status: number, body: Buffer | undefined): boolean;
  readonly replacement: Replacement;
}

/** Rules by status: exact statuses before classes (`5xx`). */
export interface OverrideRules {
  of(status: number): readonly OverrideRule[];
}

const noRules: readonly OverrideRule[] = [];
/** Bounds of the body for patterns and for JSON matching. */
const maxPatternBytes = 4096;
const maxJsonBytes = 65_536;

/** Throws `ApiCompileError` for the first invalid rule. */
export function compileOverrideRules(
  rulesByStatus: Readonly<Record<string, unknown>>,
  templates: string,
): OverrideRules {
  const exact = new Map<number, OverrideRule[]>();
  const classes = new Map<number, OverrideRule[]>();
  for (const [key, list] of Object.entries(rulesByStatus)) {
    const status = /^(?:([1-5])xx|([1-5]\d\d))$/i.exec(key);
    const toError = (why: string) => new ApiCompileError(`the error override ${key} ${why}`);
    if (!status) throw toError('is neither a status nor a status class such as 4xx');
    const parsed = z.array(Rule).safeParse(list);
    if (!parsed.success) throw toError(`holds no rules: ${z.prettifyError(parsed.error).replaceAll('\n', ' ')}`);
    const compiled = parsed.data.map(rule => compileOverride(rule, templates, toError));
    if (status[1]) classes.set(Number(status[1]), compiled);
    else exact.set(Number(status[2]), compiled);
  }
  const byStatus = new Map<number, readonly OverrideRule[]>();
  for (let status = 100; status < 600; status++) {
    const all = [...(exact.get(status) ?? []), ...(classes.get(Math.floor(status / 100)) ?? [])];
    if (all.length > 0) byStatus.set(status, all);
  }
  return { of: status => byStatus.get(status) ?? noRules };
}

function compileOverride(
  rule: z.output<typeof Rule>,
  templates: string,
  toError: (why: string) => ApiCompileError,
): OverrideRule {
  const { flag, messagePattern, bodyField, bodyValue } = rule.match ?? {};
  const pattern = messagePattern ? compileMessagePattern(messagePattern, toError) : undefined;
  const replacement = compileReplacement(rule.response, templates, toError);
  const matchesAll = !flag && !pattern && !bodyField;
  const path = bodyField ? bodyField.split('.') : undefined;
  return {
    needsBody: pattern !== undefined || path !== undefined || replacement.hasBody,
    replacement,
    matchesRefusal: (code, message) =>
      matchesAll ||
      (flag ? flag === code || flag === findFlag(code) : false) ||
      (pattern?.matcher(message).find() ?? false),
    matchesUpstream: (status, body) =>
      matchesAll ||
      (flag === upstreamFlag && status >= 500) ||
      (path !== undefined && hasValueAt(body, path, bodyValue)) ||
      (pattern !== undefined &&
        body !== undefined &&
        pattern.matcher(body.toString('utf8', 0, maxPatternBytes)).find()),
  };
}

function compileMessagePattern(source: string, toError: (why: string) => ApiCompileError) {
  try {
    return compileRegex(source);
  } catch (error) {
    if (!(error instanceof InvalidRegex)) throw error;
    throw toError(`has a pattern that ${error.message}`);
  }
}

/** True when the JSON body has the value at a dotted path. */
function hasValueAt(body: Buffer | undefined, path: readonly string[], value: string | null | undefined): boolean {
  if (body === undefined || body.length > maxJsonBytes) return false;
  const found = getByPath(tryParseJson(body.toString()), path);
  if (found === undefined) return false;
  return value == null || (typeof found === 'object' ? JSON.stringify(found) : String(found)) === value;
}
