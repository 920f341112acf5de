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
  const help = `${attribute.Description}${attribute.WriteOnceReadMany ? ' It can be set once, and not be changed then.' : ''}`;
  const shared = { name, label: attribute.Name, value, help: help.trim(), error: errors.get(name) };
  const choices = attribute.Type === 2 ? listChoices(attribute).map(it => [it, it] as const) : booleanChoices;
  if (attribute.Type === 2 || attribute.Type === 3)
    return renderSelectField({ ...shared, options: [['', attribute.Required ? 'Choose' : 'None'], ...choices] });
  return renderField({ ...shared, maxLength: maxValueChars, isOptional: !attribute.Required });
}

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
