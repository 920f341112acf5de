import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint';
import { EditorView } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import { sharedTexts } from '../texts/shared-texts.ts';
import { createSetup } from './code-setup.ts';
import type { CodeEditorProps, CodeMark } from './code-types.ts';
import { jsonSyntax } from './json-completion.ts';
import { findPointerRange } from './json-pointer-range.ts';
import { createOutlineCompletion } from './outline-completion.ts';

/** CodeMirror behind `CodeEditor`: one view for the life of the component; text and marks are set from outside. */
export default function CodeMirrorEditor({
  label,
  value,
  onChange,
  isReadOnly = false,
  marks = [],
  outline,
  language = 'json',
  findRange = findPointerRange,
  syntax = language === 'json' ? jsonSyntax : undefined,
}: CodeEditorProps) {
  const parent = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const change = useRef(onChange);
  change.current = onChange;
  const offered = useRef(outline);
  offered.current = outline;
  const text = useRef(value);
  text.current = value;
  useEffect(() => {
    const listener = EditorView.updateListener.of(update => {
      if (update.docChanged) change.current?.(update.state.doc.toString());
    });
    const setup = createSetup(`${label}. ${sharedTexts.kit.editorHelp}`, isReadOnly, syntax?.extension);
    const completion = syntax ? createOutlineCompletion(syntax.outline, () => offered.current) : [];
    const extensions = [setup, completion, lintGutter(), listener];
    // Another label or mode creates another view, with the text of the one before.
    view.current = new EditorView({ doc: text.current, extensions, parent: parent.current! });
    return () => view.current?.destroy();
  }, [label, isReadOnly, syntax]);
  useEffect(() => {
    const current = view.current?.state.doc.toString();
    if (current !== undefined && current !== value)
      view.current?.dispatch({ changes: { from: 0, to: current.length, insert: value } });
  }, [value]);
  useEffect(() => {
    if (view.current) view.current.dispatch(setDiagnostics(view.current.state, toDiagnostics(value, marks, findRange)));
  }, [marks, value, findRange]);
  return (
    <div ref={parent} className="max-h-[70dvh] overflow-auto rounded-card border border-edge [&_.cm-editor]:min-h-60" />
  );
}

const toDiagnostics = (
  text: string,
  marks: readonly CodeMark[],
  findRange: NonNullable<CodeEditorProps['findRange']>,
): Diagnostic[] =>
  marks.map(({ pointer, message, level }) => ({ ...findRange(text, pointer), message, severity: level }));
