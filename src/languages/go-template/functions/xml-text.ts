import { writeXml, XmlFault } from '../../xml.ts';
import type { Budget } from '../budget.ts';
import { TemplateFault } from '../error.ts';
import { isMap, isNothing, printed, typeName } from '../values.ts';
import { type FunctionTable, fixed } from './fn.ts';

/** Maps as elements; anything else as an element that is called after its type. */
function xmlText(value: unknown, budget: Budget): string {
  if (isNothing(value)) return '';
  if (Array.isArray(value)) return value.map(it => xmlText(it, budget)).join('');
  let length = 0;
  const pay = (depth: number, characters: number) => {
    budget.visit(depth);
    budget.read(characters);
    length += characters;
    budget.hold(length);
  };
  try {
    return writeXml(isMap(value) ? value : { [typeName(value)]: printed(value, budget) }, pay);
  } catch (error) {
    if (error instanceof XmlFault) throw new TemplateFault(error.message);
    throw error;
  }
}

export const xml: FunctionTable = { xmlMarshal: fixed(1, ([value], budget) => xmlText(value, budget)) };
