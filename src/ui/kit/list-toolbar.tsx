import { type ReactNode, useEffect, useState } from 'react';

export interface ListToolbarProps {
  /** Accessible name of the search. */
  readonly label: string;
  readonly placeholder: string;
  readonly value: string;
  onSearch(text: string): void;
  /** Filters. */
  readonly children?: ReactNode;
}

/** Pause after the last key before the list is asked. */
const typingPauseMs = 250;

/** Search and filters of a list, in one line. */
export function ListToolbar({ label, placeholder, value, onSearch, children }: ListToolbarProps) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text === value) return;
    const timer = setTimeout(() => onSearch(text), typingPauseMs);
    return () => clearTimeout(timer);
  }, [text, value, onSearch]);
  return (
    <search className="flex flex-wrap items-center gap-2">
      <input
        type="search"
        data-page-search
        aria-label={label}
        placeholder={placeholder}
        className="control w-full max-w-72 border max-[480px]:max-w-none border-edge bg-surface px-2.5"
        value={text}
        onChange={event => setText(event.target.value)}
      />
      {children}
    </search>
  );
}
