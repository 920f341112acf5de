import { posix } from 'node:path';
import { TemplateFault } from '../error.ts';
import { memberOf, typeName } from '../values.ts';
import { joinAddress, parseAddress } from './address.ts';
import { type Fn, type FunctionTable, fixed, map, newMap, text } from './fn.ts';

/** Climbing out of a path takes time by the square of its length. */
const longestPlace = 8192;

const of = (body: (path: string) => unknown): Fn =>
  fixed(1, ([given], budget) => {
    const path = text(given);
    if (path.length > longestPlace) throw new TemplateFault(`a path longer than ${longestPlace} characters`, 0, true);
    budget.spend(path.length);
    return body(path);
  });

const cleanPath = (path: string) => posix.normalize(path).replace(/(.)\/$/, '$1');

const paths: FunctionTable = {
  base: of(path => posix.basename(path) || (path.startsWith('/') ? '/' : '.')),
  dir: of(path => cleanPath(path.slice(0, path.lastIndexOf('/') + 1))),
  clean: of(cleanPath),
  ext: of(path => /\.[^./]*$/.exec(path)?.[0] ?? ''),
  isAbs: of(path => path.startsWith('/')),
};

function urlOf(parts: unknown): string {
  return joinAddress(name => {
    const part = memberOf(map(parts), name) ?? '';
    if (typeof part !== 'string') throw new TemplateFault(`${name} is not text but ${typeName(part)}`);
    if (part.length > longestPlace) throw new TemplateFault(`a part longer than ${longestPlace} characters`, 0, true);
    return part;
  });
}

/** Paths and addresses, as text: nothing here reaches for what they name. */
export const places: FunctionTable = {
  ...paths,
  ...Object.fromEntries(
    Object.entries(paths).map(([name, fn]) => [`os${name.slice(0, 1).toUpperCase()}${name.slice(1)}`, fn]),
  ),
  urlParse: of(address => Object.assign(newMap(), parseAddress(address))),
  urlJoin: fixed(1, ([parts], budget) => {
    const joined = urlOf(parts);
    budget.spend(joined.length);
    return joined;
  }),
};
