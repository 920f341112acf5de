import type { BuiltinTable } from '../builtin.ts';
import { raise } from '../error.ts';
import { deletePaths, updatePath } from '../paths.ts';
import {
  createJqObject,
  describeValue,
  getMember,
  isJqNumber,
  isJqObject,
  type JqObject,
  jqTypeOf,
  sortKeys,
} from '../values.ts';

/** Accepted member names of an entry, by priority. */
const keyNames = ['key', 'k', 'name', 'Name', 'K', 'Key'];
const valueNames = ['value', 'v', 'Value', 'V'];

const isSaid = (value: unknown) => value !== null && value !== undefined && value !== false;

function toEntry(entry: unknown): [name: string, value: unknown] {
  if (!isJqObject(entry)) return raise(`Cannot index ${jqTypeOf(entry)} with string "key"`);
  const named = keyNames.filter(name => Object.hasOwn(entry, name));
  const key = getMember(entry, named.find(name => isSaid(entry[name])) ?? named[0] ?? 'key');
  const value = getMember(entry, valueNames.find(name => Object.hasOwn(entry, name)) ?? 'value');
  if (typeof key === 'string') return [key, value];
  if (jqTypeOf(key) === 'null') return ['null', value];
  return isJqNumber(key) || typeof key === 'boolean'
    ? [String(key), value]
    : raise(`Cannot use ${describeValue(key)} as object key`);
}

export const objectBuiltins: BuiltinTable = {
  'keys/0'({ budget }, value) {
    if (isJqObject(value)) return sortKeys(value, budget);
    if (!Array.isArray(value)) return raise(`${describeValue(value)} has no keys`);
    budget.chargeCopy(value.length);
    return [...value.keys()];
  },
  'keys_unsorted/0'({ budget }, value) {
    if (!Array.isArray(value) && !isJqObject(value)) return raise(`${describeValue(value)} has no keys`);
    const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
    budget.chargeCopy(keys.length);
    return keys;
  },
  'has/1'(_machine, value, key) {
    if (jqTypeOf(value) === 'null') return false;
    if (isJqObject(value) && typeof key === 'string') return Object.hasOwn(value, key);
    if (Array.isArray(value) && isJqNumber(key)) return Number(key) >= 0 && Number(key) < value.length;
    return raise(`Cannot check whether ${jqTypeOf(value)} has a ${jqTypeOf(key)} key`);
  },
  'to_entries/0'({ budget }, value) {
    if (!Array.isArray(value) && !isJqObject(value)) return raise(`${describeValue(value)} has no keys`);
    const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
    budget.chargeCopy(keys.length * 2);
    return keys.map(key => ({ key, value: (value as JqObject)[key] ?? null }));
  },
  'from_entries/0'({ budget }, value) {
    if (!Array.isArray(value) && !isJqObject(value)) return raise(`Cannot iterate over ${describeValue(value)}`);
    const entries = Array.isArray(value) ? value : Object.values(value);
    budget.chargeCopy(entries.length * 4);
    const made: JqObject = createJqObject();
    for (const entry of entries) {
      const [name, inner] = toEntry(entry);
      made[name] = inner;
    }
    return made;
  },
  'setpath/2'({ budget }, value, path, inner) {
    if (!Array.isArray(path)) return raise('Path must be specified as an array');
    return updatePath(value, path, () => inner, budget);
  },
  'delpaths/1'({ budget }, value, paths) {
    return Array.isArray(paths) ? deletePaths(value, paths, budget) : raise('Paths must be specified as an array');
  },
};
