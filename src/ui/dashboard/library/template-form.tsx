import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { Button, buttonClass } from '../../kit/button.tsx';
import { Card } from '../../kit/card.tsx';
import { CodeEditor } from '../../kit/code-editor.tsx';
import { TextAreaField, TextField } from '../../kit/field.tsx';
import { ErrorText } from '../../kit/states.tsx';
import { texts } from '../../texts/texts.ts';
import { parseDocument } from './template-document.ts';

const own = texts.library;

export interface TemplateFields {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** JSON text. */
  readonly text: string;
}

export interface TemplateBody extends Omit<TemplateFields, 'text'> {
  readonly data: Record<string, unknown>;
}

export interface TemplateFormProps {
  readonly fields: TemplateFields;
  onChange(some: Partial<TemplateFields>): void;
  onSubmit(body: TemplateBody): void;
  readonly error: Error | null;
  readonly isBusy: boolean;
  readonly isNew: boolean;
  readonly canWrite: boolean;
}

/** Name, description and document of a template. */
export function TemplateForm({ fields, onChange, onSubmit, error, isBusy, isNew, canWrite }: TemplateFormProps) {
  const [fault, setFault] = useState<{ name?: string; text?: string }>({});
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const parsed = parseDocument(fields.text);
    const name = fields.name.trim();
    setFault({
      ...(name === '' ? { name: own.nameMissing } : {}),
      ...('error' in parsed ? { text: own.notJson(parsed.error) } : {}),
    });
    if (name === '' || 'error' in parsed) return;
    onSubmit({ id: fields.id.trim(), name, description: fields.description, data: parsed.value });
  };
  return (
    <form onSubmit={submit} noValidate className="flex max-w-[960px] flex-col gap-4">
      {!canWrite && <p className="text-dim">{own.readOnly}</p>}
      <ErrorText error={error} />
      <TemplateFacts fields={fields} fault={fault.name} isNew={isNew} canWrite={canWrite} onChange={onChange} />
      <CodeEditor
        label={own.data(fields.name)}
        value={fields.text}
        isReadOnly={!canWrite}
        onChange={text => onChange({ text })}
      />
      <ErrorText error={fault.text === undefined ? null : new Error(fault.text)} />
      <p className="text-small text-dim">{own.applied}</p>
      {canWrite && (
        <div className="flex justify-end gap-2">
          <Link to="/templates" className={buttonClass()}>
            {texts.kit.cancel}
          </Link>
          <Button kind="primary" type="submit" isBusy={isBusy}>
            {isNew ? own.create : own.save}
          </Button>
        </div>
      )}
    </form>
  );
}

interface TemplateFactsProps extends Pick<TemplateFormProps, 'fields' | 'onChange' | 'isNew' | 'canWrite'> {
  readonly fault: string | undefined;
}

const TemplateFacts = ({ fields, fault, isNew, canWrite, onChange }: TemplateFactsProps) => (
  <Card>
    <div className="flex flex-col gap-4">
      <TextField
        label={own.name}
        required
        maxLength={500}
        disabled={!canWrite}
        error={fault}
        value={fields.name}
        onChange={event => onChange({ name: event.target.value })}
      />
      {isNew && (
        <TextField
          label={own.id}
          isMono
          maxLength={64}
          help={own.idHelp}
          value={fields.id}
          onChange={event => onChange({ id: event.target.value })}
        />
      )}
      <TextAreaField
        label={own.about}
        maxLength={5000}
        rows={2}
        disabled={!canWrite}
        value={fields.description}
        onChange={event => onChange({ description: event.target.value })}
      />
    </div>
  </Card>
);
