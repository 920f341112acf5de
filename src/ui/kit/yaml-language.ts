import { foldService, StreamLanguage, type StreamParser } from '@codemirror/language';
import type { EditorState, Extension } from '@codemirror/state';

interface LineState {
  /** Indentation of the line that opens a block scalar (`|`, `>`); -1 outside. */
  blockIndent: number;
}

const name = /^(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s#:{}[\],"'&*!|>%@`][^#:]*?)(?=\s*:(?:\s|$))/;
/** Scalars with the name of their tag, tried in this order; the last one is any plain scalar. */
const scalars: readonly (readonly [pattern: RegExp, tag: string])[] = [
  [/^(?:"(?:[^"\\]|\\.)*"?|'(?:[^']|'')*'?)/, 'string'],
  [/^(?:true|false)(?=\s*(?:$|[,\]}]|\s#))/, 'bool'],
  [/^(?:null|~)(?=\s*(?:$|[,\]}]|\s#))/, 'null'],
  [/^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?=\s*(?:$|[,\]}]|\s#))/i, 'number'],
  [/^[^\s,[\]{}](?:[^#,[\]{}]|\S#)*/, 'string'],
];

/** Highlighting of YAML 1.2 line by line: as much of its grammar as colours need. */
const parser: StreamParser<LineState> = {
  name: 'yaml',
  startState: () => ({ blockIndent: -1 }),
  token(stream, state) {
    if (stream.sol() && state.blockIndent >= 0) {
      if (stream.indentation() > state.blockIndent) {
        stream.skipToEnd();
        return 'string';
      }
      state.blockIndent = -1;
    }
    if (stream.eatSpace()) return null;
    if (stream.match(/^#.*/)) return 'comment';
    if (stream.match(/^-(?=\s|$)/) || stream.match(/^[,[\]{}:]/)) return 'punctuation';
    if (stream.match(name)) return 'propertyName';
    if (stream.match(/^[|>][-+\d]*(?=\s*(?:$|#))/)) {
      state.blockIndent = stream.indentation();
      return 'punctuation';
    }
    const found = scalars.find(([pattern]) => stream.match(pattern));
    if (!found) stream.next();
    return found?.[1] ?? null;
  },
  languageData: { commentTokens: { line: '#' } },
};

const indentOf = (text: string): number => text.search(/\S/);

/** Folds the lines below one that are indented further. */
function foldIndented(state: EditorState, from: number): { from: number; to: number } | null {
  const first = state.doc.lineAt(from);
  const indent = indentOf(first.text);
  let last = first;
  for (let number = first.number + 1; indent >= 0 && number <= state.doc.lines; number++) {
    const line = state.doc.line(number);
    const own = indentOf(line.text);
    if (own >= 0 && own <= indent) break;
    if (own >= 0) last = line;
  }
  return last.number === first.number ? null : { from: first.to, to: last.to };
}

export const yamlLanguage: Extension = [StreamLanguage.define(parser), foldService.of(foldIndented)];
