import { RE2JS } from 're2js';

/** The values of a path's parameters, still encoded; nothing where the path has another shape. */
export type PathValues = (path: string) => Readonly<Record<string, string>> | undefined;

const noValues: Readonly<Record<string, string>> = Object.freeze({});

/**
 * Reads the parameters of an OpenAPI path. A version may stand before it, and where endpoints match loosely anything
 * after it.
 */
export function compilePathValues(template: string, isStrict: boolean): PathValues {
  const names = [...template.matchAll(/\{([^{}]*)\}/g)].map(([, name]) => name!);
  if (names.length === 0) return () => noValues;
  const parts = template.replace(/\/$/, '').split(/\{[^{}]*\}/);
  const source = `${parts.map(part => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('([^/]+)')}${isStrict ? '/?$' : ''}`;
  // One open part in a segment is found in one go; with more of them only the other engine is sure to be quick.
  const isSimple = template.split('/').every(segment => segment.split('{').length <= 2);
  const native = isSimple ? new RegExp(source) : undefined;
  const linear = isSimple ? undefined : RE2JS.compile(source);
  return path => {
    const found = native ? native.exec(path)?.slice(1) : readGroups(linear!, path, names.length);
    return found ? Object.fromEntries(names.map((name, at) => [name, found[at]!])) : undefined;
  };
}

function readGroups(pattern: RE2JS, path: string, count: number): string[] | undefined {
  const matcher = pattern.matcher(path);
  if (!matcher.find()) return undefined;
  return Array.from({ length: count }, (_, at) => matcher.group(at + 1) ?? '');
}
