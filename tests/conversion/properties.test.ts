import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { z } from 'zod';
import { checkMembers } from '#base/members.ts';
import type { CheckResult } from '#definition/check-result.ts';
import { checkClassic, classicSchema } from '#definition/classic.ts';
import { convertToClassic, convertToOas, selectVersion } from '#definition/convert.ts';
import { facets, features, versionFacets } from '#definition/definition.ts';
import type { Facet } from '#definition/facet.ts';
import type { Model } from '#definition/model.ts';
import { classicToModel, oasToModel } from '#definition/model.ts';
import { checkOas, oasSchema } from '#definition/oas.ts';
import { definitionArbitrary, oasArbitrary } from '../arbitraries/definition.ts';

// Shrinking a whole definition takes minutes and adds little.
const runs = { numRuns: 60, endOnFailure: true };
type Bag = Record<string, unknown>;

/** Members that both formats can express, of the version that represents the API. */
function pickShared(model: Model, key: string): Bag {
  const version = (model.versions.find(one => one.key === key) ?? model.versions[0]) as unknown as Bag;
  const sample: Bag = {};
  for (const [name, facet] of Object.entries(facets))
    sample[name] = bothSided(facet as Facet, (model as unknown as Bag)[name] as Bag);
  for (const [name, facet] of Object.entries(versionFacets))
    sample[name] = bothSided(facet as Facet, version[name] as Bag);
  for (const [name, feature] of Object.entries(features)) {
    if (!feature.classic || !feature.oas) continue;
    const entries = (version.endpoints as Record<string, Bag[]>)[name]!;
    sample[`endpoints.${name}`] = firstOfEach(entries).map(entry => ({
      path: entry.path,
      method: entry.method,
      ...bothSided(feature.entry as unknown as Facet, entry),
    }));
  }
  return sample;
}

function bothSided({ rows, classic, oas }: Facet, values: Bag): Bag {
  if (classic !== null && oas !== null && values.enabled === false) return { enabled: false };
  return Object.fromEntries(
    rows.filter(row => row.classic && row.oas).map(row => [row.name, toKnown(row, values[row.name])]),
  );
}

/** Items of lists, reduced to the members that both formats can express. */
function toKnown(row: Facet['rows'][number], value: unknown): unknown {
  if (!row.items || !Array.isArray(value)) return value;
  const names = row.items.rows.filter(one => one.classic && one.oas).map(({ name }) => name);
  return value.map(item => Object.fromEntries(names.map(name => [name, (item as Bag)[name]])));
}

/** Of entries for one endpoint the first counts; between endpoints the order of the OpenAPI format is its own. */
function firstOfEach(entries: readonly Bag[]): Bag[] {
  const first = new Map<string, Bag>();
  for (const entry of entries) {
    const endpoint = `${entry.path} ${entry.method}`;
    if (!first.has(endpoint)) first.set(endpoint, entry);
  }
  return [...first].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry);
}

/** A definition passes with its unknown members, and without the null of optional ones; a document is its author's. */
function passes(schema: z.ZodType, checked: CheckResult<unknown>, given: object): void {
  assert.ok(checked.ok, JSON.stringify(checked));
  const value = checkMembers(schema, given).value as Bag;
  const own = 'x-gw-api-gateway';
  assert.deepEqual(checked.definition, own in given ? { ...given, [own]: value[own] } : value);
}

test('generated definitions are valid', () => {
  fc.assert(
    fc.property(definitionArbitrary(), given => passes(classicSchema, checkClassic(given, 'warn'), given)),
    runs,
  );
  fc.assert(
    fc.property(oasArbitrary(), given => passes(oasSchema, checkOas(given, 'warn'), given)),
    runs,
  );
});

test('a classic definition and its OpenAPI document are equivalent', () => {
  fc.assert(
    fc.property(definitionArbitrary(), classic => {
      const document = convertToOas(classic);
      passes(oasSchema, checkOas(document, 'warn'), document);
      const key = selectVersion(classic) ?? '';
      assert.deepEqual(pickShared(oasToModel(document), ''), pickShared(classicToModel(classic), key));
    }),
    runs,
  );
});

test('an OpenAPI document and its classic definition are equivalent', () => {
  fc.assert(
    fc.property(oasArbitrary(), document => {
      const classic = convertToClassic(document);
      passes(classicSchema, checkClassic(classic, 'warn'), classic);
      assert.deepEqual(
        pickShared(classicToModel(classic), selectVersion(classic) ?? ''),
        pickShared(oasToModel(document), ''),
      );
    }),
    runs,
  );
});

/** Where members nobody declared stand, and what they hold. */
function unknownsOf(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    name === 'x_unknown' ? [`${normalizePath(path)} ${JSON.stringify(member)}`] : unknownsOf(member, `${path}/${name}`),
  );
}

/** Plugins of the older name come home under the newer, and endpoint lists in an order of their own. */
const normalizePath = (path: string) =>
  path
    .replace(/(pre|postAuthentication|post|response)Plugin\/plugins/, '$1Plugins')
    .replace(/(extended_paths\/\w+)\/\d+/, '$1');

test('unknown members survive the conversion to OpenAPI and back', () => {
  fc.assert(
    fc.property(definitionArbitrary(), classic => {
      const kept = unknownsOf({ ...convertToClassic(convertToOas(classic)), 'x-gw-oas': null });
      for (const unknown of unknownsOf(classic)) assert.ok(kept.includes(unknown), unknown);
    }),
    runs,
  );
});

test('unknown members survive the conversion to classic and back', () => {
  fc.assert(
    fc.property(oasArbitrary(), document => {
      const kept = unknownsOf(convertToOas(convertToClassic(document)));
      for (const unknown of unknownsOf(document)) assert.ok(kept.includes(unknown), unknown);
    }),
    runs,
  );
});

test('a definition converted there and back is equivalent to the original', () => {
  fc.assert(
    fc.property(definitionArbitrary(), classic => {
      const home = convertToClassic(convertToOas(classic));
      const key = selectVersion(classic) ?? '';
      assert.deepEqual(pickShared(classicToModel(home), key), pickShared(classicToModel(classic), key));
      assert.deepEqual(classicToModel(home).graphql, classicToModel(classic).graphql);
    }),
    runs,
  );
});
