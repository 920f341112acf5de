import { isNumber, isTrue, kindName, typeName } from '../values.ts';
import { sameDeeply } from './equality.ts';
import { type FunctionTable, fixed, text } from './fn.ts';

/** A whole number is of every kind of number: where it came from does not show. */
function isOfKind(kind: string, value: unknown): boolean {
  if (isNumber(value) && /^(u?int(8|16|32|64)?|float(32|64))$/.test(kind))
    return kind.startsWith('float') || kindName(value) === 'int';
  return kindName(value) === kind;
}

const isOfType = (type: string, value: unknown) =>
  isNumber(value) ? isOfKind(type, value) : typeName(value) === type.replace('interface{}', 'interface {}');

export const kinds: FunctionTable = {
  typeOf: fixed(1, ([value]) => typeName(value)),
  typeIs: fixed(2, ([type, value]) => isOfType(text(type), value)),
  typeIsLike: fixed(2, ([type, value]) => isOfType(text(type).replace(/^\*/, ''), value)),
  kindOf: fixed(1, ([value]) => kindName(value)),
  kindIs: fixed(2, ([kind, value]) => isOfKind(text(kind), value)),
  deepEqual: fixed(2, ([left, right], budget) => sameDeeply(left, right, budget)),
  default: (args: readonly unknown[]) => (args.length > 1 && isTrue(args[1]) ? args[1] : args[0]),
  empty: fixed(1, ([value]) => !isTrue(value)),
  coalesce: args => args.find(isTrue),
  all: args => args.every(isTrue),
  any: args => args.some(isTrue),
  ternary: fixed(3, ([yes, no, decides]) => (isTrue(decides) ? yes : no)),
};
