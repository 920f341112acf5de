import { type CompletionContext, type CompletionResult, startCompletion } from '@codemirror/autocomplete';
import { json } from '@codemirror/lang-json';
import { syntaxTree } from '@codemirror/language';
import type { EditorState } from '@codemirror/state';
import type { EditorView } from '@codemirror/view';
import type { CodeMember, CodeOutline, CodePath, CodeSyntax, MemberName, OutlineSyntax } from './code-types.ts';
import { toMemberCompletions } from './outline-completion.ts';

type Node = ReturnType<typeof syntaxTree>['topNode'];

const namePattern = /^[\w$.-]*$/;
const valuePattern = /^"?[\w$./-]*"?$/;
/** Texts of new values, and how far the cursor is from their end. */
const newValues: Readonly<Record<string, readonly [text: string, fromEnd: number]>> = {
  object: ['{}', 1],
  array: ['[]', 1],
  string: ['""', 1],
};

function complete(context: CompletionContext, outline: CodeOutline): CompletionResult | null {
  const node = syntaxTree(context.state).resolveInner(context.pos, -1);
  if (node.name === 'PropertyName') return completeName(context.state, node, outline);
  const property = node.name === 'Property' ? node : node.parent;
  if (property?.name !== 'Property' || (node.name === 'Property' && !context.explicit)) return null;
  const options = outline.listValues(readPath(context.state, property)).map(label => ({ label, type: 'constant' }));
  return { from: node.name === 'Property' ? context.pos : node.from, options, validFor: valuePattern };
}

/** Members that the object does not have yet; the name at the cursor stays among them. */
function completeName(state: EditorState, node: Node, outline: CodeOutline): CompletionResult | null {
  const object = node.parent?.parent;
  if (!object) return null;
  const present = new Set(
    object
      .getChildren('Property')
      .map(property => property.getChild('PropertyName'))
      .filter(name => name !== null && name.from !== node.from)
      .map(name => readName(state, name!)),
  );
  const options = toMemberCompletions(outline.listMembers(readPath(state, object)), present, insertMember);
  return { from: node.from + 1, options, validFor: namePattern };
}

/** Replaces the name; a new member also gets a value of its type, and a comma where another member follows. */
function insertMember(view: EditorView, { name, type }: CodeMember, from: number, to: number): void {
  const rest = view.state.sliceDoc(to, view.state.doc.lineAt(to).to);
  const [end = ''] = /^[\w$.-]*"?/.exec(rest) ?? [];
  const after = view.state.sliceDoc(to + end.length).trimStart();
  const [value, fromEnd] = newValues[type] ?? ['', 0];
  const insert = after.startsWith(':') ? `${name}"` : `${name}": ${value}${after.startsWith('"') ? ',' : ''}`;
  const place = after.startsWith(':') ? name.length + 1 : name.length + 3 + value.length - fromEnd;
  view.dispatch({
    changes: { from, to: to + end.length, insert },
    selection: { anchor: from + place },
    userEvent: 'input.complete',
  });
  if (value === '' && !after.startsWith(':')) startCompletion(view);
}

function findName(state: EditorState, place: number): MemberName | undefined {
  const node = syntaxTree(state).resolveInner(place, 0);
  const object = node.parent?.parent;
  if (node.name !== 'PropertyName' || !object) return undefined;
  return { name: readName(state, node), from: node.from, to: node.to, path: readPath(state, object) };
}

/** Member names and positions in lists from the root to a node. */
function readPath(state: EditorState, node: Node): CodePath {
  const path: (string | number)[] = [];
  for (let at: Node | null = node; at; at = at.parent) {
    const name = at.name === 'Property' ? at.getChild('PropertyName') : null;
    if (name) path.unshift(readName(state, name));
    // Lists of definitions have items of one kind.
    else if (at.parent?.name === 'Array') path.unshift(0);
  }
  return path;
}

/** An incomplete name has no closing quote. */
const readName = (state: EditorState, { from, to }: Node): string => state.sliceDoc(from, to).replaceAll('"', '');

const outline: OutlineSyntax = { complete, findName };

export const jsonSyntax: CodeSyntax = { extension: json(), outline };
