import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, test } from 'node:test';
import type { AnyOperation } from '#operations/operation.ts';
import { catalogue } from '../../src/catalogue.ts';
import { findOperationTests } from '../../tools/operation-tests.ts';
import { testsByHelper } from '../../tools/operation-tests-table.ts';
import { absentOperations, referenceOperations } from './reference-operations.ts';

const root = resolve(import.meta.dirname, '../..');
const operations = catalogue as readonly AnyOperation[];

describe('Coverage of operations', () => {
  test('the route of every operation occurs in a test file', () => {
    const tests = findOperationTests(root, operations);
    assert.deepEqual(
      [...tests].filter(([, files]) => files.length === 0).map(([name]) => name),
      [],
    );
  });

  test('the table of tests names files and operations that exist', () => {
    const names = new Set(operations.map(({ name }) => name));
    for (const [file, listed] of Object.entries(testsByHelper)) {
      assert.ok(existsSync(join(root, file)), file);
      for (const name of listed) assert.ok(names.has(name), name);
    }
  });

  test('every dashboard and admin operation of the reference exists, or is listed as absent with the reason', () => {
    const toShape = (route: string) => route.replaceAll(/\{[\w-]+\}/g, '{}');
    const served = new Set(operations.map(({ method, path }) => toShape(`${method} ${path}`)));
    const missing = referenceOperations.filter(route => !served.has(toShape(route)));
    assert.deepEqual(missing.sort(), Object.keys(absentOperations).sort());
  });
});
