import type { YAMLMap } from 'yaml';
import { createDuplicateMemberProblem, type Json, parseJson, problem } from './json.ts';
import { loadYaml } from './lazy-packages.ts';

/** Bounds alias expansion (the "billion laughs" attack). */
const maxAliases = 100;
/** Lexer tokens: parsing takes far more memory for each than it has bytes. */
const maxTokens = 300_000;

/**
 * Parses YAML as data, with the bounds of JSON. Errors give positions only: the library's messages quote the text,
 * which may hold a secret.
 */
export function parseYaml(text: string, maxValues?: number): Json {
  if (text.trim() === '') throw problem.empty();
  try {
    return parseJson(toJsonText(text), maxValues);
  } catch (cause) {
    if (cause instanceof RangeError || cause instanceof TypeError) throw problem.too_deep({ cause });
    if (cause instanceof ReferenceError)
      throw problem.malformed({ detail: { reason: 'it has too many aliases' }, cause });
    throw cause;
  }
}

/** Formats a JSON value as YAML, without anchors and folded lines. */
export const toYamlText = (value: unknown): string =>
  loadYaml().stringify(value, { aliasDuplicateObjects: false, lineWidth: 0 });

function toJsonText(text: string): string {
  const { Lexer, parseDocument, visit } = loadYaml();
  let tokens = 0;
  for (const _token of new Lexer().lex(text))
    if (++tokens > maxTokens)
      throw problem.malformed({
        detail: { reason: `it is too long for YAML (more than ${maxTokens} tokens): send it as JSON` },
      });
  // The library's own check for duplicate keys takes quadratic time.
  const document = parseDocument(text, { prettyErrors: false, merge: true, uniqueKeys: false, logLevel: 'error' });
  const [fault] = document.errors;
  if (fault) throw problem.malformed({ detail: { reason: `it is not YAML at character ${fault.pos[0]}` } });
  visit(document, { Map: (_key, map) => rejectDuplicateKeys(map) });
  return JSON.stringify(document.toJS({ maxAliasCount: maxAliases }), rejectNonFinite) ?? 'null';
}

/** Rejects duplicate keys, except the merge key `<<`. */
function rejectDuplicateKeys({ items }: YAMLMap): void {
  const { isScalar } = loadYaml();
  const names = new Set<string>();
  for (const { key } of items) {
    const name = isScalar(key) ? String(key.value) : undefined;
    if (name === undefined || name === '<<') continue;
    if (names.has(name)) throw createDuplicateMemberProblem([name]);
    names.add(name);
  }
}

/** Rejects infinities and NaN, which JSON.stringify writes as null. */
function rejectNonFinite(_name: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) throw problem.forbidden_number();
  return value;
}
