import { html, type Markup } from './markup.ts';

/** One field of a form: label above, help or error below. */
export interface SiteFormField {
  readonly name: string;
  /** The name, where it is absent. */
  readonly id?: string;
  readonly label: string;
  readonly type?: 'text' | 'email' | 'password' | 'number' | 'url';
  readonly value?: string;
  readonly autocomplete?: string;
  readonly help?: string;
  readonly error?: string | undefined;
  readonly maxLength?: number;
  readonly isOptional?: boolean;
  /** Another field decides whether it is required, which the server checks. */
  readonly isConditional?: boolean;
  readonly isReadOnly?: boolean;
}

const renderNote = (id: string, { help, error }: Pick<SiteFormField, 'help' | 'error'>) =>
  error
    ? html`<p class="error" id="${id}-note">${error}</p>`
    : help && html`<p class="help" id="${id}-note">${help}</p>`;

/** Attributes that tie an input to its note. */
const renderState = (id: string, { help, error }: Pick<SiteFormField, 'help' | 'error'>) =>
  html`${help || error ? html` aria-describedby="${id}-note"` : ''}${error ? html` aria-invalid="true"` : ''}`;

const renderLabel = ({ name, id = name, label, isOptional }: Omit<SiteFormField, 'type'>) =>
  html`<label for="${id}">${label}${isOptional ? html` <span class="dim">(optional)</span>` : ''}</label>`;

export function renderField(field: SiteFormField): Markup {
  const { name, id = name, type = 'text', value = '', autocomplete, maxLength = 255 } = field;
  return html`<div class="field">${renderLabel(field)}
<input id="${id}" name="${name}" type="${type}" maxlength="${maxLength}"
${type === 'password' ? '' : html` value="${value}"`}
${autocomplete ? html` autocomplete="${autocomplete}"` : ''}
${field.isOptional || field.isConditional ? '' : html` required`}
${field.isReadOnly ? html` readonly` : ''}${renderState(id, field)}>${renderNote(id, field)}</div>`;
}

export function renderTextArea(field: Omit<SiteFormField, 'type' | 'autocomplete'>): Markup {
  const { name, id = name, maxLength = 1000, value = '' } = field;
  return html`<div class="field">${renderLabel(field)}
<textarea id="${id}" name="${name}" rows="4" maxlength="${maxLength}"
${field.isOptional || field.isConditional ? '' : html` required`}${renderState(id, field)}>${value}</textarea>
${renderNote(id, field)}</div>`;
}

export interface SiteSelectField extends Pick<SiteFormField, 'name' | 'label' | 'value' | 'help' | 'error'> {
  readonly options: readonly (readonly [value: string, text: string])[];
}

type SelectOption = SiteSelectField['options'][number];

const renderOptions = (options: readonly SelectOption[], chosen: string | undefined): Markup[] =>
  options.map(
    ([value, text]) => html`<option value="${value}"${value === chosen ? html` selected` : ''}>${text}</option>`,
  );

export const renderSelectField = (field: SiteSelectField): Markup =>
  html`<div class="field"><label for="${field.name}">${field.label}</label>
<select id="${field.name}" name="${field.name}"${renderState(field.name, field)}>
${renderOptions(field.options, field.value)}</select>${renderNote(field.name, field)}</div>`;

/** Select of a form that filters a list: its label is in the same line. */
export const renderFilterSelect = (
  label: string,
  name: string,
  chosen: string,
  options: readonly SelectOption[],
): Markup => html`<label>${label} <select name="${name}">${renderOptions(options, chosen)}</select></label>`;

/** Errors by the name of their field. */
export type FieldErrors = ReadonlyMap<string, string>;

export const renderFormError = (text: string): Markup | '' =>
  text === '' ? '' : html`<p class="message errors" role="alert">${text}</p>`;
