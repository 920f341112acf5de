import {
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
  startCompletion,
} from '@codemirror/autocomplete';
import { syntaxTree } from '@codemirror/language';
import type { EditorState, Extension } from '@codemirror/state';
import { type EditorView, hoverTooltip } from '@codemirror/view';
import type { CodeMember, CodeOutline } from './code-types.ts';

type Node = ReturnType<typeof syntaxTree>['topNode'];
type ReadOutline = () => CodeOutline | undefined;

const namePattern = /^[\w$.-]*$/;
const valuePattern = /^"?[\w$./-]*"?$/;
/** Texts of new values, and how far the cursor is from their end. */
const newValues: Readonly<Record<string, readonly [text: string, fromEnd: number]>> = {
  object: ['{}', 1],
  array: ['[]', 1],
  string: ['""', 1],
};

/** Completion of JSON and documentation of its members by an outline, which may come after the editor. */
export const createMemberCompletion = (readOutline: ReadOutline): Extension => [
  autocompletion({ override: [context => complete(context, readOutline())], icons: false }),
  hoverTooltip((view, place) => describe(view.state, place, readOutline())),
];

function complete(context: CompletionContext, outline: CodeOutline | undefined): CompletionResult | null {
  if (!outline) return null;
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
  const options = outline
    .listMembers(readPath(state, object))
    .filter(({ name }) => !present.has(name))
    .map(toCompletion);
  return { from: node.from + 1, options, validFor: namePattern };
}

const toCompletion = (member: CodeMember): Completion => ({
  label: member.name,
  detail: member.type,
  ...(member.about ? { info: member.about } : {}),
  apply: (view, _completion, from, to) => insertMember(view, member, from, to),
});

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

function describe(state: EditorState, place: number, outline: CodeOutline | undefined) {
  const node = syntaxTree(state).resolveInner(place, 0);
  const object = node.parent?.parent;
  if (!outline || node.name !== 'PropertyName' || !object) return null;
  const name = readName(state, node);
  const found = outline.listMembers(readPath(state, object)).find(it => it.name === name);
  if (!found?.about) return null;
  const dom = document.createElement('p');
  dom.className = 'max-w-prose px-2 py-1';
  dom.textContent = found.about;
  return { pos: node.from, end: node.to, above: true, create: () => ({ dom }) };
}

/** Member names and positions in lists from the root to a node. */
function readPath(state: EditorState, node: Node): readonly (string | number)[] {
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
