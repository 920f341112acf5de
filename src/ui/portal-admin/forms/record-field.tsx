import { SelectField, type SelectOption, Switch, TextAreaField, TextField } from '../../kit/field.tsx';
import { JsonField } from '../../kit/json-field.tsx';
import { LinesField } from '../../kit/lines-field.tsx';

/** One field of a form, by the member that it edits. */
export interface FieldSpec {
  readonly name: string;
  readonly label: string;
  readonly help?: string;
  readonly kind?: 'text' | 'mail' | 'secret' | 'area' | 'number' | 'switch' | 'select' | 'lines' | 'json' | 'time';
  readonly options?: readonly SelectOption[];
  readonly isRequired?: boolean;
  readonly isMono?: boolean;
  readonly isReadOnly?: boolean;
  readonly unit?: string;
  readonly rows?: number;
  /** Shown for this draft only. */
  isShown?(draft: Readonly<Record<string, unknown>>): boolean;
}

interface RecordFieldProps {
  readonly field: FieldSpec;
  readonly value: unknown;
  readonly error: string | undefined;
  onChange(value: unknown): void;
}

const toText = (value: unknown) => (value === undefined || value === null ? '' : String(value));
const inputTypes = { mail: 'email', secret: 'password', number: 'number' } as const;
/** Times of the portal have a space in place of the T of an input. */
const toInputTime = (value: unknown) => toText(value).replace(' ', 'T');
const fromInputTime = (text: string) => text.slice(0, 16).replace('T', ' ');

export function RecordField({ field, value, error, onChange }: RecordFieldProps) {
  const { label, help, kind = 'text', options = [], isRequired = false, isReadOnly = false } = field;
  const shared = { label, ...(help ? { help } : {}), ...(error ? { error } : {}) };
  if (kind === 'switch')
    return (
      <Switch
        label={label}
        help={error ?? help}
        checked={value === true}
        disabled={isReadOnly}
        onChange={event => onChange(event.target.checked)}
      />
    );
  if (kind === 'lines')
    return <LinesField {...shared} values={(value ?? []) as readonly string[]} onChange={onChange} />;
  if (kind === 'json') return <JsonField label={label} {...(help ? { help } : {})} value={value} onChange={onChange} />;
  const control = { value: toText(value), required: isRequired, disabled: isReadOnly };
  if (kind === 'select')
    return <SelectField {...shared} {...control} options={options} onChange={event => onChange(event.target.value)} />;
  if (kind === 'area')
    return (
      <TextAreaField
        {...shared}
        {...control}
        rows={field.rows ?? 4}
        className={field.isMono ? 'font-mono' : ''}
        onChange={event => onChange(event.target.value)}
      />
    );
  if (kind === 'time')
    return (
      <TextField
        {...shared}
        {...control}
        type="datetime-local"
        value={toInputTime(value)}
        onChange={event => onChange(fromInputTime(event.target.value))}
      />
    );
  const isNumber = kind === 'number';
  return (
    <TextField
      {...shared}
      {...control}
      {...(field.unit ? { unit: field.unit } : {})}
      type={kind === 'text' ? 'text' : inputTypes[kind]}
      isMono={field.isMono ?? false}
      autoComplete={kind === 'secret' ? 'new-password' : 'off'}
      onChange={event =>
        onChange(isNumber && event.target.value !== '' ? Number(event.target.value) : event.target.value)
      }
    />
  );
}
