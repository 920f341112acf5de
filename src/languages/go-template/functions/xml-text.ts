import { writeXml, XmlError } from '../../xml.ts';
import type { TemplateBudget } from '../budget.ts';
import { TemplateError } from '../error.ts';
import { isMap, isNil, printValue, typeName } from '../values.ts';
import { type FunctionTable, withArity } from './fn.ts';

/** Marshals maps as elements; anything else as an element named after its type. */
function marshalXml(value: unknown, budget: TemplateBudget): string {
  if (isNil(value)) return '';
  if (Array.isArray(value)) return value.map(it => marshalXml(it, budget)).join('');
  let length = 0;
  const charge = (depth: number, characters: number) => {
    budget.visit(depth);
    budget.chargeText(characters);
    length += characters;
    budget.checkTextLength(length);
  };
  try {
    return writeXml(isMap(value) ? value : { [typeName(value)]: printValue(value, budget) }, charge);
  } catch (error) {
    if (error instanceof XmlError) throw new TemplateError(error.message);
    throw error;
  }
}

export const xmlFunctions: FunctionTable = { xmlMarshal: withArity(1, ([value], budget) => marshalXml(value, budget)) };
