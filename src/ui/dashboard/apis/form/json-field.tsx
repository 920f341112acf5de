import { useState } from 'react';
import { CodeEditor } from '../../../kit/code-editor.tsx';
import { toPointer } from '../../../kit/json-pointer.ts';
import { texts } from '../../../texts/texts.ts';
import { useDefinitionForm } from './form-context.ts';
import { type FieldPath, isEqualJson } from './json-members.ts';

const own = texts.designer;

interface JsonFieldProps {
  readonly path: FieldPath;
  readonly label: string;
  readonly help?: string | undefined;
}

type ParsedText = { readonly value: unknown } | { readonly fault: string };

/** An empty text is no value. */
function parseText(text: string): ParsedText {
  if (text.trim() === '') return { value: undefined };
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { fault: texts.apis.notJson((error as Error).message) };
  }
}
const toText = (value: unknown) => (value === undefined ? '' : JSON.stringify(value, null, 2));

/** Part of a definition without a form of its own, as JSON. */
export function JsonMemberField({ path, label, help }: JsonFieldProps) {
  const form = useDefinitionForm();
  const value = form.read(path);
  const [text, setText] = useState(toText(value));
  const parsed = parseText(text);
  const fault = 'fault' in parsed ? parsed.fault : form.findFault(path);
  // Only a change from outside replaces what is typed.
  const [known, setKnown] = useState(value);
  if (!isEqualJson(known, value)) {
    setKnown(value);
    setText(toText(value));
  }
  const change = (typed: string) => {
    setText(typed);
    const next = parseText(typed);
    form.setIncomplete(toPointer(path), 'fault' in next);
    if (!('value' in next) || isEqualJson(next.value, value)) return;
    setKnown(next.value);
    form.set(path, next.value);
  };
  return (
    <details className="rounded-control border border-line" open={fault !== undefined ? true : undefined}>
      <summary className="px-3 py-2">
        <span className="font-medium">{label}</span>{' '}
        <span className="text-small text-dim">{value === undefined ? own.notSet : own.asJson}</span>
      </summary>
      <div className="flex flex-col gap-2 p-3 pt-0">
        {help && <p className="text-small text-dim">{help}</p>}
        <CodeEditor label={label} value={text} isReadOnly={form.isReadOnly} onChange={change} />
        {fault && (
          <p role="alert" className="text-small text-danger">
            {fault}
          </p>
        )}
      </div>
    </details>
  );
}
