import { arrayOrEmpty, isObject } from '#base/json-tree.ts';
import type { Context } from './compile.ts';
import type { Check } from './run.ts';

/**
 * Alternatives of which a member of the value says which one is meant. Only that one is asked, and what is wrong with
 * the value is then known.
 */
export function discriminated(
  given: unknown,
  { discriminator }: Record<string, unknown>,
  context: Context,
): Check | undefined {
  if (!isObject(discriminator) || typeof discriminator.propertyName !== 'string') return undefined;
  const name = discriminator.propertyName;
  const references = arrayOrEmpty(given).map(schema => (isObject(schema) ? schema.$ref : undefined));
  if (!references.every(reference => typeof reference === 'string')) return undefined;
  const checks = new Map<string, Check>();
  for (const reference of references)
    checks.set(reference.slice(reference.lastIndexOf('/') + 1), context.referred(reference));
  for (const [value, meant] of Object.entries(isObject(discriminator.mapping) ? discriminator.mapping : {}))
    if (typeof meant === 'string')
      checks.set(value, context.referred(meant.includes('/') ? meant : schemaNamed(meant)));
  return (value, run, seen) => {
    if (!isObject(value)) return run.fault('must be an object');
    const chosen = Object.hasOwn(value, name) ? value[name] : undefined;
    const check = typeof chosen === 'string' ? checks.get(chosen) : undefined;
    if (check) return check(value, run, seen);
    return run.fault(`${name} must be one of ${[...checks.keys()].map(it => JSON.stringify(it)).join(', ')}`);
  };
}

const schemaNamed = (name: string) => `#/components/schemas/${name}`;
