import { autocompletion, type Completion, type CompletionContext } from '@codemirror/autocomplete';
import type { EditorState, Extension } from '@codemirror/state';
import { type EditorView, hoverTooltip } from '@codemirror/view';
import type { CodeMember, CodeOutline, OutlineSyntax } from './code-types.ts';

/** Completion of a text and documentation of its members by an outline, which may come after the editor. */
export const createOutlineCompletion = (
  { complete, findName }: OutlineSyntax,
  readOutline: () => CodeOutline | undefined,
): Extension => {
  const completeHere = (context: CompletionContext) => {
    const outline = readOutline();
    return outline ? complete(context, outline) : null;
  };
  const describe = (state: EditorState, place: number) => {
    const outline = readOutline();
    const at = outline && findName(state, place);
    const about = at && outline.listMembers(at.path).find(it => it.name === at.name)?.about;
    return about ? { pos: at.from, end: at.to, above: true, create: () => ({ dom: createTooltip(about) }) } : null;
  };
  return [
    autocompletion({ override: [completeHere], icons: false }),
    hoverTooltip((view, place) => describe(view.state, place)),
  ];
};

/** Completions of the members that an object does not have yet. */
export const toMemberCompletions = (
  members: readonly CodeMember[],
  present: ReadonlySet<string>,
  insert: (view: EditorView, member: CodeMember, from: number, to: number) => void,
): Completion[] =>
  members
    .filter(({ name }) => !present.has(name))
    .map(member => ({
      label: member.name,
      detail: member.type,
      ...(member.about ? { info: member.about } : {}),
      apply: (view, _completion, from, to) => insert(view, member, from, to),
    }));

function createTooltip(about: string): HTMLElement {
  const dom = document.createElement('p');
  dom.className = 'max-w-prose px-2 py-1';
  dom.textContent = about;
  return dom;
}
