import { useId } from 'react';
import { Button } from '../../../kit/button.tsx';
import type { ArgumentsOf } from '../../../kit/calls.ts';
import { Card } from '../../../kit/card.tsx';
import { SelectField, TextAreaField, TextField } from '../../../kit/field.tsx';
import { ErrorText } from '../../../kit/states.tsx';
import { useToasts } from '../../../kit/toast.tsx';
import { importApiTexts } from '../../../texts/en/import-api.ts';

const own = importApiTexts;
const maxFileBytes = 20 * 1024 * 1024;

type ConvertBody = ArgumentsOf<'POST /api/apis/convert'>['body'];

/** A description: the text, or in its place an address or an archive. */
export interface ImportSource {
  readonly format: NonNullable<ConvertBody['format']>;
  readonly text: string;
  readonly url: string;
  readonly archive: { readonly name: string; readonly content: string } | undefined;
}

export const emptySource: ImportSource = { format: 'auto', text: '', url: '', archive: undefined };

export function toConvertBody({ format, text, url, archive }: ImportSource): ConvertBody {
  if (archive) return { format, archive: archive.content };
  return url.trim() === '' ? { format, text } : { format, url: url.trim() };
}

const isEmptySource = ({ text, url, archive }: ImportSource) => !archive && text.trim() === '' && url.trim() === '';

/** Base64 of a file, without the start of the data URL (RFC 2397). */
const readBase64 = (file: File): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });

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
  if (character === undefined || text === '') return message;
  return own.atLine(message, text.slice(0, Number(character)).split('\n').length);
}

interface FileFieldProps {
  readonly archive: ImportSource['archive'];
  onChoose(file: File | undefined): void;
}

function FileField({ archive, onChoose }: FileFieldProps) {
  const file = useId();
  return (
    <div className="flex flex-col gap-1">
      <label htmlFor={file} className="font-medium">
        {own.file}
      </label>
      <input
        id={file}
        type="file"
        accept=".json,.yaml,.yml,.har,.txt,.zip"
        aria-describedby={`${file}-note`}
        onChange={event => onChoose(event.target.files?.[0])}
      />
      <span id={`${file}-note`} className="text-small text-dim">
        {own.fileHelp}
      </span>
      {archive && <span role="status">{own.archive(archive.name)}</span>}
    </div>
  );
}

/** Where the description comes from: a file, an address, or text of any of the formats. One replaces the other. */
export function SourceCard({ source, onChange, onCheck, isBusy, error }: SourceCardProps) {
  const toasts = useToasts();
  const readFile = async (chosen: File | undefined) => {
    if (!chosen) return;
    if (chosen.size > maxFileBytes) return toasts.showError(own.tooLarge(chosen.name));
    const given = { ...emptySource, format: source.format };
    if (!/\.zip$/i.test(chosen.name)) return onChange({ ...given, text: await chosen.text() });
    onChange({ ...given, archive: { name: chosen.name, content: await readBase64(chosen) } });
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
        <FileField archive={source.archive} onChoose={chosen => void readFile(chosen)} />
        <TextField
          label={own.url}
          type="url"
          isMono
          help={own.urlHelp}
          value={source.url}
          onChange={event => onChange({ ...emptySource, format: source.format, url: event.target.value })}
        />
        <TextAreaField
          label={own.text}
          className="font-mono"
          rows={10}
          spellCheck={false}
          help={own.textHelp}
          value={source.text}
          onChange={event => onChange({ ...emptySource, format: source.format, text: event.target.value })}
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
          <Button kind="primary" disabled={isEmptySource(source)} isBusy={isBusy} onClick={onCheck}>
            {own.check}
          </Button>
        </div>
        <ErrorText error={error && new Error(withLine(error.message, source.text))} />
      </section>
    </Card>
  );
}
