import { Lexer, parseDocument } from 'yaml';
import { type Json, parseJson, problem } from './json.ts';

/** Names that stand for parts told before; a short text could otherwise grow without end. */
const mostAliases = 100;
/** Words, brackets and line ends of one text: reading takes far more memory for each than it has bytes. */
const mostTokens = 300_000;

/**
 * Reads YAML as data, with the bounds of JSON. The library's own complaints repeat the text, which may hold a secret:
 * only the place is told.
 */
export function parseYaml(text: string, most?: number): Json {
  if (text.trim() === '') throw problem.empty();
  try {
    return parseJson(jsonOf(text), most);
  } catch (cause) {
    if (cause instanceof RangeError || cause instanceof TypeError) throw problem.too_deep({ cause });
    if (cause instanceof ReferenceError)
      throw problem.malformed({ detail: { reason: 'it repeats parts of itself too often' }, cause });
    throw cause;
  }
}

function jsonOf(text: string): string {
  let tokens = 0;
  for (const _token of new Lexer().lex(text))
    if (++tokens > mostTokens)
      throw problem.malformed({ detail: { reason: 'it is too long for YAML: send it as JSON' } });
  // Looking for repeated names takes the library the square of their number; the last one counts, as in JSON.
  const document = parseDocument(text, { prettyErrors: false, merge: true, uniqueKeys: false, logLevel: 'error' });
  const [fault] = document.errors;
  if (fault) throw problem.malformed({ detail: { reason: `it is not YAML at character ${fault.pos[0]}` } });
  return JSON.stringify(document.toJS({ maxAliasCount: mostAliases }), refuseEndless) ?? 'null';
}

/** JSON has no word for these, and would say null. */
function refuseEndless(_name: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) throw problem.forbidden_number();
  return value;
}
