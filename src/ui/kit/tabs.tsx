import { Link } from '@tanstack/react-router';
import { CircleAlert } from 'lucide-react';

export interface TabItem {
  /** Value of `tab` in the address; the first tab is the address without it. */
  readonly id: string;
  readonly label: string;
  /** Faults of the fields on this tab. */
  readonly faults?: number;
}

export interface TabsProps {
  /** Accessible name. */
  readonly label: string;
  readonly items: readonly TabItem[];
  readonly current: string;
}

const tab = '-mb-px inline-flex items-center gap-1.5 border-b-2 px-1 py-2 whitespace-nowrap hover:text-ink';

/** Tabs of a page in its address: a link leads to each, and the form below stays mounted. */
export const Tabs = ({ label, items, current }: TabsProps) => (
  <nav aria-label={label} className="mb-4 flex gap-4 overflow-x-auto overflow-y-hidden border-b border-line">
    {items.map(({ id, label: title, faults = 0 }, place) => (
      <Link
        key={id}
        to="."
        replace
        search={before => ({ ...before, p: undefined, tab: place === 0 ? undefined : id })}
        aria-current={id === current ? 'page' : undefined}
        className={`${tab} ${id === current ? 'border-accent text-ink' : 'border-transparent text-dim'}`}
      >
        {title}
        {faults > 0 && (
          <span className="inline-flex items-center gap-0.5 text-small text-danger">
            <CircleAlert size={12} aria-hidden />
            {faults}
          </span>
        )}
      </Link>
    ))}
  </nav>
);
