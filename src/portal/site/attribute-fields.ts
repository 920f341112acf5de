import { findValueFault, listChoices } from '../attributes/rules.ts';
import type { StoredAttribute } from '../attributes/schema.ts';
import { type FieldErrors, renderField, renderSelectField } from './form.ts';
import type { Markup } from './markup.ts';
import type { SiteFields } from './page.ts';

/** Fields of custom attributes, which administrators declare. */

export const toAttributeField = ({ ID }: Pick<StoredAttribute, 'ID'>): string => `attribute_${ID}`;
const maxValueChars = 1000;

export function renderAttributeField(attribute: StoredAttribute, value: string, errors: FieldErrors): Markup {
  const name = toAttributeField(attribute);
  const onceHelp = attribute.WriteOnceReadMany ? 'You can set it once; it cannot be changed later.' : '';
  const help = [endSentence(attribute.Description, onceHelp), onceHelp].filter(Boolean).join(' ');
  const shared = { name, label: attribute.Name, value, help, error: errors.get(name) };
  const choices = attribute.Type === 2 ? listChoices(attribute).map(it => [it, it] as const) : booleanChoices;
  if (attribute.Type === 2 || attribute.Type === 3)
    return renderSelectField({ ...shared, options: [['', attribute.Required ? 'Choose' : 'None'], ...choices] });
  return renderField({ ...shared, maxLength: maxValueChars, isOptional: !attribute.Required });
}

/** A description that another sentence follows ends like one. */
const endSentence = (text: string, next: string) => (next && /[^.!?…:]$/.test(text.trim()) ? `${text.trim()}.` : text);

const booleanChoices = [
  ['true', 'Yes'],
  ['false', 'No'],
] as const;

/** Values of a form by attribute; faults are added to `errors`. */
export function readAttributeFields(
  attributes: readonly StoredAttribute[],
  form: SiteFields,
  errors: Map<string, string>,
): (readonly [id: number, value: string])[] {
  return attributes.flatMap(attribute => {
    const name = toAttributeField(attribute);
    const value = form(name).trim();
    if (value === '' && attribute.Required) errors.set(name, 'Is required');
    const fault =
      value.length > maxValueChars
        ? `is longer than ${maxValueChars} characters`
        : value && findValueFault(attribute, value);
    if (fault) errors.set(name, `This value ${fault}`);
    return value === '' ? [] : [[attribute.ID, value] as const];
  });
}
