import { useState } from 'react';
import { toPointer } from '../../../kit/json-pointer.ts';
import { LinesField } from '../../../kit/lines-field.tsx';
import { texts } from '../../../texts/texts.ts';
import { useDefinitionForm } from './form-context.ts';
import { type FieldPath, isEqualJson } from './json-members.ts';

const own = texts.designer;
const maxRows = 8;

interface LineListProps {
  readonly path: FieldPath;
  readonly label: string;
  readonly help?: string | undefined;
  readonly isNumeric: boolean;
}

const toTyped = (value: unknown) => ({ value, lines: Array.isArray(value) ? value.map(String) : [] });
const isNumber = (line: string) => Number.isFinite(Number(line));

/** List of texts or numbers, one in each line. Commas separate numbers only: a text may contain them. */
export function LineListField({ path, label, help, isNumeric }: LineListProps) {
  const form = useDefinitionForm();
  const value = form.read(path);
  const [typed, setTyped] = useState(() => toTyped(value));
  // Only a change from outside replaces what is typed.
  if (!isEqualJson(typed.value, value)) setTyped(toTyped(value));
  const change = (lines: readonly string[]) => {
    const isWrong = isNumeric && !lines.every(isNumber);
    form.setIncomplete(toPointer(path), isWrong);
    const items = lines.map(line => (isNumeric ? Number(line) : line));
    const next = isWrong ? typed.value : items.length === 0 ? undefined : items;
    setTyped({ value: next, lines: [...lines] });
    if (!isWrong) form.set(path, next);
  };
  return (
    <LinesField
      label={label}
      help={help ? `${help} ${own.onePerLine}` : own.onePerLine}
      error={isNumeric && !typed.lines.every(isNumber) ? own.notNumbers : form.findFault(path)}
      rows={Math.min(maxRows, Math.max(2, typed.lines.length + 1))}
      disabled={form.isReadOnly}
      separator={isNumeric ? 'comma' : 'line'}
      values={typed.lines}
      onChange={change}
    />
  );
}
