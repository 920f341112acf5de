import { useId } from 'react';
import { SelectField, Switch, TextField } from '../../../kit/field.tsx';
import { texts } from '../../../texts/texts.ts';
import { DefinitionFormContext, useDefinitionForm } from './form-context.ts';
import {
  countValues,
  type FormSchema,
  findFieldKind,
  listFormFields,
  toFieldLabel,
  unwrapSchema,
} from './form-schema.ts';
import { JsonMemberField } from './json-field.tsx';
import type { FieldPath } from './json-members.ts';
import { LineListField } from './lines-field.tsx';
import { RowsField } from './rows-field.tsx';

const own = texts.designer;
const secretName = /(password|secret)$/i;
const monoName = /(url|path|name|pattern|regex|rewriteTo|period|per|timeout|value|duration|id)$/i;

export interface SchemaFieldProps {
  readonly path: FieldPath;
  readonly schema: FormSchema;
  readonly label?: string | undefined;
}

const labelOf = (path: FieldPath) =>
  own.labels[
    path
      .filter(it => typeof it === 'string')
      .slice(1)
      .join('.')
  ];

/** The switch of an entry says by itself what this help says. */
const toHelp = (text: string | undefined) => (text === 'Enables the entry.' ? undefined : text);

const renderField = (path: FieldPath, schema: FormSchema) => <DefinitionField path={path} schema={schema} />;

function matchesItself(path: FieldPath, schema: FormSchema, filter: string): boolean {
  const name = String(path.at(-1));
  const label = labelOf(path) ?? toFieldLabel(name);
  const { description = '' } = unwrapSchema(schema);
  return `${name} ${label} ${description}`.toLowerCase().includes(filter.toLowerCase());
}

/** True where the field, or a field inside of it, contains the text of the search. */
export function matchesFilter(path: FieldPath, schema: FormSchema, filter: string): boolean {
  if (matchesItself(path, schema, filter)) return true;
  const kind = findFieldKind(schema);
  return (
    kind === 'object' && listFormFields(schema).some(([member, it]) => matchesFilter([...path, member], it, filter))
  );
}

/** Field of one member of a definition, by its schema. */
export function DefinitionField({ path, schema, label: given }: SchemaFieldProps) {
  const form = useDefinitionForm();
  if (!matchesFilter(path, schema, form.filter)) return null;
  const name = String(path.at(-1));
  const label = given ?? labelOf(path) ?? toFieldLabel(name);
  const kind = findFieldKind(schema);
  const { description: help, items } = unwrapSchema(schema);
  const shared = { path, label, help };
  if (kind === 'object') return <ObjectField path={path} schema={schema} label={label} />;
  if (kind === 'rows') return <RowsField {...shared} schema={items!} renderField={renderField} />;
  if (kind === 'lines' || kind === 'numbers') return <LineListField {...shared} isNumeric={kind === 'numbers'} />;
  if (kind === 'json') return <JsonMemberField {...shared} />;
  return <ValueField path={path} schema={schema} label={label} />;
}

/** Field of one value: switch, choice, number or text. */
function ValueField({ path, schema, label }: SchemaFieldProps & { readonly label: string }) {
  const form = useDefinitionForm();
  const name = String(path.at(-1));
  const kind = findFieldKind(schema);
  const { description: help, enum: values = [], minimum, maximum } = unwrapSchema(schema);
  const value = form.read(path);
  const error = form.findFault(path);
  const base = { label, help, error, disabled: form.isReadOnly };
  if (kind === 'switch')
    return (
      <Switch
        label={label}
        help={error ?? toHelp(help)}
        disabled={form.isReadOnly}
        checked={value === true}
        onChange={event => form.set(path, event.target.checked)}
      />
    );
  if (kind === 'choice')
    return (
      <SelectField
        {...base}
        value={String(value ?? '')}
        onChange={event => form.set(path, event.target.value || undefined)}
        options={['', ...values.filter(it => it !== '')].map(it => ({
          value: String(it),
          label: it === '' ? own.notSet : String(it),
        }))}
      />
    );
  if (kind === 'number')
    return (
      <TextField
        {...base}
        type="number"
        min={minimum}
        max={maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER ? maximum : undefined}
        step="any"
        className="max-w-48"
        value={typeof value === 'number' ? value : ''}
        onChange={event => form.set(path, event.target.value === '' ? undefined : Number(event.target.value))}
      />
    );
  const isSecret = secretName.test(name);
  return (
    <TextField
      {...base}
      type={isSecret ? 'password' : 'text'}
      autoComplete={isSecret ? 'new-password' : 'off'}
      isMono={monoName.test(name)}
      value={String(value ?? '')}
      onChange={event => form.set(path, event.target.value || undefined)}
    />
  );
}

/** Object of settings. One with `enabled` is a switch, whose other fields appear when it is on or something is set. */
export function ObjectField({ path, schema, label }: SchemaFieldProps) {
  const form = useDefinitionForm();
  const title = useId();
  const fields = listFormFields(schema);
  const enabled = fields.find(([name]) => name === 'enabled')?.[1];
  const others = fields.filter(([name]) => name !== 'enabled');
  const { enabled: isOn, ...rest } = Object(form.read(path)) as Record<string, unknown>;
  const isOpen = enabled === undefined || isOn === true || countValues(rest) > 0 || form.filter !== '';
  if (enabled && others.length === 0)
    return <DefinitionField path={[...path, 'enabled']} schema={enabled} label={label} />;
  return (
    <section aria-labelledby={title} className="flex flex-col gap-3">
      {enabled ? (
        <div id={title}>
          <Switch
            label={label}
            help={toHelp(unwrapSchema(enabled).description)}
            disabled={form.isReadOnly}
            checked={isOn === true}
            onChange={event => form.set([...path, 'enabled'], event.target.checked)}
          />
        </div>
      ) : (
        <h3 id={title} className="font-medium">
          {label}
        </h3>
      )}
      {isOpen && (
        <DefinitionFormContext value={matchesItself(path, schema, form.filter) ? { ...form, filter: '' } : form}>
          <div className="ml-1 flex flex-col gap-4 border-l-2 border-line pl-4">
            {others.map(([name, it]) => (
              <DefinitionField key={name} path={[...path, name]} schema={it} />
            ))}
          </div>
        </DefinitionFormContext>
      )}
    </section>
  );
}
