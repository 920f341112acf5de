import { findDuplicateMember } from './duplicate-keys.ts';
import { canExceedValues, findJsonExcess } from './json-scan.ts';
import { problems, truncateText } from './problems.ts';

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** Nesting bound: every walk over a value takes stack or memory for each level. */
export const maxJsonDepth = 100;

export const problem = problems('json', {
  empty: { status: 400, message: 'Request body is empty' },
  malformed: { status: 400, message: 'Request body malformed: {reason}' },
  too_deep: { status: 400, message: `Request body malformed: nested deeper than ${maxJsonDepth} levels` },
  too_many: { status: 400, message: 'Request body malformed: it has more than {maxValues} values' },
  forbidden_name: { status: 400, message: 'Request body malformed: the member name {name} is not allowed' },
  forbidden_text: { status: 400, message: 'Request body malformed: strings must not contain a NUL character' },
  duplicate_member: { status: 400, message: 'Request body malformed: duplicate member {path}' },
  forbidden_number: { status: 400, message: 'Request body malformed: a number is too large' },
});

/**
 * Parses JSON as data: rejects what cannot be stored, read back or walked safely. Values are counted before parsing,
 * because a text of tiny values takes many times its length in memory.
 */
export function parseJson(text: string, maxValues = Number.POSITIVE_INFINITY): Json {
  if (text.trim() === '') throw problem.empty();
  if (canExceedValues(text, maxValues)) {
    const excess = findJsonExcess(text, { maxValues, maxDepth: maxJsonDepth });
    if (excess === 'depth') throw problem.too_deep();
    if (excess === 'values') throw problem.too_many({ detail: { maxValues } });
  }
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch (error) {
    throw problem.malformed({ detail: { reason: describeSyntaxError(error as Error) } });
  }
  rejectUnstorable(value, 0);
  return value;
}

/** Longer paths are truncated in messages: clients choose the names. */
const maxPathCharacters = 200;

/** Dotted path: `access_rights.a1.versions[2]`. */
export const formatPath = (path: readonly PropertyKey[]): string =>
  path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    return text ? `${text}.${String(step)}` : String(step);
  }, '');

export const createDuplicateMemberProblem = (path: readonly PropertyKey[]) =>
  problem.duplicate_member({ detail: { path: truncateText(formatPath(path), maxPathCharacters) } });

/** `parseJson` that rejects duplicate member names: only one of them would count. */
export function parseUniqueJson(text: string, maxValues?: number): Json {
  const value = parseJson(text, maxValues);
  const duplicate = findDuplicateMember(text);
  if (duplicate) throw createDuplicateMemberProblem(duplicate);
  return value;
}

/** Position of a syntax error. V8's message quotes the text, which may hold a secret. */
function describeSyntaxError({ message }: Error): string {
  if (message.startsWith('Unexpected end')) return 'unexpected end of JSON';
  const place = /^[^"]* at position (\d+)/.exec(message)?.[1];
  return place === undefined ? 'it is not JSON' : `it is not JSON at character ${place}`;
}

function rejectUnstorable(value: Json, depth: number): void {
  if (typeof value === 'string') return rejectNul(value);
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw problem.forbidden_number();
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  if (depth >= maxJsonDepth) throw problem.too_deep();
  if (Array.isArray(value)) {
    for (const item of value) rejectUnstorable(item, depth + 1);
    return;
  }
  for (const name of Object.keys(value)) {
    if (name === '__proto__') throw problem.forbidden_name({ detail: { name } });
    rejectNul(name);
    rejectUnstorable(value[name]!, depth + 1);
  }
}

/** Value at a path of member names and array indexes; undefined where there is none. */
export function getByPath(root: unknown, path: readonly string[]): unknown {
  let value = root;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

export function rejectNul(text: string): void {
  if (text.includes('\u0000')) throw problem.forbidden_text();
}
