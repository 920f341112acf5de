import { useEffect, useRef, useState } from 'react';

interface FilterTextProps {
  readonly label: string;
  readonly value: string;
  readonly inputMode?: 'numeric';
  onChange(value: string): void;
}

/** Pause after the last key before the filter applies. */
const typingPauseMs = 400;

/** Filter of a toolbar that is typed. */
export function FilterText({ label, value, inputMode, onChange }: FilterTextProps) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  // Another function with each render of the page must not begin the pause anew.
  const apply = useRef(onChange);
  useEffect(() => {
    apply.current = onChange;
  }, [onChange]);
  useEffect(() => {
    if (text === value) return;
    const timer = setTimeout(() => apply.current(text.trim()), typingPauseMs);
    return () => clearTimeout(timer);
  }, [text, value]);
  return (
    <input
      aria-label={label}
      placeholder={label}
      inputMode={inputMode}
      className="control w-40 border border-edge bg-surface px-2.5 text-ink"
      value={text}
      onChange={event => setText(event.target.value)}
    />
  );
}
