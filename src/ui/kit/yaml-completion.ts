import { type CompletionContext, type CompletionResult, startCompletion } from '@codemirror/autocomplete';
import type { EditorState } from '@codemirror/state';
import type { EditorView } from '@codemirror/view';
import { isMap, isPair, isScalar, isSeq, type Node, type Pair, parseDocument, stringify, visit } from 'yaml';
import type { CodeMember, CodeOutline, CodePath, CodeSyntax, MemberName, OutlineSyntax } from './code-types.ts';
import { toMemberCompletions } from './outline-completion.ts';
import { yamlLanguage } from './yaml-language.ts';

/** Longer texts are parsed for the draft only: completion would wait for a second parse. */
const maxCompletedCharacters = 1_000_000;
/** Stands for what is typed while the text around it is parsed. */
const cursorMark = 'gwCursorMark';
const indentUnit = '  ';

/** A name at the beginning of a line or of an item of a list. */
const nameLine = /^(\s*(?:- +)*)([\w$.-]*)$/;
/** A value behind its name. */
const valueLine = /^(\s*(?:- +)*(?:"[^"]*"|'[^']*'|[^\s"'#:-][^:#]*):\s+)([\w$./-]*)$/;
const typedPattern = /^[\w$./-]*$/;

interface CursorPlace {
  readonly path: CodePath;
  /** Names of the object around a name; undefined at a value. */
  readonly names: ReadonlySet<string> | undefined;
}

/** Place of the mark by the parser, which also reads the incomplete texts of an editor. */
function findMark(text: string): CursorPlace | undefined {
  let found: CursorPlace | undefined;
  visit(parseDocument(text, { uniqueKeys: false }), {
    Scalar: (role, node, ancestors) => {
      if (node.value !== cursorMark) return undefined;
      found =
        role === 'key'
          ? { path: toPath(ancestors.slice(0, -1)), names: listNames(ancestors.at(-2)) }
          : { path: toPath(ancestors), names: undefined };
      return visit.BREAK;
    },
  });
  return found;
}

const readKey = ({ key }: Pair): string => String(isScalar(key) ? key.value : key);

const listNames = (object: unknown): ReadonlySet<string> => new Set(isMap(object) ? object.items.map(readKey) : []);

/** Lists of definitions have items of one kind. */
const toPath = (ancestors: readonly unknown[]): CodePath =>
  ancestors.flatMap<string | number>(it => (isPair(it) ? [readKey(it)] : isSeq(it) ? [0] : []));

function complete({ state, pos, explicit }: CompletionContext, outline: CodeOutline): CompletionResult | null {
  if (state.doc.length > maxCompletedCharacters) return null;
  const line = state.doc.lineAt(pos);
  const before = line.text.slice(0, pos - line.from);
  const [, lead, typed] = valueLine.exec(before) ?? nameLine.exec(before) ?? [];
  if (lead === undefined || typed === undefined || (typed === '' && !explicit)) return null;
  const rest = line.text.slice(before.length).replace(/^[\w$./-]*/, '');
  const withLine = (text: string) => state.sliceDoc(0, line.from) + text + state.sliceDoc(line.to);
  const from = pos - typed.length;
  if (nameLine.test(before)) {
    const end = rest.trimStart().startsWith(':') ? rest : ':';
    const place = findMark(withLine(`${lead}${cursorMark}${end}`));
    const members = place?.names ? outline.listMembers(place.path) : [];
    if (place?.names && members.length > 0)
      return { from, options: toMemberCompletions(members, place.names, insertMember), validFor: typedPattern };
  }
  const place = findMark(withLine(`${lead}${cursorMark}${rest}`));
  const values = place && !place.names ? outline.listValues(place.path) : [];
  const options = values.map(it => ({ label: stringify(JSON.parse(it)).trim(), type: 'constant' }));
  return options.length === 0 ? null : { from, options, validFor: typedPattern };
}

/** Replaces the name; a new member also gets the beginning of a value of its type. */
function insertMember(view: EditorView, { name, type }: CodeMember, from: number, to: number): void {
  const line = view.state.doc.lineAt(from);
  const [end = ''] = /^[\w$.-]*/.exec(view.state.sliceDoc(to, line.to)) ?? [];
  const isNamed = view.state
    .sliceDoc(to + end.length, line.to)
    .trimStart()
    .startsWith(':');
  const indent = `\n${' '.repeat(from - line.from)}${indentUnit}`;
  const value = type === 'object' ? indent : type === 'array' ? `${indent}- ` : ' ';
  const insert = isNamed ? name : `${name}:${value}`;
  view.dispatch({
    changes: { from, to: to + end.length, insert },
    selection: { anchor: from + insert.length },
    userEvent: 'input.complete',
  });
  if (!isNamed) startCompletion(view);
}

function findName(state: EditorState, place: number): MemberName | undefined {
  if (state.doc.length > maxCompletedCharacters) return undefined;
  let found: MemberName | undefined;
  visit(parseDocument(state.doc.toString(), { uniqueKeys: false }), {
    Pair: (_role, pair, ancestors) => {
      const [from = -1, to = -1] = (pair.key as Node | null)?.range ?? [];
      if (place < from || place > to) return undefined;
      found = { name: readKey(pair), from, to, path: toPath(ancestors) };
      return visit.BREAK;
    },
  });
  return found;
}

const outline: OutlineSyntax = { complete, findName };

export const yamlSyntax: CodeSyntax = { extension: yamlLanguage, outline };
