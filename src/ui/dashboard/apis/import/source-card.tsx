import { useId } from 'react';
import { Button } from '../../../kit/button.tsx';
import type { ArgumentsOf } from '../../../kit/calls.ts';
import { Card } from '../../../kit/card.tsx';
import { SelectField, TextAreaField } from '../../../kit/field.tsx';
import { ErrorText } from '../../../kit/states.tsx';
import { useToasts } from '../../../kit/toast.tsx';
import { texts } from '../../../texts/texts.ts';

const own = texts.importApi;
const maxFileBytes = 20 * 1024 * 1024;

export type ImportSource = Required<ArgumentsOf<'POST /api/apis/convert'>['body']>;

interface SourceCardProps {
  readonly source: ImportSource;
  onChange(source: ImportSource): void;
  onCheck(): void;
  readonly isBusy: boolean;
  readonly error: Error | null;
}

/** Message of the server with the line of the character that it names. */
function withLine(message: string, text: string): string {
  const character = /at character (\d+)/.exec(message)?.[1];
  if (character === undefined) return message;
  return own.atLine(message, text.slice(0, Number(character)).split('\n').length);
}

/** Where the description comes from: a file, or text of any of the formats. */
export function SourceCard({ source, onChange, onCheck, isBusy, error }: SourceCardProps) {
  const file = useId();
  const toasts = useToasts();
  const readFile = async (chosen: File | undefined) => {
    if (!chosen) return;
    if (chosen.size > maxFileBytes) return toasts.showError(own.tooLarge(chosen.name));
    onChange({ ...source, text: await chosen.text() });
  };
  return (
    <Card title={own.source}>
      {/* The field of the file does the same without a pointer. */}
      <section
        aria-label={own.source}
        className="flex flex-col gap-4"
        onDragOver={event => event.preventDefault()}
        onDrop={event => {
          event.preventDefault();
          void readFile(event.dataTransfer.files[0]);
        }}
      >
        <div className="flex flex-col gap-1">
          <label htmlFor={file} className="font-medium">
            {own.file}
          </label>
          <input
            id={file}
            type="file"
            accept=".json,.yaml,.yml,.har,.txt"
            onChange={event => void readFile(event.target.files?.[0])}
          />
        </div>
        <TextAreaField
          label={own.text}
          className="font-mono"
          rows={10}
          spellCheck={false}
          help={own.textHelp}
          value={source.text}
          onChange={event => onChange({ ...source, text: event.target.value })}
        />
        <div className="flex flex-wrap items-end gap-3">
          <div className="w-60">
            <SelectField
              label={own.format}
              value={source.format}
              onChange={event => onChange({ ...source, format: event.target.value as ImportSource['format'] })}
              options={Object.entries(own.formats).map(([value, label]) => ({ value, label }))}
            />
          </div>
          <Button kind="primary" disabled={source.text.trim() === ''} isBusy={isBusy} onClick={onCheck}>
            {own.check}
          </Button>
        </div>
        <ErrorText error={error && new Error(withLine(error.message, source.text))} />
      </section>
    </Card>
  );
}
