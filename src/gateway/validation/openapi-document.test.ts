import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json-tree.ts';
import { formatViolations } from '#languages/json-schema/error-text.ts';
import { ValidationRun } from '#languages/json-schema/run.ts';
import { negotiateMediaType } from './media-types.ts';
import { compileOpenApiDocument } from './openapi-document.ts';
import { compilePathValues } from './path-values.ts';

test('OpenAPI 3.0 and 3.1: keywords have the meaning of their version', () => {
  const validate = (openapi: string, schema: JsonObject, value: unknown) => {
    const run = new ValidationRun();
    compileOpenApiDocument({ openapi }).compileSchema(schema)(value, run, undefined);
    return run.violations.length === 0;
  };
  assert.ok(validate('3.0.3', { type: 'string', nullable: true, enum: ['a'] }, null));
  assert.ok(!validate('3.1.0', { type: 'string', nullable: true }, null));
  assert.ok(validate('3.1.0', { type: ['string', 'null'] }, null));
  assert.ok(!validate('3.0.3', { minimum: 1, exclusiveMinimum: true }, 1));
  assert.ok(validate('3.0.3', { required: ['a'], properties: { a: { readOnly: true } } }, {}));
  assert.ok(!validate('3.1.0', { prefixItems: [{ type: 'string' }] }, [1]));
});

test('discriminator: selects the alternative', () => {
  const schemas = { Cat: { required: ['lives'] }, Dog: { required: ['tricks'] } };
  const refs = Object.keys(schemas).map(name => ({ $ref: `#/components/schemas/${name}` }));
  const check = compileOpenApiDocument({ openapi: '3.0.3', components: { schemas } }).compileSchema({
    oneOf: refs,
    discriminator: { propertyName: 'kind', mapping: { puss: '#/components/schemas/Cat' } },
  });
  const validateItem = (value: unknown) => {
    const run = new ValidationRun();
    check(value, run, undefined);
    return formatViolations(run.violations, 'it');
  };
  assert.equal(validateItem({ kind: 'puss', lives: 9, tricks: 1 }), '');
  assert.equal(validateItem({ kind: 'Dog' }), 'it: tricks is required');
  assert.equal(validateItem({ kind: 'constructor' }), 'it: kind must be one of "Cat", "Dog", "puss"');
});

test('path values: found below a version, and several in one segment', () => {
  assert.deepEqual(compilePathValues('/a/{x}/{y}', true)('/v1/a/1/2/'), { x: '1', y: '2' });
  assert.deepEqual(compilePathValues('/{x}.{y}', true)('/a.b'), { x: 'a', y: 'b' });
  assert.deepEqual(compilePathValues('/{x}-{y}-{z}', true)(`/${'-'.repeat(50_000)}/x`), undefined);
  assert.deepEqual(compilePathValues('/a/{x}', false)('/a/1/more'), { x: '1' });
});

test('content negotiation: Accept qualities and specificity decide', () => {
  const types = ['application/json', 'text/plain', 'image/png'];
  assert.equal(negotiateMediaType('text/*, image/png;q=0.5', types, 'application/json'), 'text/plain');
  assert.equal(negotiateMediaType('text/html, */*;q=0.1', types, 'application/json'), 'application/json');
  assert.equal(negotiateMediaType('application/json;q=0, */*', types, 'application/json'), 'text/plain');
  assert.equal(negotiateMediaType('application/xml', types, 'application/json'), undefined);
  assert.equal(negotiateMediaType('application/json;q=0', types, 'application/json'), undefined);
});
