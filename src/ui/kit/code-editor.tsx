import { lazy, Suspense } from 'react';
import type { CodeDiffProps, CodeEditorProps } from './code-types.ts';
import { Skeleton } from './states.tsx';

const Editor = lazy(() => import('./code-mirror.tsx'));
const Diff = lazy(() => import('./code-diff.tsx'));

/** JSON editor, loaded with its first use. */
export const CodeEditor = (props: CodeEditorProps) => (
  <Suspense fallback={<Skeleton lines={8} />}>
    <Editor {...props} />
  </Suspense>
);

/** Two texts side by side on wide screens, else one below the other, with changed words marked. */
export const CodeDiff = (props: CodeDiffProps) => (
  <Suspense fallback={<Skeleton lines={8} />}>
    <Diff {...props} />
  </Suspense>
);
