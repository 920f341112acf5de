import { closeBrackets, closeBracketsKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import {
  bracketMatching,
  foldGutter,
  foldKeymap,
  HighlightStyle,
  indentOnInput,
  syntaxHighlighting,
} from '@codemirror/language';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { EditorState, type Extension } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { pageNonce } from './nonce.ts';
import { replaceTyped } from './replace-typed.ts';

const highlight = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--accent-ink)' },
  { tag: tags.string, color: 'var(--success)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--violet)' },
  { tag: [tags.punctuation, tags.comment], color: 'var(--dim)' },
]);

const theme = EditorView.theme({
  '&': { color: 'var(--ink)', backgroundColor: 'var(--surface)', fontSize: '13px' },
  '&.cm-focused': { outline: '2px solid var(--ring)', outlineOffset: '2px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.5' },
  '.cm-gutters': { color: 'var(--dim)', backgroundColor: 'var(--page)', borderRight: '1px solid var(--line)' },
  '.cm-activeLine': { backgroundColor: 'color-mix(in oklch, var(--hover) 60%, transparent)' },
  '.cm-selectionBackground, &.cm-focused .cm-selectionBackground': { backgroundColor: 'var(--accent-soft) !important' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-matchingBracket': { backgroundColor: 'var(--accent-soft)', outline: '1px solid var(--line)' },
  '.cm-panels, .cm-tooltip': { color: 'var(--ink)', backgroundColor: 'var(--raised)', borderColor: 'var(--line)' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    color: 'var(--ink)',
    backgroundColor: 'var(--accent-soft)',
  },
  '.cm-completionDetail': { color: 'var(--dim)', fontStyle: 'normal' },
  '.cm-panel input, .cm-panel button': {
    color: 'var(--ink)',
    backgroundColor: 'var(--surface)',
    backgroundImage: 'none',
    border: '1px solid var(--edge)',
    borderRadius: '4px',
  },
  '.cm-changedLine': { backgroundColor: 'var(--success-soft) !important' },
  '.cm-merge-a .cm-changedLine, .cm-deletedChunk': { backgroundColor: 'var(--danger-soft) !important' },
  '.cm-changedText': { background: 'color-mix(in oklch, var(--success-line) 45%, var(--success-soft)) !important' },
  '.cm-merge-a .cm-changedText, .cm-deletedChunk .cm-deletedText': {
    background: 'color-mix(in oklch, var(--danger-line) 45%, var(--danger-soft)) !important',
  },
});

/** Extensions of every editor. Tab stays with the browser, so that the keyboard leaves the editor. */
export const createSetup = (label: string, isReadOnly: boolean, language: Extension = []): Extension[] => [
  EditorView.cspNonce.of(pageNonce()),
  EditorView.contentAttributes.of({ 'aria-label': label }),
  EditorView.lineWrapping,
  lineNumbers(),
  foldGutter(),
  drawSelection(),
  language,
  syntaxHighlighting(highlight),
  bracketMatching(),
  theme,
  isReadOnly
    ? [EditorState.readOnly.of(true), EditorView.contentAttributes.of({ 'aria-readonly': 'true' })]
    : [replaceTyped, history(), indentOnInput(), closeBrackets(), highlightActiveLine(), highlightSelectionMatches()],
  keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, ...searchKeymap, ...foldKeymap]),
];
