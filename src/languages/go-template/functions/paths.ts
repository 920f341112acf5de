import { posix } from 'node:path';
import { TemplateError } from '../error.ts';
import { getOwnMember, typeName } from '../values.ts';
import { joinAddress, parseAddress } from './address.ts';
import { createMap, type FunctionTable, requireMap, requireText, type TemplateFunction, withArity } from './fn.ts';

/** Path normalisation takes quadratic time. */
const maxPathCharacters = 8192;

const createPathFunction = (body: (path: string) => unknown): TemplateFunction =>
  withArity(1, ([given], budget) => {
    const path = requireText(given);
    if (path.length > maxPathCharacters)
      throw new TemplateError(`a path longer than ${maxPathCharacters} characters`, 0, true);
    budget.spend(path.length);
    return body(path);
  });

const cleanPath = (path: string) => posix.normalize(path).replace(/(.)\/$/, '$1');

const paths: FunctionTable = {
  base: createPathFunction(path => posix.basename(path) || (path.startsWith('/') ? '/' : '.')),
  dir: createPathFunction(path => cleanPath(path.slice(0, path.lastIndexOf('/') + 1))),
  clean: createPathFunction(cleanPath),
  ext: createPathFunction(path => /\.[^./]*$/.exec(path)?.[0] ?? ''),
  isAbs: createPathFunction(path => path.startsWith('/')),
};

function joinUrl(parts: unknown): string {
  return joinAddress(name => {
    const part = getOwnMember(requireMap(parts), name) ?? '';
    if (typeof part !== 'string') throw new TemplateError(`${name} is not text but ${typeName(part)}`);
    if (part.length > maxPathCharacters)
      throw new TemplateError(`a part longer than ${maxPathCharacters} characters`, 0, true);
    return part;
  });
}

/** Functions of paths and URLs as text: none accesses files or the network. */
export const pathFunctions: FunctionTable = {
  ...paths,
  ...Object.fromEntries(
    Object.entries(paths).map(([name, fn]) => [`os${name.slice(0, 1).toUpperCase()}${name.slice(1)}`, fn]),
  ),
  urlParse: createPathFunction(address => Object.assign(createMap(), parseAddress(address))),
  urlJoin: withArity(1, ([parts], budget) => {
    const joined = joinUrl(parts);
    budget.spend(joined.length);
    return joined;
  }),
};
