import { arrayOrEmpty, isObject } from '#base/json-tree.ts';
import type { KeywordContext } from './compile.ts';
import type { SchemaCheck } from './run.ts';

/**
 * OpenAPI discriminator: a member of the value selects the alternative. Only that one is checked, so that its
 * violations can be reported.
 */
export function compileDiscriminator(
  given: unknown,
  { discriminator }: Record<string, unknown>,
  context: KeywordContext,
): SchemaCheck | undefined {
  if (!isObject(discriminator) || typeof discriminator.propertyName !== 'string') return undefined;
  const name = discriminator.propertyName;
  const references = arrayOrEmpty(given).map(schema => (isObject(schema) ? schema.$ref : undefined));
  if (!references.every(reference => typeof reference === 'string')) return undefined;
  const checks = new Map<string, SchemaCheck>();
  for (const reference of references)
    checks.set(reference.slice(reference.lastIndexOf('/') + 1), context.compileReference(reference));
  for (const [value, meant] of Object.entries(isObject(discriminator.mapping) ? discriminator.mapping : {}))
    if (typeof meant === 'string')
      checks.set(value, context.compileReference(meant.includes('/') ? meant : toSchemaReference(meant)));
  return (value, run, evaluated) => {
    if (!isObject(value)) return run.report('must be an object');
    const chosen = Object.hasOwn(value, name) ? value[name] : undefined;
    const check = typeof chosen === 'string' ? checks.get(chosen) : undefined;
    if (check) return check(value, run, evaluated);
    return run.report(`${name} must be one of ${[...checks.keys()].map(it => JSON.stringify(it)).join(', ')}`);
  };
}

const toSchemaReference = (name: string) => `#/components/schemas/${name}`;
