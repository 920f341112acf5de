import { CircleAlert, Lock, type LucideIcon, RefreshCw } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import { sharedTexts } from '../texts/shared-texts.ts';
import { Button } from './button.tsx';
import { CallError } from './calls.ts';

/** Shorter waits show nothing. */
const skeletonDelayMs = 150;

/** Bars in place of text that is loading. */
export function Skeleton({ lines = 6 }: { lines?: number }) {
  const [isVisible, setVisible] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setVisible(true), skeletonDelayMs);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div role="status" className="flex flex-col gap-3 py-4">
      <span className="sr-only">{sharedTexts.kit.loading}</span>
      {isVisible &&
        widths.slice(0, lines).map(width => <div key={width} className={`h-4 rounded-control bg-hover ${width}`} />)}
    </div>
  );
}

const widths = ['w-11/12', 'w-4/5', 'w-5/6', 'w-2/3', 'w-3/4', 'w-1/2', 'w-3/5', 'w-2/5'];

interface NoticeProps {
  readonly icon: LucideIcon;
  readonly title: string;
  readonly children?: ReactNode;
  readonly action?: ReactNode;
}

/** One sentence, one explanation, one thing to do. */
export function Notice({ icon: Icon, title, children, action }: NoticeProps) {
  return (
    <div className="flex flex-col items-center gap-3 px-4 py-12 text-center">
      <Icon size={32} strokeWidth={1.25} className="text-dim" aria-hidden />
      <h2 className="text-large">{title}</h2>
      {children && <div className="max-w-prose text-dim">{children}</div>}
      {action}
    </div>
  );
}

export const ForbiddenState = ({ permission }: { permission: string }) => (
  <Notice icon={Lock} title={sharedTexts.kit.forbidden(permission)}>
    {sharedTexts.kit.forbiddenHelp}
  </Notice>
);

interface QueryView {
  readonly error: Error | null;
  readonly isPending: boolean;
  refetch(): unknown;
}

/** Loading and failure of a read, the same on every page. */
export function QueryState({ query: { error, refetch }, lines = 6 }: { query: QueryView; lines?: number }) {
  if (!error) return <Skeleton lines={lines} />;
  const isOffline = error instanceof CallError && error.status === 0;
  return (
    <div role="alert">
      <Notice
        icon={CircleAlert}
        title={isOffline ? sharedTexts.kit.unreachable : sharedTexts.kit.failed}
        action={
          <Button icon={RefreshCw} onClick={() => void refetch()}>
            {sharedTexts.kit.retry}
          </Button>
        }
      >
        {isOffline ? sharedTexts.kit.unreachableHelp : error.message}
      </Notice>
    </div>
  );
}

/** Message of the server in place: what happened, and where. */
export const ErrorText = ({ error }: { error: Error | null | undefined }) =>
  error ? (
    <p role="alert" className="rounded-control border border-danger-line bg-danger-soft px-3 py-2 text-danger">
      {error.message}
    </p>
  ) : null;
