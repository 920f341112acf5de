import { type Check, Run } from '#languages/json-schema/run.ts';
import type { OpenApi } from './document.ts';
import { type Facts, factsOf } from './schema-info.ts';

/** What stood in an address, a header or a form: a text, several, or texts by name. */
export type Written = string | readonly string[] | Readonly<Record<string, string | readonly string[]>>;

/** Makes the value that a schema means of what was written; what fits nothing stays text, and the schema says so. */
export interface Coercion {
  readonly facts: Facts;
  value(written: Written): unknown;
}

/** Lists and objects hold plain values here: no style writes anything deeper. */
export function coercionOf(schema: unknown, document: OpenApi, depth = 0): Coercion {
  const facts = factsOf(schema, document);
  const plain = plainOf(facts.types, document.check(schema));
  if (depth > 1) return { facts, value: written => (typeof written === 'string' ? plain(written) : written) };
  const item = facts.items === undefined ? undefined : coercionOf(facts.items, document, depth + 1);
  const members = new Map([...facts.properties].map(([name, it]) => [name, coercionOf(it, document, depth + 1)]));
  const others = facts.additional === undefined ? undefined : coercionOf(facts.additional, document, depth + 1);
  const listed = (texts: readonly string[]) => texts.map(text => (item ? item.value(text) : text));
  return {
    facts,
    value(written) {
      if (typeof written === 'string')
        return facts.types.has('array') && depth > 0 ? listed([written]) : plain(written);
      if (Array.isArray(written)) return listed(written);
      const entries = Object.entries(written as Record<string, string | readonly string[]>);
      // A member may be called anything: `fromEntries` never touches what the object is.
      return Object.fromEntries(entries.map(([name, it]) => [name, (members.get(name) ?? others)?.value(it) ?? it]));
    },
  };
}

const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** Trying one reading of a short text. */
const stepsToTry = 10_000;

function plainOf(types: ReadonlySet<string>, check: Check): (text: string) => unknown {
  const any = types.size === 0;
  const number = any || types.has('number') || types.has('integer');
  const boolean = any || types.has('boolean');
  const string = any || types.has('string');
  return text => {
    const readings: unknown[] = [];
    if (number && jsonNumber.test(text)) readings.push(Number(text));
    if (boolean && (text === 'true' || text === 'false')) readings.push(text === 'true');
    if (types.has('null') && (text === '' || text === 'null')) readings.push(null);
    if (string || readings.length === 0) readings.push(text);
    if (readings.length === 1) return readings[0];
    const fitting = readings.find(reading => new Run(stepsToTry).quietly(check, reading));
    return fitting === undefined ? readings[0] : fitting;
  };
}
