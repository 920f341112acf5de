import { type ReactNode, useEffect, useRef } from 'react';
import { StaleBanner } from './stale-banner.tsx';

export interface PageFrameProps {
  readonly title: string;
  /** State of the object, beside the title. */
  readonly status?: ReactNode;
  /** One primary action, and others before it. */
  readonly actions?: ReactNode;
  readonly about?: ReactNode;
  readonly children: ReactNode;
  /** Forms and text have a bounded width; tables and charts have none. */
  readonly width?: 'form' | 'full';
}

const product = 'Gatewright';

/** Head and content of a page. Focus moves to the heading when the page opens, so that screen readers name it. */
export function PageFrame({ title, status, actions, about, children, width = 'full' }: PageFrameProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  useEffect(() => {
    document.title = `${title} · ${product}`;
  }, [title]);
  return (
    <div className={width === 'form' ? 'w-full max-w-[1440px]' : 'w-full'}>
      <header className="mb-4 flex min-h-(--control) flex-wrap items-center gap-x-4 gap-y-2">
        <div className="mr-auto min-w-0">
          <div className="flex flex-wrap items-center gap-3">
            <h1 ref={heading} tabIndex={-1} className="min-w-0 text-title break-words outline-none">
              {title}
            </h1>
            {status}
          </div>
          {about && <div className="text-dim">{about}</div>}
        </div>
        {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </header>
      <StaleBanner />
      {children}
    </div>
  );
}
