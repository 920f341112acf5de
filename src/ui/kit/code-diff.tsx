import { json } from '@codemirror/lang-json';
import { MergeView, unifiedMergeView } from '@codemirror/merge';
import { EditorView } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import { createSetup } from './code-setup.ts';
import type { CodeDiffProps } from './code-types.ts';

/** From this width both texts have room side by side. */
const sideBySide = '(min-width: 1100px)';
const collapse = { margin: 3, minSize: 6 };

/** Differences behind `CodeDiff`: the older text on the left, or marked inside of the newer one. */
export default function CodeMirrorDiff({ label, before, after, language = 'json' }: CodeDiffProps) {
  const parent = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const setup = createSetup(label, true, language === 'json' ? json() : []);
    const view = matchMedia(sideBySide).matches
      ? new MergeView({
          a: { doc: before, extensions: setup },
          b: { doc: after, extensions: setup },
          parent: parent.current!,
          collapseUnchanged: collapse,
        })
      : new EditorView({
          doc: after,
          extensions: [
            setup,
            unifiedMergeView({ original: before, mergeControls: false, collapseUnchanged: collapse }),
          ],
          parent: parent.current!,
        });
    return () => view.destroy();
  }, [label, before, after, language]);
  return <div ref={parent} className="max-h-[60dvh] overflow-auto rounded-card border border-line" />;
}
