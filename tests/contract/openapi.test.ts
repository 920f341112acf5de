import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { checkBody } from '#operations/body-members.ts';
import { buildBodyExample, buildOpenApi } from '#operations/openapi.ts';
import type { AnyOperation } from '#operations/operation.ts';
import { type SurfaceName, surfaces } from '#operations/surfaces.ts';
import { catalogue } from '../../src/catalogue.ts';

/** The OpenAPI documents, with a public validator. */

const operations = catalogue as readonly AnyOperation[];
const names = Object.keys(surfaces) as SurfaceName[];
const documentOf = (of: readonly SurfaceName[]) =>
  buildOpenApi(
    operations.filter(it => of.includes(it.surface)),
    of,
    '1',
  );

describe('OpenAPI documents', () => {
  for (const of of [...names.map(name => [name]), names])
    test(`the document of ${of.join(', ')} is valid OpenAPI 3.1`, async () => {
      const validator = new Validator();
      const { valid, errors } = await validator.validate(structuredClone(documentOf(of)));
      assert.ok(valid, JSON.stringify(errors));
      assert.equal(validator.version, '3.1');
    });

  test('no two paths differ in the names of their parameters only', () => {
    const paths = Object.keys(documentOf(names).paths as object);
    const shapes = paths.map(path => path.replaceAll(/\{[\w-]+\}/g, '{}'));
    assert.deepEqual(
      paths.filter((_path, at) => shapes.indexOf(shapes[at]!) !== at),
      [],
    );
  });

  test('operation ids are unique, and parameters of paths are declared', () => {
    const ids = operations.map(it => it.name);
    assert.equal(new Set(ids).size, ids.length);
    const paths = documentOf(names).paths as unknown as Paths;
    for (const it of operations) {
      const object = paths[it.path]![it.method.toLowerCase()]!;
      const declared = object.parameters.filter(parameter => parameter.in === 'path').map(({ name }) => name);
      assert.deepEqual(
        declared.sort(),
        [...it.path.matchAll(/\{([\w-]+)\}/g)].map(([, name]) => name!).sort(),
        it.path,
      );
    }
  });

  for (const it of operations.filter(each => each.body && each.accepts !== 'upload' && each.accepts !== 'text'))
    test(`the example of ${it.name} is accepted by its rules`, () => {
      const example = buildBodyExample(it);
      assert.ok(typeof example === 'object' && example !== null);
      checkBody({ ...it, body: it.body! }, structuredClone(example), 'refuse');
    });
});

interface Paths {
  [path: string]: { [method: string]: { parameters: { name: string; in: string }[] } };
}
