import { useState } from 'react';
import { TextAreaField } from './field.tsx';

/** Texts without surrounding space; empty ones are left out. */
export const splitLines = (text: string, separator: 'line' | 'comma' = 'comma'): string[] =>
  text
    .split(separator === 'line' ? '\n' : /[\n,]/)
    .map(line => line.trim())
    .filter(Boolean);

export interface LinesFieldProps {
  readonly label: string;
  readonly help?: string;
  readonly error?: string | undefined;
  readonly values: readonly string[];
  onChange(values: readonly string[]): void;
  readonly disabled?: boolean;
  readonly required?: boolean;
  readonly rows?: number;
  /** Lines only, where values contain commas. */
  readonly separator?: 'line' | 'comma';
}

/** List of short texts, one on each line; pasted lines and commas are separated. */
export function LinesField({ values, onChange, rows = 3, separator = 'comma', ...rest }: LinesFieldProps) {
  const [text, setText] = useState(values.join('\n'));
  // A value that differs from the typed text comes from outside: another object, or a discarded change.
  const isOwn = JSON.stringify(splitLines(text, separator)) === JSON.stringify(values);
  return (
    <TextAreaField
      {...rest}
      rows={rows}
      className="font-mono"
      value={isOwn ? text : values.join('\n')}
      onChange={event => {
        setText(event.target.value);
        onChange(splitLines(event.target.value, separator));
      }}
    />
  );
}
