import { Plus, Trash2 } from 'lucide-react';
import { Fragment, type ReactNode } from 'react';
import { Button, IconButton } from '../../../kit/button.tsx';
import { texts } from '../../../texts/texts.ts';
import { DefinitionFormContext, useDefinitionForm } from './form-context.ts';
import { type FormSchema, findFieldKind, listFormFields } from './form-schema.ts';
import type { FieldPath } from './json-members.ts';

const own = texts.designer;

interface RowsFieldProps {
  readonly path: FieldPath;
  readonly label: string;
  readonly help?: string | undefined;
  /** Schema of one item. */
  readonly schema: FormSchema;
  renderField(path: FieldPath, schema: FormSchema): ReactNode;
}

const maxInlineFields = 3;
const simple = new Set(['text', 'number', 'choice']);

/** List of objects: one row of fields, or one card, for each. */
export function RowsField({ path, label, help, schema, renderField }: RowsFieldProps) {
  const form = useDefinitionForm();
  const value = form.read(path);
  const items = Array.isArray(value) ? value : [];
  const fields = listFormFields(schema);
  const isInline = fields.length <= maxInlineFields && fields.every(([, it]) => simple.has(findFieldKind(it)));
  const first = fields.some(([name]) => name === 'enabled') ? { enabled: true } : {};
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="font-medium">{label}</legend>
      {help && <p className="text-small text-dim">{help}</p>}
      {items.map((_item, index) => (
        <fieldset
          // Items have no identity but their place.
          key={String(index)}
          className={
            isInline
              ? 'flex flex-wrap items-end gap-2 [&>div]:min-w-32 [&>div]:grow'
              : 'flex flex-col gap-3 rounded-card border border-line p-3'
          }
        >
          <legend className="sr-only">{own.itemOf(label, index + 1)}</legend>
          <DefinitionFormContext value={{ ...form, filter: '' }}>
            {fields.map(([name, it]) => (
              <Fragment key={name}>{renderField([...path, index, name], it)}</Fragment>
            ))}
          </DefinitionFormContext>
          {!form.isReadOnly && (
            <IconButton
              icon={Trash2}
              label={own.removeItem(label, index + 1)}
              onClick={() => form.set(path, items.length === 1 ? undefined : items.toSpliced(index, 1))}
            />
          )}
        </fieldset>
      ))}
      {!form.isReadOnly && (
        <div>
          <Button icon={Plus} onClick={() => form.set(path, [...items, first])}>
            {own.addItem(label)}
          </Button>
        </div>
      )}
    </fieldset>
  );
}
