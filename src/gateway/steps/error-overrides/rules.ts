import { z } from 'zod';
import { tokenPattern } from '#base/http-syntax.ts';
import { getByPath } from '#base/json.ts';
import { compileRegex, InvalidRegex } from '#base/regex.ts';
import { framing } from '../../http/headers.ts';
import { ApiCompileError } from '../../pipeline/step.ts';
import { flagOf, upstreamFlag } from './flags.ts';
import { type Replacement, replacementOf } from './replacement.ts';

/** Both forms write the same, one with underscores. */
const spelt =
  (names: Readonly<Record<string, string>>) =>
  (given: unknown): unknown =>
    typeof given === 'object' && given !== null && !Array.isArray(given)
      ? Object.fromEntries(Object.entries(given).map(([name, value]) => [names[name] ?? name, value]))
      : given;

const Match = z.preprocess(
  spelt({ message_pattern: 'messagePattern', body_field: 'bodyField', body_value: 'bodyValue' }),
  z.object({
    flag: z.string().nullish(),
    messagePattern: z.string().nullish(),
    bodyField: z.string().nullish(),
    bodyValue: z.string().nullish(),
  }),
);
/** How an answer is framed is for the transport to say. */
const headerName = z
  .string()
  .regex(tokenPattern, 'is not a header name')
  .refine(name => !framing.has(name.toLowerCase()), 'the gateway sends this header itself');
const Response = z.preprocess(
  spelt({ status_code: 'statusCode' }),
  z.object({
    statusCode: z.union([z.literal(0), z.int().min(200).max(599)]).nullish(),
    body: z.string().nullish(),
    message: z.string().nullish(),
    template: z.string().nullish(),
    headers: z.record(headerName, z.string().regex(/^\P{Cc}*$/u)).nullish(),
  }),
);
const Rule = z.object({ match: Match.nullish(), response: Response });
export type ResponseRule = z.output<typeof Response>;

/** One rule, ready to be tried. */
export interface Override {
  /** Whether the bytes of an upstream's answer have to be there before it can be tried or done. */
  readonly needsBody: boolean;
  fitsRefusal(code: string, message: string): boolean;
  fitsUpstream(status: number, body: Buffer | undefined): boolean;
  readonly replacement: Replacement;
}

/** The rules for a status, the exact ones before those of its class. */
export interface OverrideRules {
  of(status: number): readonly Override[];
}

const noRules: readonly Override[] = [];
/** How much of a body a pattern sees, and up to which size it is read as JSON. */
const patternBytes = 4096;
const jsonBytes = 65_536;

/** Throws `Unservable` with what is wrong with the first that cannot be made. */
export function overrideRules(given: Readonly<Record<string, unknown>>, templates: string): OverrideRules {
  const exact = new Map<number, Override[]>();
  const classes = new Map<number, Override[]>();
  for (const [key, list] of Object.entries(given)) {
    const status = /^(?:([1-5])xx|([1-5]\d\d))$/i.exec(key);
    const fault = (why: string) => new ApiCompileError(`an error override cannot be read: ${key} ${why}`);
    if (!status) throw fault('is neither a status nor a class of them');
    const parsed = z.array(Rule).safeParse(list);
    if (!parsed.success) throw fault(`holds no rules: ${z.prettifyError(parsed.error).replaceAll('\n', ' ')}`);
    const made = parsed.data.map(rule => overrideOf(rule, templates, fault));
    if (status[1]) classes.set(Number(status[1]), made);
    else exact.set(Number(status[2]), made);
  }
  const found = new Map<number, readonly Override[]>();
  for (let status = 100; status < 600; status++) {
    const all = [...(exact.get(status) ?? []), ...(classes.get(Math.floor(status / 100)) ?? [])];
    if (all.length > 0) found.set(status, all);
  }
  return { of: status => found.get(status) ?? noRules };
}

function overrideOf(rule: z.output<typeof Rule>, templates: string, fault: (why: string) => ApiCompileError): Override {
  const { flag, messagePattern, bodyField, bodyValue } = rule.match ?? {};
  const pattern = messagePattern ? readPattern(messagePattern, fault) : undefined;
  const replacement = replacementOf(rule.response, templates, fault);
  const always = !flag && !pattern && !bodyField;
  const path = bodyField ? bodyField.split('.') : undefined;
  return {
    needsBody: pattern !== undefined || path !== undefined || replacement.hasBody,
    replacement,
    fitsRefusal: (code, message) =>
      always || (flag ? flag === code || flag === flagOf(code) : false) || (pattern?.matcher(message).find() ?? false),
    fitsUpstream: (status, body) =>
      always ||
      (flag === upstreamFlag && status >= 500) ||
      (path !== undefined && isAt(body, path, bodyValue)) ||
      (pattern !== undefined && body !== undefined && pattern.matcher(body.toString('utf8', 0, patternBytes)).find()),
  };
}

function readPattern(source: string, fault: (why: string) => ApiCompileError) {
  try {
    return compileRegex(source);
  } catch (error) {
    if (!(error instanceof InvalidRegex)) throw error;
    throw fault(`has a pattern that ${error.message}`);
  }
}

/** Whether JSON holds a value at a dotted path. */
function isAt(body: Buffer | undefined, path: readonly string[], value: string | null | undefined): boolean {
  if (body === undefined || body.length > jsonBytes) return false;
  let found: unknown;
  try {
    found = getByPath(JSON.parse(body.toString()), path);
  } catch {
    // Whatever it is, it is not JSON that holds this.
    return false;
  }
  if (found === undefined) return false;
  return value == null || (typeof found === 'object' ? JSON.stringify(found) : String(found)) === value;
}
