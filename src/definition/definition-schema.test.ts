import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { facets, features, versionFacets } from './definition.ts';
import { definitionSchema } from './definition-schema.ts';
import { listReferenceRows } from './reference-rows.ts';

const at = (schema: unknown, ...path: string[]): Record<string, unknown> =>
  path.reduce<unknown>((value, name) => {
    const object = value as {
      properties?: Record<string, unknown>;
      anyOf?: { properties?: Record<string, unknown> }[];
    };
    return (object.properties ?? object.anyOf?.find(one => one.properties)?.properties)?.[name];
  }, schema) as Record<string, unknown>;

test('the JSON Schemas have every declared member with its description', () => {
  assert.equal(at(definitionSchema('classic'), 'CORS', 'max_age').description, facets.cors.fields.maxAge.about);
  assert.deepEqual(at(definitionSchema('oas'), 'x-gw-api-gateway', 'middleware', 'global', 'cors', 'maxAge').anyOf, [
    { type: 'integer', minimum: -1, maximum: 3_162_240_000 },
    { type: 'null' },
  ]);
  assert.ok(at(definitionSchema('streams'), 'x-gw-streaming', 'streams'));
  for (const name of ['classic', 'oas', 'streams'] as const)
    assert.match(String(definitionSchema(name).$schema), /2020-12/);
});

test('every field has a location in at least one format, a default and a description', () => {
  const table = listReferenceRows();
  for (const { facet, field, classic, oas, about, rule } of table) {
    assert.ok(classic !== null || oas !== null, `${facet}.${field} is nowhere`);
    assert.match(about, /^[A-Z*a-z0-9$-].*[.]$/, `${facet}.${field}`);
    assert.ok(rule.length > 0);
  }
  const named = new Set(table.map(({ facet }) => facet));
  for (const { name } of [...Object.values(facets), ...Object.values(versionFacets)]) assert.ok(named.has(name), name);
  for (const { name } of Object.values(features)) assert.ok(named.has(`endpoints.${name}`), name);
});

test('every facet is registered', async () => {
  const registered = new Set<unknown>([
    ...Object.values(facets),
    ...Object.values(versionFacets),
    ...Object.values(features),
  ]);
  const directory = join(import.meta.dirname, 'facets');
  for (const file of readdirSync(directory)) {
    const exported: Record<string, unknown> = await import(join(directory, file));
    for (const [name, value] of Object.entries(exported)) {
      const isFacet = typeof value === 'object' && value !== null && 'fields' in value && 'name' in value;
      if (isFacet) assert.ok(registered.has(value), `${name} of facets/${file} is not listed in definition.ts`);
    }
  }
});

test('a reference row has both wire names of a field', () => {
  const row = listReferenceRows().find(({ facet, field }) => facet === 'cors' && field === 'maxAge');
  assert.deepEqual([row?.classic, row?.oas, row?.default], ['CORS.max_age', 'middleware.global.cors.maxAge', 0]);
  const entry = listReferenceRows().find(
    ({ facet, field }) => facet === 'endpoints.rateLimit' && field === 'perSeconds',
  );
  assert.deepEqual(
    [entry?.classic, entry?.oas],
    ['version_data.versions.*.extended_paths.rate_limit[].per', 'middleware.operations.*.rateLimit.per'],
  );
});

test('facets are listed under their own names', () => {
  for (const [name, facet] of Object.entries({ ...facets, ...versionFacets, ...features }))
    assert.equal(facet.name, name);
});
