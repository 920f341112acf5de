import type { PlainTable } from '../builtins-table.ts';
import { raise } from '../error.ts';
import { changed, removed } from '../paths.ts';
import { isMembers, isNumber, kindOf, type Members, member, noMembers, shown, sortedNames } from '../values.ts';

/** The names an entry may have for its two parts, the first that says something counts. */
const keyNames = ['key', 'k', 'name', 'Name', 'K', 'Key'];
const valueNames = ['value', 'v', 'Value', 'V'];

const isSaid = (value: unknown) => value !== null && value !== undefined && value !== false;

function entryOf(entry: unknown): [name: string, value: unknown] {
  if (!isMembers(entry)) return raise(`Cannot index ${kindOf(entry)} with string "key"`);
  const named = keyNames.filter(name => Object.hasOwn(entry, name));
  const key = member(entry, named.find(name => isSaid(entry[name])) ?? named[0] ?? 'key');
  const value = member(entry, valueNames.find(name => Object.hasOwn(entry, name)) ?? 'value');
  if (typeof key === 'string') return [key, value];
  if (kindOf(key) === 'null') return ['null', value];
  return isNumber(key) || typeof key === 'boolean'
    ? [String(key), value]
    : raise(`Cannot use ${shown(key)} as object key`);
}

export const objects: PlainTable = {
  'keys/0'({ budget }, value) {
    if (isMembers(value)) return sortedNames(value, budget);
    if (!Array.isArray(value)) return raise(`${shown(value)} has no keys`);
    budget.copy(value.length);
    return [...value.keys()];
  },
  'keys_unsorted/0'({ budget }, value) {
    if (!Array.isArray(value) && !isMembers(value)) return raise(`${shown(value)} has no keys`);
    const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
    budget.copy(keys.length);
    return keys;
  },
  'has/1'(_machine, value, key) {
    if (kindOf(value) === 'null') return false;
    if (isMembers(value) && typeof key === 'string') return Object.hasOwn(value, key);
    if (Array.isArray(value) && isNumber(key)) return Number(key) >= 0 && Number(key) < value.length;
    return raise(`Cannot check whether ${kindOf(value)} has a ${kindOf(key)} key`);
  },
  'to_entries/0'({ budget }, value) {
    if (!Array.isArray(value) && !isMembers(value)) return raise(`${shown(value)} has no keys`);
    const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
    budget.copy(keys.length * 2);
    return keys.map(key => ({ key, value: (value as Members)[key] ?? null }));
  },
  'from_entries/0'({ budget }, value) {
    if (!Array.isArray(value) && !isMembers(value)) return raise(`Cannot iterate over ${shown(value)}`);
    const entries = Array.isArray(value) ? value : Object.values(value);
    budget.copy(entries.length * 4);
    const made: Members = noMembers();
    for (const entry of entries) {
      const [name, inner] = entryOf(entry);
      made[name] = inner;
    }
    return made;
  },
  'setpath/2'({ budget }, value, path, inner) {
    if (!Array.isArray(path)) return raise('Path must be specified as an array');
    return changed(value, path, () => inner, budget);
  },
  'delpaths/1'({ budget }, value, paths) {
    return Array.isArray(paths) ? removed(value, paths, budget) : raise('Paths must be specified as an array');
  },
};
