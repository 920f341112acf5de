import { isScalar, Lexer, parseDocument, visit, type YAMLMap } from 'yaml';
import { createDuplicateMemberProblem, type Json, parseJson, problem } from './json.ts';

/** Names that stand for parts told before; a short text could otherwise grow without end. */
const maxAliases = 100;
/** Words, punctuation and line ends of one text: parsing takes far more memory for each than it has bytes. */
const maxTokens = 300_000;

/**
 * Reads YAML as data, with the bounds of JSON. The library's own complaints repeat the text, which may hold a secret:
 * only the place is told.
 */
export function parseYaml(text: string, maxValues?: number): Json {
  if (text.trim() === '') throw problem.empty();
  try {
    return parseJson(toJsonText(text), maxValues);
  } catch (cause) {
    if (cause instanceof RangeError || cause instanceof TypeError) throw problem.too_deep({ cause });
    if (cause instanceof ReferenceError)
      throw problem.malformed({ detail: { reason: 'it repeats parts of itself too often' }, cause });
    throw cause;
  }
}

function toJsonText(text: string): string {
  let tokens = 0;
  for (const _token of new Lexer().lex(text))
    if (++tokens > maxTokens)
      throw problem.malformed({
        detail: { reason: `it is too long for YAML (more than ${maxTokens} tokens): send it as JSON` },
      });
  // The library's own search for duplicate keys takes the square of their number.
  const document = parseDocument(text, { prettyErrors: false, merge: true, uniqueKeys: false, logLevel: 'error' });
  const [fault] = document.errors;
  if (fault) throw problem.malformed({ detail: { reason: `it is not YAML at character ${fault.pos[0]}` } });
  visit(document, { Map: (_key, map) => rejectDuplicateKeys(map) });
  return JSON.stringify(document.toJS({ maxAliasCount: maxAliases }), rejectNonFinite) ?? 'null';
}

/** `<<` merges other maps and may stand more than once. */
function rejectDuplicateKeys({ items }: YAMLMap): void {
  const names = new Set<string>();
  for (const { key } of items) {
    const name = isScalar(key) ? String(key.value) : undefined;
    if (name === undefined || name === '<<') continue;
    if (names.has(name)) throw createDuplicateMemberProblem([name]);
    names.add(name);
  }
}

/** JSON has no word for these, and would say null. */
function rejectNonFinite(_name: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) throw problem.forbidden_number();
  return value;
}
