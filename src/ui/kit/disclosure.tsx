import { ChevronRight } from 'lucide-react';
import type { ReactNode } from 'react';
import { classNames } from './class-names.ts';

export interface DisclosureProps {
  /** Name and what is set, visible while it is closed. No links or buttons. */
  readonly summary: ReactNode;
  readonly children: ReactNode;
  readonly className?: string;
}

/** A part that opens under its summary line. */
export const Disclosure = ({ summary, children, className }: DisclosureProps) => (
  <details className={classNames('group', className)}>
    <summary className="flex flex-wrap items-center gap-2 rounded-control">
      <ChevronRight size={16} strokeWidth={1.5} aria-hidden className="shrink-0 text-dim group-open:rotate-90" />
      {summary}
    </summary>
    {children}
  </details>
);
