import { posix } from 'node:path';
import { TemplateFault } from '../fault.ts';
import { memberOf } from '../values.ts';
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

const paths: FunctionTable = {
  base: of(path => posix.basename(path) || (path.startsWith('/') ? '/' : '.')),
  dir: of(path => posix.dirname(path)),
  clean: of(path => posix.normalize(path).replace(/(.)\/$/, '$1')),
  ext: of(path => /\.[^./]*$/.exec(path)?.[0] ?? ''),
  isAbs: of(path => path.startsWith('/')),
};

function urlParts(address: string): unknown {
  let url: URL;
  try {
    url = new URL(address);
  } catch {
    throw new TemplateFault('it is not an address');
  }
  const user = url.username === '' ? '' : `${url.username}${url.password === '' ? '' : `:${url.password}`}`;
  return Object.assign(newMap(), {
    scheme: url.protocol.slice(0, -1),
    host: url.host,
    hostname: url.hostname,
    path: decoded(url.pathname),
    query: url.search.slice(1),
    fragment: url.hash.slice(1),
    userinfo: user,
    opaque: '',
  });
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function urlOf(parts: unknown): string {
  const part = (name: string) => text(memberOf(map(parts), name) ?? '');
  const lead = (mark: string, value: string) => (value === '' ? '' : mark + value);
  const user = part('userinfo');
  const host = part('host') === '' ? '' : `//${user === '' ? '' : `${user}@`}${part('host')}`;
  const path = host !== '' && part('path') !== '' && !part('path').startsWith('/') ? `/${part('path')}` : part('path');
  const scheme = part('scheme') === '' ? '' : `${part('scheme')}:`;
  return `${scheme}${host}${encodeURI(path)}${lead('?', part('query'))}${lead('#', part('fragment'))}`;
}

/** Paths and addresses, as text: nothing here reaches for what they name. */
export const places: FunctionTable = {
  ...paths,
  ...Object.fromEntries(
    Object.entries(paths).map(([name, fn]) => [`os${name.slice(0, 1).toUpperCase()}${name.slice(1)}`, fn]),
  ),
  urlParse: of(urlParts),
  urlJoin: fixed(1, ([parts]) => urlOf(parts)),
};
