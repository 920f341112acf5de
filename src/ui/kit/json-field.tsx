import { useState } from 'react';
import { sharedTexts } from '../texts/shared-texts.ts';
import { TextAreaField } from './field.tsx';

export interface JsonFieldProps {
  readonly label: string;
  readonly help?: string;
  readonly value: unknown;
  /** Called with each text that is JSON. */
  onChange(value: unknown): void;
  /** Called with the fault of a text that is no JSON: a form with one is not sent. */
  onFault?(fault: string | undefined): void;
  readonly disabled?: boolean;
  readonly rows?: number;
}

const format = (value: unknown) => JSON.stringify(value, null, 2) ?? '';

/** Small JSON value as text; a text that is no JSON stays with its fault, and changes nothing. */
export function JsonField({ value, onChange, onFault, rows = 5, ...rest }: JsonFieldProps) {
  const [text, setText] = useState(() => format(value));
  const [fault, setFault] = useState<string>();
  const isOwn = fault !== undefined || isSameJson(text, value);
  const edit = (next: string) => {
    setText(next);
    try {
      onChange(JSON.parse(next));
      setFault(undefined);
      onFault?.(undefined);
    } catch (error) {
      const reason = sharedTexts.kit.notJson(error instanceof Error ? error.message : String(error));
      setFault(reason);
      onFault?.(reason);
    }
  };
  return (
    <TextAreaField
      {...rest}
      rows={rows}
      spellCheck={false}
      className="font-mono"
      error={fault}
      value={isOwn ? text : format(value)}
      onChange={event => edit(event.target.value)}
    />
  );
}

function isSameJson(text: string, value: unknown): boolean {
  try {
    return JSON.stringify(JSON.parse(text)) === JSON.stringify(value);
  } catch {
    return false;
  }
}
