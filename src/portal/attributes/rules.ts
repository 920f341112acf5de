import { compileRegex } from '#base/regex.ts';
import { createInvalidProblem, type ValidationError } from '#operations/validation-error.ts';
import type { StoredAttribute } from './schema.ts';

export const listChoices = ({ DropdownValues }: Pick<StoredAttribute, 'DropdownValues'>): string[] =>
  DropdownValues.split(',')
    .map(choice => choice.trim())
    .filter(choice => choice !== '');

/** Rights of users on their own attributes. */
export const isHiddenAttribute = ({ Behaviour }: Pick<StoredAttribute, 'Behaviour'>): boolean => Behaviour === 3;
export const canEditAttribute = (
  { Behaviour, WriteOnceReadMany }: Pick<StoredAttribute, 'Behaviour' | 'WriteOnceReadMany'>,
  value: string,
): boolean => Behaviour === 1 && !(WriteOnceReadMany && value !== '');

/** Choices belong to the type 2 and patterns to the type 1: elsewhere they would have no effect. */
export function checkAttribute(attribute: Pick<StoredAttribute, 'Type' | 'DropdownValues' | 'ValidationRegExp'>): void {
  const { Type, DropdownValues, ValidationRegExp } = attribute;
  const faults: ValidationError[] = [];
  const hasChoices = listChoices(attribute).length > 0;
  if (Type === 2 && !hasChoices) faults.push({ path: 'DropdownValues', message: 'are required for the type 2' });
  if (Type !== 2 && DropdownValues !== '') faults.push({ path: 'DropdownValues', message: 'are of the type 2 only' });
  if (Type !== 1 && ValidationRegExp !== '')
    faults.push({ path: 'ValidationRegExp', message: 'is of the type 1 only' });
  if (faults.length > 0) throw createInvalidProblem(faults);
}

/** Why a value does not fit its attribute; undefined where it does. */
export function findValueFault(attribute: StoredAttribute, value: string): string | undefined {
  switch (attribute.Type) {
    case 1:
      return attribute.ValidationRegExp === '' || compileRegex(attribute.ValidationRegExp).matcher(value).find()
        ? undefined
        : `does not match ${attribute.ValidationRegExp}`;
    case 2:
      return listChoices(attribute).includes(value) ? undefined : `must be one of ${listChoices(attribute).join(', ')}`;
    case 3:
      return value === 'true' || value === 'false' ? undefined : 'must be true or false';
    case 4:
      return value.trim() !== '' && Number.isFinite(Number(value)) ? undefined : 'must be a number';
  }
}

export function checkAttributeValue(attribute: StoredAttribute, value: string): void {
  const message = findValueFault(attribute, value);
  if (message) throw createInvalidProblem([{ path: 'Value', message }]);
}
