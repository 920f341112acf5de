import { compareCodePoints } from '#base/compare-code-points.ts';
import { includesText, splitText } from '../text-search.ts';
import type { RegoBudget } from './budget.ts';
import { isRegoObject, isRegoSet, lookUp, type RegoValue, toJson, typeOfRego } from './values.ts';

/** A function of the language. Undefined for arguments of the wrong type, which fails the statement. */
interface RegoBuiltin {
  readonly arity: number;
  run(args: readonly RegoValue[], budget: RegoBudget): RegoValue | undefined;
}

/** A function of texts alone. */
const ofTexts = (arity: number, run: (budget: RegoBudget, ...texts: string[]) => RegoValue): RegoBuiltin => ({
  arity,
  run(args, budget) {
    if (!args.every(arg => typeof arg === 'string')) return undefined;
    for (const text of args as string[]) budget.chargeText(text.length);
    return run(budget, ...(args as string[]));
  },
});

const isType = (type: string): RegoBuiltin => ({ arity: 1, run: ([value]) => typeOfRego(value!) === type });

function countMembers(value: RegoValue, budget: RegoBudget): number | undefined {
  if (typeof value === 'string') {
    budget.chargeScan(value.length);
    let characters = 0;
    for (const _character of value) characters++;
    return characters;
  }
  if (Array.isArray(value)) return value.length;
  if (isRegoSet(value)) return value.size;
  if (!isRegoObject(value)) return undefined;
  const { length } = Object.keys(value);
  budget.spend(length);
  return length;
}

function concatTexts([separator, items]: readonly RegoValue[], budget: RegoBudget): string | undefined {
  if (typeof separator !== 'string' || items === undefined) return undefined;
  const texts = isRegoSet(items) ? [...items.values()] : items;
  if (!Array.isArray(texts)) return undefined;
  budget.spend(texts.length);
  if (!texts.every((text): text is string => typeof text === 'string')) return undefined;
  if (isRegoSet(items)) texts.sort(compareCodePoints);
  budget.reserveText(texts.reduce((sum, text) => sum + text.length + separator.length, 0));
  return texts.join(separator);
}

const toText = (value: RegoValue): string => (typeof value === 'string' ? value : JSON.stringify(toJson(value)));

/** `%s` and `%v` print any value, `%d` a whole number, `%%` a percent sign. Anything else has no value. */
function formatText([format, args]: readonly RegoValue[], budget: RegoBudget): string | undefined {
  if (typeof format !== 'string' || !Array.isArray(args)) return undefined;
  const rest = [...(args as readonly RegoValue[])];
  let isValid = true;
  const text = format.replaceAll(/%(.?)/gs, (_whole, verb: string) => {
    if (verb === '%') return '%';
    const value = rest.shift();
    const fits = verb === 'd' ? Number.isInteger(value) : verb === 's' || verb === 'v';
    if (value === undefined || !fits) {
      isValid = false;
      return '';
    }
    const printed = toText(value);
    budget.reserveText(printed.length);
    return printed;
  });
  budget.reserveText(text.length);
  return isValid && rest.length === 0 ? text : undefined;
}

/** All functions that rules may call, besides their own. */
export const regoBuiltins: Readonly<Record<string, RegoBuiltin>> = {
  count: { arity: 1, run: ([value], budget) => countMembers(value!, budget) },
  startswith: ofTexts(2, (_budget, text, part) => text!.startsWith(part!)),
  endswith: ofTexts(2, (_budget, text, part) => text!.endsWith(part!)),
  contains: ofTexts(2, (budget, text, part) => includesText(part!, text!, budget)),
  lower: ofTexts(1, (_budget, text) => text!.toLowerCase()),
  upper: ofTexts(1, (_budget, text) => text!.toUpperCase()),
  trim_space: ofTexts(1, (_budget, text) => text!.trim()),
  trim_prefix: ofTexts(2, (_budget, text, part) => (text!.startsWith(part!) ? text!.slice(part!.length) : text!)),
  trim_suffix: ofTexts(2, (_budget, text, part) =>
    part !== '' && text!.endsWith(part!) ? text!.slice(0, -part!.length) : text!,
  ),
  split: ofTexts(2, (budget, text, separator) => splitText(separator!, text!, budget)),
  concat: { arity: 2, run: concatTexts },
  sprintf: { arity: 2, run: formatText },
  'object.get': {
    arity: 3,
    run: ([object, key, fallback], budget) =>
      isRegoObject(object!) ? (lookUp(object!, key!, budget) ?? fallback) : undefined,
  },
  is_null: isType('null'),
  is_boolean: isType('boolean'),
  is_number: isType('number'),
  is_string: isType('string'),
  is_array: isType('array'),
  is_object: isType('object'),
  is_set: isType('set'),
};
