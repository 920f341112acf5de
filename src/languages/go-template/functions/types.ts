import { isNumber, isTrue, kindName, typeName } from '../values.ts';
import { deepEqual } from './equality.ts';
import { type FunctionTable, requireText, withArity } from './fn.ts';

/** An integer is of every number kind: values carry no declared type. */
function isOfKind(kind: string, value: unknown): boolean {
  if (isNumber(value) && /^(u?int(8|16|32|64)?|float(32|64))$/.test(kind))
    return kind.startsWith('float') || kindName(value) === 'int';
  return kindName(value) === kind;
}

const isOfType = (type: string, value: unknown) =>
  isNumber(value) ? isOfKind(type, value) : typeName(value) === type.replace('interface{}', 'interface {}');

export const typeFunctions: FunctionTable = {
  typeOf: withArity(1, ([value]) => typeName(value)),
  typeIs: withArity(2, ([type, value]) => isOfType(requireText(type), value)),
  typeIsLike: withArity(2, ([type, value]) => isOfType(requireText(type).replace(/^\*/, ''), value)),
  kindOf: withArity(1, ([value]) => kindName(value)),
  kindIs: withArity(2, ([kind, value]) => isOfKind(requireText(kind), value)),
  deepEqual: withArity(2, ([left, right], budget) => deepEqual(left, right, budget)),
  default: (args: readonly unknown[]) => (args.length > 1 && isTrue(args[1]) ? args[1] : args[0]),
  empty: withArity(1, ([value]) => !isTrue(value)),
  coalesce: args => args.find(isTrue),
  all: args => args.every(isTrue),
  any: args => args.some(isTrue),
  ternary: withArity(3, ([yes, no, decides]) => (isTrue(decides) ? yes : no)),
};
