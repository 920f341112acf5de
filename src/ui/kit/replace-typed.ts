import { EditorView } from '@codemirror/view';

/**
 * Text typed over a selection: Chromium keeps the look of the removed text in a style attribute, which the content
 * policy blocks and reports. The editor replaces the selection itself, by the same input handlers.
 */
export const replaceTyped = EditorView.domEventHandlers({
  beforeinput({ inputType, data }, view) {
    const { selection, readOnly } = view.state;
    const { from, to, empty } = selection.main;
    if (inputType !== 'insertText' || !data || empty || readOnly || view.composing) return false;
    const insert = () =>
      view.state.update(view.state.replaceSelection(data), { userEvent: 'input.type', scrollIntoView: true });
    const handlers = view.state.facet(EditorView.inputHandler);
    if (!handlers.some(handle => handle(view, from, to, data, insert))) view.dispatch(insert());
    return true;
  },
});
