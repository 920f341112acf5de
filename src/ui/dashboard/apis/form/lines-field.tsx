import { useState } from 'react';
import { TextAreaField } from '../../../kit/field.tsx';
import { texts } from '../../../texts/texts.ts';
import { useDefinitionForm } from './form-context.ts';
import { type FieldPath, isEqualJson, toPointer } from './json-members.ts';

const own = texts.designer;

interface LinesFieldProps {
  readonly path: FieldPath;
  readonly label: string;
  readonly help?: string | undefined;
  readonly isNumeric: boolean;
}

const splitLines = (text: string) =>
  text
    .split(/[\n,]/)
    .map(line => line.trim())
    .filter(line => line !== '');
const toText = (value: unknown) => (Array.isArray(value) ? value.join('\n') : '');

/** List of texts or numbers, one in each line. Pasted lines and commas work. */
export function LineListField({ path, label, help, isNumeric }: LinesFieldProps) {
  const form = useDefinitionForm();
  const value = form.read(path);
  const [text, setText] = useState(toText(value));
  const parse = (typed: string) => splitLines(typed).map(line => (isNumeric ? Number(line) : line));
  const isInvalid = isNumeric && splitLines(text).some(line => !Number.isFinite(Number(line)));
  // Only a change from outside replaces what is typed.
  const [known, setKnown] = useState(value);
  if (!isEqualJson(known, value)) {
    setKnown(value);
    setText(toText(value));
  }
  const change = (typed: string) => {
    setText(typed);
    const items = parse(typed);
    const isWrong = items.some(it => typeof it === 'number' && !Number.isFinite(it));
    form.setIncomplete(toPointer(path), isWrong);
    if (isWrong) return;
    const next = items.length === 0 ? undefined : items;
    setKnown(next);
    form.set(path, next);
  };
  const note = help ? `${help} ${own.onePerLine}` : own.onePerLine;
  return (
    <TextAreaField
      label={label}
      help={note}
      error={isInvalid ? own.notNumbers : form.findFault(path)}
      rows={Math.min(8, Math.max(2, splitLines(text).length + 1))}
      className="font-mono"
      disabled={form.isReadOnly}
      value={text}
      onChange={event => change(event.target.value)}
    />
  );
}
