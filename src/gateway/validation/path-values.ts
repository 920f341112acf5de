import type { RE2JS } from 're2js';
import { loadRe2 } from '#base/lazy-packages.ts';

/** The parameter values of a path, still encoded; undefined where the path has another shape. */
export type PathValues = (path: string) => Readonly<Record<string, string>> | undefined;

const noValues: Readonly<Record<string, string>> = Object.freeze({});

/**
 * Compiles an OpenAPI path template. A version may precede the path, and anything may follow it unless endpoints match
 * strictly.
 */
export function compilePathValues(template: string, isStrict: boolean): PathValues {
  const names = [...template.matchAll(/\{([^{}]*)\}/g)].map(([, name]) => name!);
  if (names.length === 0) return () => noValues;
  const parts = template.replace(/\/$/, '').split(/\{[^{}]*\}/);
  const source = `${parts.map(part => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('([^/]+)')}${isStrict ? '/?$' : ''}`;
  // One parameter per segment does not backtrack; more of them need RE2's linear time.
  const isSimple = template.split('/').every(segment => segment.split('{').length <= 2);
  const native = isSimple ? new RegExp(source) : undefined;
  const linear = isSimple ? undefined : loadRe2().RE2JS.compile(source);
  return path => {
    const values = native ? native.exec(path)?.slice(1) : readGroups(linear!, path, names.length);
    return values ? Object.fromEntries(names.map((name, at) => [name, values[at]!])) : undefined;
  };
}

function readGroups(pattern: RE2JS, path: string, count: number): string[] | undefined {
  const matcher = pattern.matcher(path);
  if (!matcher.find()) return undefined;
  return Array.from({ length: count }, (_, at) => matcher.group(at + 1) ?? '');
}
