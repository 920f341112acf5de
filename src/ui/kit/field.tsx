import {
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
} from 'react';
import { sharedTexts } from '../texts/shared-texts.ts';
import { classNames } from './class-names.ts';

const input =
  'control w-full border border-edge bg-surface px-2.5 text-ink disabled:opacity-60 ' +
  'aria-invalid:border-danger aria-invalid:outline-danger';

interface FieldProps {
  readonly label: string;
  /** Under the field; an error takes its place. */
  readonly help?: ReactNode;
  readonly error?: string | undefined;
  readonly unit?: string;
}

interface FieldIds {
  readonly id: string;
  readonly 'aria-describedby': string | undefined;
  readonly 'aria-invalid': true | undefined;
}

/** Label above, help or error under the control. */
export function FormField({
  label,
  help,
  error,
  unit,
  isRequired = false,
  children,
}: FieldProps & { isRequired?: boolean; children: (ids: FieldIds) => ReactNode }) {
  const id = useId();
  const note = `${id}-note`;
  const describedBy = error || help ? note : undefined;
  return (
    <div className="flex flex-col gap-1">
      <label htmlFor={id} className="font-medium">
        {label} {isRequired && <span className="font-normal text-dim">({sharedTexts.kit.required})</span>}
      </label>
      <div className="flex items-center gap-2">
        {children({ id, 'aria-describedby': describedBy, 'aria-invalid': error ? true : undefined })}
        {unit && <span className="text-dim">{unit}</span>}
      </div>
      {describedBy && (
        <div id={note} className={classNames('text-small', error ? 'text-danger' : 'text-dim')}>
          {error ?? help}
        </div>
      )}
    </div>
  );
}

export type TextFieldProps = FieldProps & InputHTMLAttributes<HTMLInputElement> & { readonly isMono?: boolean };

export function TextField({ label, help, error, unit, isMono = false, className, ...rest }: TextFieldProps) {
  return (
    <FormField label={label} help={help} error={error} {...(unit && { unit })} isRequired={rest.required === true}>
      {ids => <input {...rest} {...ids} className={classNames(input, isMono && 'font-mono', className)} />}
    </FormField>
  );
}

export function TextAreaField({
  label,
  help,
  error,
  className,
  ...rest
}: FieldProps & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  return (
    <FormField label={label} help={help} error={error} isRequired={rest.required === true}>
      {ids => <textarea rows={4} {...rest} {...ids} className={classNames(input, 'py-2', className)} />}
    </FormField>
  );
}

export interface SelectOption {
  readonly value: string;
  readonly label: string;
}

/** The select of the platform: it works with every keyboard, screen reader and touch screen. */
export function SelectField({
  label,
  help,
  error,
  options,
  className,
  ...rest
}: FieldProps & SelectHTMLAttributes<HTMLSelectElement> & { readonly options: readonly SelectOption[] }) {
  return (
    <FormField label={label} help={help} error={error} isRequired={rest.required === true}>
      {ids => (
        <select {...rest} {...ids} className={classNames(input, className)}>
          <Options options={options} />
        </select>
      )}
    </FormField>
  );
}

const Options = ({ options }: { options: readonly SelectOption[] }) =>
  options.map(({ value, label }) => (
    <option key={value} value={value}>
      {label}
    </option>
  ));

/** Filter of a toolbar: its label is for screen readers, its first option says what it filters. */
export const FilterSelect = ({
  label,
  options,
  ...rest
}: SelectHTMLAttributes<HTMLSelectElement> & { readonly label: string; readonly options: readonly SelectOption[] }) => (
  <select {...rest} aria-label={label} className="control border border-edge bg-surface px-2 text-ink">
    <Options options={options} />
  </select>
);

interface ToggleProps extends Omit<InputHTMLAttributes<HTMLInputElement>, 'type'> {
  readonly label: ReactNode;
  readonly help?: ReactNode;
}

export function Checkbox({ label, help, className, ...rest }: ToggleProps) {
  const note = useId();
  return (
    <div className="flex flex-col">
      <label className={classNames('inline-flex min-h-6 items-center gap-2', className)}>
        <input type="checkbox" {...rest} aria-describedby={help ? note : undefined} className="size-4 accent-accent" />
        <span>{label}</span>
      </label>
      {help && (
        <span id={note} className="pl-6 text-small text-dim">
          {help}
        </span>
      )}
    </div>
  );
}

/** A setting that takes effect at once or with the form: on or off. */
export function Switch({ label, help, ...rest }: ToggleProps) {
  const note = useId();
  return (
    <label className="flex min-h-6 items-center gap-3">
      <input
        type="checkbox"
        role="switch"
        {...rest}
        aria-checked={rest.checked === true}
        aria-describedby={help ? note : undefined}
        className={
          'relative h-5 w-9 shrink-0 appearance-none rounded-full border border-edge bg-hover transition-colors ' +
          'before:absolute before:top-0.5 before:left-0.5 before:size-3.5 before:rounded-full before:bg-edge ' +
          'before:transition-transform checked:border-accent checked:bg-accent checked:before:translate-x-4 ' +
          'checked:before:bg-on-accent'
        }
      />
      <span className="flex flex-col">
        <span>{label}</span>
        {help && (
          <span id={note} className="text-small text-dim">
            {help}
          </span>
        )}
      </span>
    </label>
  );
}
